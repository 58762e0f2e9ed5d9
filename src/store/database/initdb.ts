import '../../private-umask.ts'
import { PGlite } from '@electric-sql/pglite'
import { DurableFiles } from './durable-files.ts'
import { compileOnce } from './new-store.ts'

/** A process that fills the empty folder of its argument with a new PostgreSQL store, and ends. */
const [folder = ''] = process.argv.slice(2)
// The pipe from the parent closes in any case when the parent ends. Nobody needs the store then.
process.stdin.once('end', () => process.exit(1)).resume()
compileOnce()
const lite = await PGlite.create({ fs: new DurableFiles(folder) })
await lite.close()
process.exit(0)
