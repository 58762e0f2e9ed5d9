import '../src/private-umask.ts'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { appPackage, iconHashes, manifestFor, productHash, sample } from './build.ts'
import { changesBetween } from './changes.ts'
import recorded from './content.json' with { type: 'json' }
import { contentNumber, higherOf, standingOf } from './version.ts'

/** What a package contains, kept beside it, so that the next package is compared with it. */
type Content = { readonly manifest: ReturnType<typeof manifestFor>; readonly icons: Readonly<Record<string, string>> }

/** `npm run manifest`: writes the app package, and says which version it has and what changed since the last package. */
function main(): void {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const { values } = parseArgs({
    options: { sample: { type: 'boolean' }, published: { type: 'string' }, folder: { type: 'string' } },
  })
  const variables = values.sample ? sample : process.env
  const folder = values.folder ?? fileURLToPath(new URL('./build/', import.meta.url))
  const [zipFile, lastFile] = [join(folder, 'quartermaster.zip'), join(folder, 'quartermaster.json')]
  const last = lastContent(lastFile, manifestFor(variables).id)
  const versions = [last?.manifest.version, values.published].filter((version) => version !== undefined)
  const published = versions.length === 0 ? undefined : versions.reduce(higherOf)
  const content: Content = { manifest: manifestFor(variables, published), icons: iconHashes() }
  const { version } = content.manifest
  if (published !== undefined && standingOf(version, published) === 'older')
    throw new Error(
      `Version ${published} was made by a newer Quartermaster; this one would make ${version}, which Teams refuses. Update Quartermaster first.`,
    )
  mkdirSync(folder, { recursive: true })
  writeFileSync(zipFile, appPackage(variables, published))
  writeFileSync(lastFile, `${JSON.stringify(content, null, 2)}\n`)
  console.log(report(content, last))
  console.log(`${zipFile}: upload it in Teams (Apps, Manage your apps, Upload an app).`)
  if (values.folder === undefined) recordContent()
}

/** What the last package of this bot contained; undefined for the first package. */
function lastContent(file: string, id: string): Content | undefined {
  if (!existsSync(file)) return undefined
  const content: Content = JSON.parse(readFileSync(file, 'utf8'))
  return content.manifest.id === id ? content : undefined
}

function report(content: Content, last: Content | undefined): string {
  const { version } = content.manifest
  if (last === undefined) return `Version ${version}, the first package made here.`
  const changes = changesBetween(last, content).filter((line) => !line.startsWith('manifest.version:'))
  if (changes.length === 0) return `Version ${version}. Nothing changed since the last package.`
  return [
    `Version ${version}. Changed since version ${last.manifest.version}:`,
    ...changes.map((line) => `  ${line}`),
  ].join('\n')
}

/** Keeps the number of the product's content in the repository, so that every machine gives it the same version. */
function recordContent(): void {
  const sha256 = productHash()
  if (sha256 === recorded.sha256) return
  const number = contentNumber(sha256)
  writeFileSync(new URL('./content.json', import.meta.url), `{ "number": ${number}, "sha256": "${sha256}" }\n`)
  console.log(`The texts, commands or icons changed, so manifest/content.json has the number ${number} now. Commit it.`)
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
