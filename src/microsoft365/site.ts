import { setTimeout as pause } from 'node:timers/promises'
import type { RequestKind, SiteStepInput, StepResult, Tenant } from '../core/index.ts'
import { communicationSite } from './communication-site.ts'
import { linkGroup } from './link-group.ts'
import { failedCheck, type KindOfSite, needed, type Services, type SiteAction } from './site-facts.ts'
import { teamSite } from './team-site.ts'

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
  let faults = await faultsOf(services, input)
  // A replica may not know yet what was just written: a fault counts when it stays.
  for (const milliseconds of services.settleMilliseconds) {
    if (faults.length === 0) break
    await pause(milliseconds)
    faults = await faultsOf(services, input)
  }
  if (faults.length > 0) throw failedCheck(faults)
  return { done: true, made: {} }
}

async function faultsOf(services: Services, input: SiteStepInput): Promise<string[]> {
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
  return faults
}

const isLabel = (found: string | null | undefined, wanted: string): boolean =>
  found?.replace(/[{}]/g, '').toLowerCase() === wanted.toLowerCase()
