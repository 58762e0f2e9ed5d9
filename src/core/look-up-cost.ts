import { z } from 'zod'
import type { Actor } from './access.ts'
import { ProvisioningError, TenantError } from './errors.ts'
import type { Ports } from './ports.ts'

/** How many people one question to the directory can be about (Microsoft Graph, `in` of `$filter`). */
const peopleOfOneRead = 15
/** More people than a request may name are refused before anybody is looked up. */
const mostPeople = 150

const isId = (value: unknown): boolean => z.guid().safeParse(value).success

/**
 * How many reads of the limits of use it costs to check a body: one, and one more for each further 15 people that it names. The
 * body was not checked yet, and may be a form's values.
 */
export function readsOf(body: unknown): number {
  const { permissions, owners, primaryOwner, secondaryOwner, metadata, ...rest } = Object(body)
  const texts = [owners, primaryOwner, secondaryOwner, Object.values(Object(metadata)), Object.values(rest)].flat()
  // In a form, an input for several people holds their ids with commas between them.
  const named = texts.flatMap((text) => (typeof text === 'string' ? text.split(',') : []))
  const ids = new Set([...Object.keys(Object(permissions)), ...named].filter(isId).map((id) => id.toLowerCase()))
  return Math.max(1, Math.ceil(Math.min(ids.size, mostPeople) / peopleOfOneRead))
}

/** Counts the check of a form in chat for its person, as a preview by REST. Throws `unavailable` when that is too much. */
export async function countReads({ limitsOfUse }: Pick<Ports, 'limitsOfUse'>, actor: Actor, values: object) {
  const seconds = await limitsOfUse.takeReads(actor, readsOf(values))
  if (seconds === 0) return
  const detail = `These are more checks than the limits of use allow. Please try again in ${seconds} seconds.`
  const cause = new TenantError('busy', detail, { retryable: true, retryAfterSeconds: seconds })
  throw new ProvisioningError('unavailable', detail, { cause })
}
