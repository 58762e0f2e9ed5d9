/**
 * Creates sites: core's steps for team sites and communication sites. A step checks what exists before it creates
 * anything, so a step that runs twice creates one site. Imports `wire`.
 */

import { z } from 'zod'
import {
  because,
  type Check,
  type SiteKind,
  type SiteStepInput,
  type StepResult,
  type Tenant,
  TenantError,
} from '../../core/index.ts'
import {
  checkOf,
  type FoundGroup,
  type Graph,
  type GroupBody,
  missingPeople,
  namingPolicyError,
  needed,
  notThereYet,
  readyResult,
  upsertRefusal,
} from '../wire/index.ts'
import {
  communicationSite,
  ownersOf,
  type SiteAction,
  type SiteActions,
  type SiteServices,
  teamSite,
} from './site-kinds.ts'

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
  const checks = [
    checkOf('siteOpens', opens ? undefined : because('siteSilent')),
    checkOf('owners', missingPeople(absent)),
  ]
  if (labelId === '') return checks
  const site = await sharePoint.administered(needed(progress, 'siteId'), signal)
  return [
    ...checks,
    checkOf('label', isLabel(site?.SensitivityLabel2, labelId) ? undefined : because('labelNotApplied')),
  ]
}

const isLabel = (found: string | null | undefined, wanted: string): boolean =>
  found?.replace(/[{}]/g, '').toLowerCase() === wanted.toLowerCase()

const linked = z.object({ requestId: z.string(), extensionAttribute1: z.string(), extensionAttribute3: z.string() })

/**
 * Creates the security group that is linked to the site (API document, "Provisioned group record"). A separate call
 * writes the extension last, so a group found by request id means a complete site. The group has a key, because Graph
 * creates duplicates of security groups without an error.
 */
async function linkGroup({ graph }: SiteServices, input: SiteStepInput): Promise<StepResult> {
  try {
    return await link(graph, input)
  } catch (error) {
    // Groups may accept a new extension later than the job's last retry, so the step waits and reports the reason.
    if (!(error instanceof TenantError) || error.code !== 'extension-not-accepted') throw error
    const { code, reason, retryAfterSeconds = 10 } = error
    return { done: false, retryAfterSeconds, why: { code, reason } }
  }
}

async function link(graph: Graph, input: SiteStepInput): Promise<StepResult> {
  const { requestId, progress, signal } = input
  const group = await findOrCreate(graph, input)
  const value = {
    requestId,
    extensionAttribute1: needed(progress, 'siteId'),
    extensionAttribute3: needed(progress, 'url'),
  }
  const known = linked.safeParse(group.extension).data
  const isLinked =
    known?.requestId === value.requestId &&
    known.extensionAttribute1 === value.extensionAttribute1 &&
    known.extensionAttribute3 === value.extensionAttribute3
  if (!isLinked) await graph.patchExtension(group.id, value, signal)
  return { done: true, made: { securityGroupId: group.id, securityGroupName: group.displayName } }
}

async function findOrCreate(graph: Graph, input: SiteStepInput): Promise<FoundGroup> {
  const { requestId, progress, signal } = input
  // The group's own alias: the requested alias may belong to another site after a naming policy has changed it.
  const alias = progress.createdAs?.alias ?? input.alias
  const key = `${requestId}-access`
  const found = await graph.linkedGroup(key, signal)
  if (found) return found
  const group = {
    displayName: `SPO-${alias}`,
    mailNickname: `spo-${alias}`.slice(0, 64),
    groupTypes: [],
    mailEnabled: false,
    securityEnabled: true,
  } satisfies GroupBody
  const owners = ownersOf(input).map(({ id }) => id)
  const answer = await graph.upsertGroup(key, group, { owners }, signal)
  if (answer.status === 400) {
    const refusal = upsertRefusal(answer, because('creatingSecurityGroup'))
    if (refusal instanceof TenantError) throw refusal
    // The naming policy concerns Microsoft 365 groups. A tenant that applies it to this group has its own reasons.
    if (typeof refusal === 'object') throw namingPolicyError()
  }
  const created = await graph.linkedGroup(key, signal)
  if (!created) throw notThereYet('newSecurityGroup')
  return created
}
