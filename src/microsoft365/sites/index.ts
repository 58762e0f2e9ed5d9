/**
 * Creates sites: core's steps for team sites and communication sites. A step checks what exists before it creates
 * anything, so a step that runs twice creates one site. Imports `wire`.
 */
import type { Check, SiteKind, SiteStepInput, StepResult, Tenant } from '../../core/index.ts'
import { checked, missing, needed, settled } from '../wire/index.ts'
import { communicationSite } from './communication-site.ts'
import { linkGroup } from './security-group.ts'
import type { KindOfSite, Services, SiteAction } from './site-step.ts'
import { teamSite } from './team-site.ts'

const kinds: { readonly [K in SiteKind]: KindOfSite } = { teamSite, communicationSite }

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

/** Reads back what was asked for. What is wrong is said in the checks and never thrown; the site is kept. */
function readyCheck(services: Services, input: SiteStepInput): Promise<StepResult> {
  return settled(() => checksOf(services, input), input.progress, services.settleSeconds)
}

async function checksOf(services: Services, input: SiteStepInput): Promise<Check[]> {
  const { sharePoint } = services
  const { progress, signal, labelId } = input
  const [opens, absent] = await Promise.all([
    sharePoint.web(needed(progress, 'url'), signal),
    kinds[input.kind].missingOwners(services, input),
  ])
  const checks = [checked('siteOpens', opens ? '' : 'the site does not answer'), checked('owners', missing(absent))]
  if (labelId === '') return checks
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  return [...checks, checked('label', isLabel(site?.SensitivityLabel2, labelId) ? '' : 'it is not applied')]
}

const isLabel = (found: string | null | undefined, wanted: string): boolean =>
  found?.replace(/[{}]/g, '').toLowerCase() === wanted.toLowerCase()
