import { readdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { z } from 'zod'

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  /** The older form. */
  licenses: z.array(z.object({ type: z.string() })).optional(),
  repository: z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)]).default(''),
})
const licenceFile = /^(licen[cs]e|copying|notice)(\.|-|$)/i

/** Licences of packages that do not state them in package.json, with the source. */
const statedElsewhere: Readonly<Record<string, string>> = {
  'escape-regexp-component': 'MIT (Readme.md)',
  jspath: 'MIT OR GPL (lib/jspath.js)',
}

/**
 * Returns the licences of all packages in a bundle, by the paths of its files: name, version, licence and the texts of the
 * package's own licence files. Throws if a package has no licence, because nobody may distribute it then.
 */
export async function noticesOf(files: Iterable<string>): Promise<string> {
  const folders = new Set([...files].flatMap((file) => packageFolder(file) ?? []))
  const notices = await Promise.all([...folders].sort().map(noticeOf))
  return [...new Set(notices)].join(`\n${'='.repeat(80)}\n\n`)
}

/** Returns the package folder of a file, `…/node_modules/@scope/name`; undefined for our own files. */
function packageFolder(file: string): string | undefined {
  const at = file.lastIndexOf(`${sep}node_modules${sep}`)
  if (at === -1) return undefined
  const start = at + `${sep}node_modules${sep}`.length
  const [first = '', second = ''] = file.slice(start).split(sep)
  return file.slice(0, start) + (first.startsWith('@') ? join(first, second) : first)
}

async function noticeOf(folder: string): Promise<string> {
  const parsed = manifest.safeParse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')))
  if (!parsed.success) throw new Error(`${folder} has no readable package.json: ${z.prettifyError(parsed.error)}`)
  const { name, version, license, licenses, repository } = parsed.data
  const stated = license ?? licenses?.map(({ type }) => type).join(' OR ')
  const licence = stated ?? statedElsewhere[name]
  if (!licence) throw new Error(`${folder} has no licence.`)
  const names = (await readdir(folder)).filter((file) => licenceFile.test(file)).sort()
  const texts = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8')))
  const lines = [`${name} ${version}`, `Licence: ${licence}`, ...(repository === '' ? [] : [`Source: ${repository}`])]
  return `${[lines.join('\n'), ...texts.map((text) => text.trim())].join('\n\n')}\n`
}
