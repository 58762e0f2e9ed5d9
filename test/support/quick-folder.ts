import { statfsSync } from 'node:fs'

/** Maximum space for the stores and servers of a whole run, in bytes. */
const enough = 4 * 2 ** 30

/**
 * Returns the folder for the run's files without `TMPDIR`: in memory, if there is space. The embedded stores flush each
 * commit, and tests that end a process only need files that survive the process. Undefined: the usual folder.
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
