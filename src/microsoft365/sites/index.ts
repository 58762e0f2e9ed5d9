/**
 * Creates sites: core's steps for team sites and communication sites. A step checks what exists before it creates
 * anything, so a step that runs twice creates one site. Imports `wire`.
 */
import type { Check, SiteKind, SiteStepInput, StepResult, Tenant } from '../../core/index.ts'
import { checkOf, missingText, needed, readyResult } from '../wire/index.ts'
import { communicationSite } from './communication-site.ts'
import { linkGroup } from './security-group.ts'
import type { SiteAction, SiteActions, SiteServices } from './site-step.ts'
import { teamSite } from './team-site.ts'

const kinds: { readonly [K in SiteKind]: SiteActions } = { teamSite, communicationSite }

/** Creates core's `siteSteps`. */
export function createSiteSteps(services: SiteServices): Tenant['siteSteps'] {
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

async function applyLabel(
  { sharePoint }: SiteServices,
  { labelId, progress, signal }: SiteStepInput,
): Promise<StepResult> {
  const siteId = needed(progress, 'siteId')
  const site = await sharePoint.administered(siteId, signal)
  if (!isLabel(site?.SensitivityLabel2, labelId)) await sharePoint.setLabel(siteId, labelId, signal)
  return { done: true, made: {} }
}

/** Compares the site with the request. Reports faults in the checks and does not throw them; the site stays. */
function readyCheck(services: SiteServices, input: SiteStepInput): Promise<StepResult> {
  return readyResult(() => checksOf(services, input), input.progress, services.settleSeconds)
}

async function checksOf(services: SiteServices, input: SiteStepInput): Promise<Check[]> {
  const { sharePoint } = services
  const { progress, signal, labelId } = input
  const [opens, absent] = await Promise.all([
    sharePoint.web(needed(progress, 'url'), signal),
    kinds[input.kind].missingOwners(services, input),
  ])
  const checks = [checkOf('siteOpens', opens ? '' : 'the site does not answer'), checkOf('owners', missingText(absent))]
  if (labelId === '') return checks
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  return [...checks, checkOf('label', isLabel(site?.SensitivityLabel2, labelId) ? '' : 'it is not applied')]
}

const isLabel = (found: string | null | undefined, wanted: string): boolean =>
  found?.replace(/[{}]/g, '').toLowerCase() === wanted.toLowerCase()
