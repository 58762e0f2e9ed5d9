import { z } from 'zod'
import { instant, type Person, person } from '../shared/index.ts'

/** Who writes a template, and when; null where nobody was asked, such as for the file of templates. */
export interface TemplateChange {
  readonly by: Person | null
  readonly at: Date
}

/** A version of a template. `at` is null for what is older than this record. */
export const templateVersion = z.strictObject({
  version: z.int(),
  /** The template as it was then, without its webhook's secret. Templates had fewer parts once, so it is not judged anew. */
  body: z.record(z.string(), z.unknown()),
  by: person.nullable(),
  at: instant.nullable(),
})
export type TemplateVersion = z.output<typeof templateVersion>

/** The parts of a template in which a version differs from the one before it: `approval`, `naming`. */
export function changedParts(now: TemplateVersion, before: TemplateVersion | undefined): string[] {
  if (before === undefined) return []
  const keys = new Set([...Object.keys(now.body), ...Object.keys(before.body)])
  keys.delete('version')
  return [...keys].filter((key) => JSON.stringify(now.body[key]) !== JSON.stringify(before.body[key])).sort()
}
