import { type Check, TenantError } from '../../core/index.ts'

/** One thing read back: as it was asked for when there is no fault, which is in words for admins. */
export const checked = (name: Check['name'], fault: string): Check => ({ name, ok: fault === '', detail: fault })

const list = new Intl.ListFormat('en', { type: 'conjunction' })
/** `Dana Fox and Omar Haddad are missing`, or `''` for nobody. */
export function missing(names: readonly string[]): string {
  if (names.length === 0) return ''
  return `${list.format(names)} ${names.length === 1 ? 'is' : 'are'} missing`
}

interface Settling {
  readonly checkedSince?: string | undefined
}

/**
 * Looks once. A replica may not know yet what was just written, so while something is wrong the job is put off to look
 * again, and a fault counts when it has stayed for `settleSeconds`.
 */
export async function settled(
  look: () => Promise<Check[]>,
  { checkedSince }: Settling,
  settleSeconds: number,
): Promise<
  | { done: true; made: object; checks: Check[] }
  | { done: false; retryAfterSeconds: number; made?: { checkedSince: string } }
> {
  const now = Date.now()
  const checks = await look()
  const age = checkedSince === undefined ? 0 : (now - Date.parse(checkedSince)) / 1000
  if (checks.every(({ ok }) => ok) || age >= settleSeconds) return { done: true, made: {}, checks }
  return {
    done: false,
    retryAfterSeconds: age < 30 ? 5 : 15,
    ...(checkedSince === undefined && { made: { checkedSince: new Date(now).toISOString() } }),
  }
}

/**
 * What an earlier step of the request created. Throws a `TenantError` that is not retryable when it is missing: then the
 * steps ran in a wrong order, which is a defect.
 */
export function needed<P extends object>(progress: P, name: keyof P & string): string {
  const value = progress[name]
  if (typeof value === 'string' && value !== '') return value
  throw new TenantError('missing-progress', `No earlier step of this request made its ${name}.`, { retryable: false })
}
