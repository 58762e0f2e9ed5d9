import { setTimeout as pause } from 'node:timers/promises'
import type { Check } from '../core/index.ts'

/** One thing read back: as it was asked for when there is no fault, which is in words for admins. */
export const checked = (name: Check['name'], fault: string): Check => ({ name, ok: fault === '', detail: fault })

const list = new Intl.ListFormat('en', { type: 'conjunction' })
/** `Dana Fox and Omar Haddad are missing`, or `''` for nobody. */
export function missing(names: readonly string[]): string {
  if (names.length === 0) return ''
  return `${list.format(names)} ${names.length === 1 ? 'is' : 'are'} missing`
}

/**
 * Looks, and looks again after each of the pauses (milliseconds) while something is wrong: a replica may not know yet
 * what was just written, so a fault counts when it stays.
 */
export async function settled(look: () => Promise<Check[]>, milliseconds: readonly number[]): Promise<Check[]> {
  let checks = await look()
  for (const wait of milliseconds) {
    if (checks.every(({ ok }) => ok)) break
    await pause(wait)
    checks = await look()
  }
  return checks
}
