/** The file with the first templates of an organisation. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { apiTexts } from '../cards/index.ts'
import { faultsOf, type Template, templateWithin } from '../core/index.ts'

/** This machine, on which people test webhooks. */
const loopback = ['127.0.0.0/8', '::1/128']

/** Private networks that webhooks of templates may use. */
export const allowedNetworks = (networks: readonly string[], isLocal: boolean): readonly string[] =>
  networks.length > 0 || !isLocal ? networks : loopback

/** Reads the templates of the file; an empty list without a file. Errors name the setting and the pointer of each fault. */
export function templatesInFile(path: string | undefined, allowed: readonly string[]): Template[] {
  if (path === undefined) return []
  const content = readJson(path)
  const parsed = z.array(templateWithin(allowed)).safeParse(content)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error, content).map(
    // A text about a field starts with its name, which the pointer already shows.
    ({ pointer, reason }) =>
      `\n  ${pointer || 'The file'}: ${apiTexts.reason(reason).replace(`${pointer.slice(1).replaceAll('/', '.')} `, '')}`,
  )
  throw new Error(`TEMPLATES_FILE ${path} has these faults:${faults.join('')}`)
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TEMPLATES_FILE ${path} cannot be read as JSON: ${reason}`)
  }
}
