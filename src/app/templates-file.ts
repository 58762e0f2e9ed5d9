/** The file of templates that an organisation begins with. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { apiTexts } from '../cards/index.ts'
import { faultsOf, type Template, templateWithin } from '../core/index.ts'

/** This machine, where people try out webhooks. */
const loopback = ['127.0.0.0/8', '::1/128']

/** Private networks that webhooks of templates may use. */
export const allowedNetworks = (given: readonly string[], isLocal: boolean): readonly string[] =>
  given.length > 0 || !isLocal ? given : loopback

/** The templates of the file, none without one. Throws an error that names the setting and the place of a fault. */
export function templatesInFile(path: string | undefined, allowed: readonly string[]): Template[] {
  if (path === undefined) return []
  const content = readJson(path)
  const parsed = z.array(templateWithin(allowed)).safeParse(content)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error, content).map(
    // A text about a field names the field, which the pointer does already.
    ({ pointer, reason }) =>
      `\n  ${pointer || 'The file'}: ${apiTexts.reason(reason).replace(`${pointer.slice(1).replaceAll('/', '.')} `, '')}`,
  )
  throw new Error(`TEMPLATES_FILE ${path} is not right. Correct it:${faults.join('')}`)
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`TEMPLATES_FILE ${path} cannot be read as JSON: ${reason}`)
  }
}
