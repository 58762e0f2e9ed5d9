import { type Person, type SiteProgress, type SiteStepInput, TenantError } from '../core/index.ts'

/** What an earlier step made. Missing, the steps ran in a wrong order: a defect, so no retry helps. */
export function needed(progress: SiteProgress, name: keyof SiteProgress): string {
  const value = progress[name]
  if (value) return value
  throw new TenantError('missing-progress', `No earlier step of this request made its ${name}.`, { retryable: false })
}

/** Everybody who owns the site: the requester first, nobody twice. */
export function ownersOf({ requester, owners }: Pick<SiteStepInput, 'requester' | 'owners'>): Person[] {
  return [requester, ...owners.filter(({ id }) => id !== requester.id)]
}

/** Not ready yet; the site's own service does not say when, and asking costs little. Seconds. */
export const lookAgain = { done: false, retryAfterSeconds: 2 } as const

/** Somebody else's group or site has the address: a person has to choose another. */
export const nameTaken = (alias: string): TenantError =>
  new TenantError('name-taken', `The address ${alias} is held by another group or site.`, { retryable: false })

export const failedCheck = (faults: readonly string[]): TenantError =>
  new TenantError('ready-check', `The site is made, but ${faults.join('; ')}.`, { retryable: false })
