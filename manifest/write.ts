import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { appPackage, iconHashes, manifestFor } from './build.ts'
import { changesBetween } from './changes.ts'
import { higherOf, standingOf } from './version.ts'

/** The content of a package, stored next to it for the comparison with the next package. */
type Content = { readonly manifest: ReturnType<typeof manifestFor>; readonly icons: Readonly<Record<string, string>> }

/**
 * Writes the app package into a folder. Returns a text with its version and the changes since the last package there.
 * `known` is the published version. Throws if a newer Quartermaster created the published or the last package.
 */
export function writePackage(variables: Parameters<typeof manifestFor>[0], folder: string, known?: string): string {
  const [zipFile, lastFile] = [join(folder, 'quartermaster.zip'), join(folder, 'quartermaster.json')]
  const last = lastContent(lastFile, manifestFor(variables).id)
  const versions = [last?.manifest.version, known].filter((version) => version !== undefined)
  const published = versions.length === 0 ? undefined : versions.reduce(higherOf)
  const content: Content = { manifest: manifestFor(variables, published), icons: iconHashes() }
  const { version } = content.manifest
  if (published !== undefined && standingOf(version, published) === 'older')
    throw new Error(
      `A newer Quartermaster created version ${published}. This Quartermaster would create ${version}, which Teams refuses. Update Quartermaster first.`,
    )
  mkdirSync(folder, { recursive: true })
  writeFileSync(zipFile, appPackage(variables, published))
  writeFileSync(lastFile, `${JSON.stringify(content, null, 2)}\n`)
  return `${report(content, last)}\n${zipFile}: upload it in Teams (Apps, Manage your apps, Upload an app).`
}

/** Reads the content of this bot's last package; undefined for the first package. */
function lastContent(file: string, id: string): Content | undefined {
  if (!existsSync(file)) return undefined
  const content: Content = JSON.parse(readFileSync(file, 'utf8'))
  return content.manifest.id === id ? content : undefined
}

function report(content: Content, last: Content | undefined): string {
  const { version } = content.manifest
  if (last === undefined) return `Version ${version}, the first package in this folder.`
  const changes = changesBetween(last, content).filter((line) => !line.startsWith('manifest.version:'))
  if (changes.length === 0) return `Version ${version}. Nothing changed since the last package.`
  return [
    `Version ${version}. Changed since version ${last.manifest.version}:`,
    ...changes.map((line) => `  ${line}`),
  ].join('\n')
}
