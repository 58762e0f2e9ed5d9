import { z } from 'zod'
import { openStage, waitingFor } from '../approvals/index.ts'
import type { AuditEntry } from '../audit/index.ts'
import type { BatchPorts } from '../batches/index.ts'
import { type DecisionPorts, havingDigest } from '../decisions/index.ts'
import { slug } from '../naming/index.ts'
import {
  changedNames,
  isForMailbox,
  isTakenName,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
  readRequest,
  readTimeline,
  requestFor,
} from '../requests/index.ts'
import { type Context, defineUseCase, instant, person } from '../shared/index.ts'
import { type ExplanationLine, explanationCodes } from './codes.ts'
import { whyThisApprover } from './explanation-approval.ts'
import { whyThisLong } from './explanation-time.ts'

export const explanationTopics = ['approval', 'name', 'time'] as const

/** One line that explains the approvers, the name or the duration of a request. */
export const explanation = z.object({
  topic: z.enum(explanationTopics),
  /** The list of codes is closed; the fact `why` distinguishes the cases of one code. */
  code: z.enum(explanationCodes),
  at: instant.optional(),
  stage: z.int().optional(),
  people: z.array(person).optional(),
  facts: z.record(z.string(), z.union([z.string(), z.number()])),
})
export type Explanation = z.output<typeof explanation>

/**
 * Explains a request from its records alone: the request, its template at the time, and its timeline. The topics come in
 * their order, and the most important line first. `inDigest`: the ids of the people whose daily digest replaces the reminder. Pure.
 */
export function explain(
  request: Request,
  timeline: readonly AuditEntry[],
  now: Date,
  inDigest: ReadonlySet<string> = new Set(),
): Explanation[] {
  const lines = {
    approval: whyThisApprover(request, now, inDigest),
    name: whyThisName(request),
    time: whyThisLong(request, timeline, now),
  } satisfies Record<(typeof explanationTopics)[number], readonly ExplanationLine[]>
  return explanationTopics.flatMap((topic) => lines[topic].map((line) => ofTopic(topic, line)))
}

function ofTopic(topic: Explanation['topic'], { code, at, stage, people, facts }: ExplanationLine): Explanation {
  return {
    topic,
    code,
    ...(at !== undefined && { at }),
    ...(stage !== undefined && { stage }),
    ...(people && people.length > 0 && { people: [...people] }),
    facts,
  }
}

/** Explains a request that the actor may read. */
export const readExplanation = defineUseCase({
  permission: 'request.read',
  input: z.object({ requestId: z.uuid() }),
  async handle(context: Context<BatchPorts & DecisionPorts>, { requestId }): Promise<Explanation[]> {
    const { ports, actor } = context
    const request = requestFor(await readRequest.handle(context, { requestId }), actor)
    const open = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    const waiting = open ? waitingFor([open]).map(({ id }) => id) : []
    const inDigest = await havingDigest(context, request.tenantId, waiting)
    return explain(request, await readTimeline.handle(context, { requestId }), ports.clock.now(), inDigest)
  },
})

/** Explains the name: the typed name, the affixes of the template, and taken names. */
function whyThisName(request: Request): ExplanationLine[] {
  // The typed name was removed with the details.
  if (request.reducedAt !== undefined) return [nameIs(request)]
  const own = isForMailbox(request) ? nameOfMailbox(request) : nameOfSite(request)
  return [...own, ...changedByTenant(request), ...takenMeanwhile(request)]
}

const nameIs = (request: Request): ExplanationLine => ({
  code: 'name-is',
  facts: { address: isForMailbox(request) ? request.address : request.alias },
})

function nameOfSite(request: RequestForSite): ExplanationLine[] {
  const { template, details, typedName } = request
  return [
    nameIs(request),
    details.alias !== ''
      ? { code: 'name-typed', facts: { typed: details.alias } }
      : slug(details.displayName) === ''
        ? { code: 'name-of-request', facts: {} }
        : { code: 'name-derived', facts: { displayName: typedName ?? details.displayName } },
    ...affixes(template),
    ...passedOver(request),
  ]
}

function nameOfMailbox(request: RequestForMailbox): ExplanationLine[] {
  const { template, address, aliasAddress, details, typedName } = request
  const [name, domain = ''] = address.split('@')
  const taken = passedOver(request)
  const isChosen = request.addressChanges?.some(({ to }) => to === address) ?? false
  // Only a derived address is replaced at submission. It is stored as if it was typed.
  const isDerived = taken.length > 0 && details.name === name && !isChosen
  return [
    nameIs(request),
    isDerived
      ? { code: 'name-derived', facts: { displayName: typedName ?? details.displayName } }
      : { code: 'name-typed', facts: { typed: details.name } },
    ...affixes(template),
    ...taken,
    { code: details.domain === undefined ? 'domain-usual' : 'domain-typed', facts: { domain } },
    ...(aliasAddress === ''
      ? []
      : [{ code: 'other-address', facts: { address: aliasAddress, typed: details.alias ?? aliasAddress } } as const]),
  ]
}

const passedOver = ({ passedOver: names = [] }: Request): ExplanationLine[] =>
  names.length > 0 ? [{ code: 'name-passed-over', facts: { names: names.join(', ') } }] : []

function affixes({ naming: { prefix, suffix } }: Request['template']): ExplanationLine[] {
  if (prefix === '' && suffix === '') return []
  const why = suffix === '' ? 'prefix' : prefix === '' ? 'suffix' : 'both'
  const facts = { why, ...(prefix !== '' && { prefix }), ...(suffix !== '' && { suffix }) }
  return [{ code: 'name-affixed', facts }]
}

/** The naming policy of the tenant changed the name. */
function changedByTenant(request: Request): ExplanationLine[] {
  const names = changedNames(request)
  if (!names) return []
  return [{ code: 'name-changed', facts: { displayName: names.displayName, address: names.alias } }]
}

/** The name was free at submission, and taken at creation. */
function takenMeanwhile(request: Request): ExplanationLine[] {
  const { problem } = request
  if (!isTakenName(problem)) return []
  const main = isForMailbox(request) ? request.address : request.alias
  const taken = isForMailbox(request) && problem.code === 'alias-taken' ? request.aliasAddress : main
  const { suggestion: free } = problem
  return [free ? { code: 'name-taken', facts: { taken, free } } : { code: 'name-taken-only', facts: { taken } }]
}
