import { type Person, type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import type { Graph, SharePoint } from '../wire/index.ts'

export interface Services {
  readonly graph: Graph
  readonly sharePoint: SharePoint
  /** For how long the ready check looks again before it believes a fault. Seconds. */
  readonly settleSeconds: number
}

/** One step of one kind of site. It looks before it makes anything, so running it twice makes one thing. */
export type SiteAction = (services: Services, input: SiteStepInput) => Promise<StepResult>
/** What the two kinds of site do differently. `owners` reads back which of the owners are not there. */
export interface KindOfSite {
  readonly create: SiteAction
  readonly wait: SiteAction
  readonly addOwners: SiteAction
  readonly missingOwners: (services: Services, input: SiteStepInput) => Promise<string[]>
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
