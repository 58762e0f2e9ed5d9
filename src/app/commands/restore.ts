import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { restoreStore } from '../../store/index.ts'
import { holds, runCommand } from './command.ts'

const usage = `Brings back a copy of the embedded store that npm run backup has made. Stop the service first.

  npm run restore -- <file.tar.gz>             into an empty DATA_DIR (data, unless set)
  npm run restore -- <file.tar.gz> --replace   in the place of the store that is there, which is kept beside it`

/** `npm run restore`: the embedded store from a file. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { replace: { type: 'boolean' } }, allowPositionals: true })
  const [file] = positionals
  if (file === undefined || positionals.length > 1) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const restored = await restoreStore(dataDir, file, { replace: values.replace === true })
  process.stdout.write(`The store in ${dataDir} holds ${holds(restored)}.\n`)
  if (restored.kept !== undefined) process.stdout.write(`The one before is kept in ${restored.kept}\n`)
}

await runCommand(main)
