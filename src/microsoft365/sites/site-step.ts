import { type Person, type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import type { Services } from '../wire/index.ts'

export interface SiteServices extends Pick<Services, 'graph' | 'sharePoint'> {
  /** How long a fault must last before the ready check reports it. Seconds. */
  readonly settleSeconds: number
}

/** One step for one kind of site. */
export type SiteAction = (services: SiteServices, input: SiteStepInput) => Promise<StepResult>
/** The differences between the two kinds of sites. `missingOwners` returns the names of owners who are not added yet. */
export interface SiteActions {
  readonly create: SiteAction
  readonly wait: SiteAction
  readonly addOwners: SiteAction
  readonly missingOwners: (services: SiteServices, input: SiteStepInput) => Promise<string[]>
}

/** All owners of the site without duplicates, the requester first. */
export function ownersOf({ requester, owners }: Pick<SiteStepInput, 'requester' | 'owners'>): Person[] {
  return [requester, ...owners.filter(({ id }) => id !== requester.id)]
}

/** Result while the site is not ready. SharePoint does not say when to ask again. */
export const notReady = { done: false, retryAfterSeconds: 2 } as const

/** Error for an address that another group or site has: a person has to choose another address. */
export const nameTaken = (alias: string): TenantError =>
  new TenantError('name-taken', `The address ${alias} is held by another group or site.`, { retryable: false })
