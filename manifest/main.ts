import '../src/private-umask.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installationOf, loadSettingsFile } from '../src/settings-file.ts'
import { productHash, sample } from './build.ts'
import recorded from './content.json' with { type: 'json' }
import { contentNumber } from './version.ts'
import { writePackage } from './write.ts'

/** `npm run manifest`: writes the app package, and prints its version and the changes since the last package. */
function main(): void {
  loadSettingsFile()
  const { values } = parseArgs({ options: { sample: { type: 'boolean' }, published: { type: 'string' } } })
  // The packages of two installations have one folder each, so that neither replaces the other.
  const installation = installationOf(process.env['ENV_FILE'] ?? '')
  const folder = join(fileURLToPath(new URL('./build/', import.meta.url)), installation)
  console.log(writePackage(values.sample ? sample : process.env, folder, values.published))
  recordContent()
}

/** Stores the number of the product's content in the repository, so that every machine creates the same version. */
function recordContent(): void {
  const sha256 = productHash()
  if (sha256 === recorded.sha256) return
  const number = contentNumber(sha256)
  writeFileSync(new URL('./content.json', import.meta.url), `{ "number": ${number}, "sha256": "${sha256}" }\n`)
  console.log(
    `The texts, commands or icons changed, so manifest/content.json now has the number ${number}. Commit this file.`,
  )
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
