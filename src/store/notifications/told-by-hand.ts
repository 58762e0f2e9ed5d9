import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type ByHandNotes, byHandNote } from '../../core/index.ts'

/** The file's size, in bytes. It is there from the start and written in place, so that a disk without room does not hinder it. */
const size = 65_536

/** What admins were told while the store was away, in a file beside it: for when the process ends before the store is back. */
export function createByHandNotes(dataDir: string): ByHandNotes {
  const path = join(dataDir, 'told-by-hand.json')
  const write = async (text: string): Promise<void> => {
    // `r+` keeps the blocks that the file has; only the first time there is none.
    const file = await open(path, 'r+').catch(() => open(path, 'w', 0o600))
    try {
      await file.write(Buffer.from(text.padEnd(size)), 0, undefined, 0)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  return {
    async read() {
      const file = await open(path, 'r').catch(() => undefined)
      if (!file) {
        await write('null')
        return undefined
      }
      const text = await file.readFile('utf8').finally(() => file.close())
      return byHandNote.safeParse(parsed(text)).data
    },
    write: (note) => write(JSON.stringify(note)),
  }
}

/** A file that a crash has left half written says nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
