import { lstat, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { installationOf } from '../../settings-file.ts'

/** The settings in `.env`. All other lines and comments stay unchanged. */
export interface SettingsFile {
  readonly path: string
  /** All settings, without empty ones. */
  values(): Readonly<Record<string, string>>
  get(name: string): string | undefined
  /** Whether this run has written the setting. */
  isNew(name: string): boolean
  /** Writes settings to the file at once. */
  set(values: Readonly<Record<string, string>>): Promise<void>
  /**
   * Returns a path in the folder of this file, as the service will read it. Next to `.env.test`, `templates.json` is
   * `templates-test.json`, so that several installations can share a folder.
   */
  beside(name: string): string
  /** The part of other names that distinguishes this installation: `-test` for `.env.test`, `''` for `.env`. */
  readonly suffix: string
}

const heading = '# Written by npm run setup. .env.example describes every setting.\n'

/** Opens a settings file. `instance` distinguishes the files next to it if its own name does not. */
export async function openSettings(path: string, instance = ''): Promise<SettingsFile> {
  const read = () =>
    readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  const own = installationOf(path) || (basename(path) === '.env' ? '' : instance)
  const suffix = own && `-${own}`
  let text = (await read()) ?? ''
  const written = new Set<string>()
  const values = () => Object.fromEntries(Object.entries(parsed(text)).filter(([, value]) => value !== ''))
  return {
    path,
    values,
    get: (name) => values()[name],
    isNew: (name) => written.has(name),
    async set(changes) {
      // Another program may have changed the file meanwhile.
      text = (await read()) ?? text
      const next = withSettings(text === '' ? heading : text, changes)
      await writePrivate(path, next)
      text = next
      for (const name of Object.keys(changes)) written.add(name)
    },
    beside(name) {
      const file = name.replace(/(?=\.\w+$)/, suffix)
      return dirname(path) === '.' ? file : join(dirname(path), file)
    },
    suffix,
  }
}

const parsed = (text: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/**
 * Replaces the lines of settings, and adds lines for new ones at the end. Throws if the text would not be read back with
 * these values, for example because a line belongs to a value of several lines.
 */
export function withSettings(text: string, changes: Readonly<Record<string, string>>): string {
  const before = parsed(text)
  const lines = text === '' || text.endsWith('\n') ? text.split('\n').slice(0, -1) : text.split('\n')
  for (const [name, value] of Object.entries(changes)) {
    const line = `${name}=${quoted(name, value)}`
    // Of several lines with one name, the last one counts.
    const place = lines.findLastIndex((one) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(one))
    if (place < 0) lines.push(line)
    else lines[place] = line
  }
  const next = `${lines.join('\n')}\n`
  const after = parsed(next)
  const wrong = Object.entries({ ...before, ...changes }).filter(([name, value]) => after[name] !== value)
  if (wrong.length > 0 || Object.keys(after).some((name) => !(name in before) && !(name in changes)))
    throw new Error(`Cannot change ${Object.keys(changes).join(', ')} in this file. Edit the lines manually.`)
  return next
}

/** Formats a value that Node, systemd and Docker read equally: plain if possible, else in quotes that it does not contain. */
function quoted(name: string, value: string): string {
  if (/^[\w.:/@~,+=?&%-]*$/.test(value)) return value
  const quote = ["'", '"', '`'].find((one) => !value.includes(one))
  if (quote === undefined || /[\r\n]/.test(value))
    throw new Error(`Cannot write ${name}: the value contains a line break or all kinds of quotes.`)
  return `${quote}${value}${quote}`
}

/** Replaces a whole file, readable by its owner only. */
export async function writePrivate(path: string, content: string | Uint8Array): Promise<void> {
  // A link stays a link.
  const target = await lstat(path).then(
    (found) => (found.isSymbolicLink() ? realpath(path) : path),
    () => path,
  )
  const draft = `${target}.${process.pid}.draft`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
    await file.close()
    await rename(draft, target)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(draft, { force: true })
    throw error
  }
}
