import type { RequestKind, SiteStepInput, StepResult, Tenant } from '../core/index.ts'
import { communicationSite } from './communication-site.ts'
import type { Graph } from './graph.ts'
import { linkGroup } from './link-group.ts'
import type { SharePoint } from './sharepoint.ts'
import { failedCheck, needed } from './site-facts.ts'
import { teamSite } from './team-site.ts'

export interface Services {
  readonly graph: Graph
  readonly sharePoint: SharePoint
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
const kinds: { readonly [K in RequestKind]: KindOfSite } = { teamSite, communicationSite }

/** Core's `siteSteps` over Microsoft 365. */
export function createSiteSteps(services: Services): Tenant['siteSteps'] {
  const bind = (action: SiteAction) => (input: SiteStepInput) => action(services, input)
  return {
    'create-site': bind((all, input) => kinds[input.kind].create(all, input)),
    'wait-for-site': bind((all, input) => kinds[input.kind].wait(all, input)),
    'add-owners': bind((all, input) => kinds[input.kind].addOwners(all, input)),
    'apply-label': bind(applyLabel),
    'ready-check': bind(readyCheck),
    'link-group': bind(linkGroup),
  }
}

async function applyLabel({ sharePoint }: Services, { labelId, progress, signal }: SiteStepInput): Promise<StepResult> {
  const siteId = needed(progress, 'siteId')
  const site = await sharePoint.administered(siteId, signal)
  if (!isLabel(site?.SensitivityLabel2, labelId)) await sharePoint.setLabel(siteId, labelId, signal)
  return { done: true, made: {} }
}

/** Reads back what was asked for. What is wrong here no retry mends, so a person has to look; the site is kept. */
async function readyCheck(services: Services, input: SiteStepInput): Promise<StepResult> {
  const { sharePoint } = services
  const { progress, signal, labelId } = input
  const faults: string[] = []
  if (!(await sharePoint.web(needed(progress, 'url'), signal))) faults.push('the site does not answer')
  const missing = await kinds[input.kind].missingOwners(services, input)
  if (missing.length > 0) faults.push(`not an owner: ${missing.join(', ')}`)
  if (labelId !== '') {
    const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
    if (!isLabel(site?.SensitivityLabel2, labelId)) faults.push('the sensitivity label is not applied')
  }
  if (faults.length > 0) throw failedCheck(faults)
  return { done: true, made: {} }
}

const isLabel = (found: string | null | undefined, wanted: string): boolean =>
  found?.replace(/[{}]/g, '').toLowerCase() === wanted.toLowerCase()
