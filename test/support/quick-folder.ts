import { statfsSync } from 'node:fs'

/** What the stores and servers of a whole run need at most, in bytes. */
const enough = 4 * 2 ** 30

/**
 * Where the run's files are made when nobody says it (`TMPDIR`): in memory, where there is room. The embedded stores flush
 * each commit, and tests that end a process need no more than that its files outlive it. Undefined = the usual folder.
 */
export function quickFolder(): string | undefined {
  if (process.env['TMPDIR'] !== undefined) return undefined
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize >= enough ? '/dev/shm' : undefined
  } catch {
    return undefined
  }
}
