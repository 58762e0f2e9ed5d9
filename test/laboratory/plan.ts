import { z } from 'zod'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import contoso from '../../src/simulator/tenant/contoso.json' with { type: 'json' }
import { labels } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { type Course, courses, policyOf } from './course.ts'
import { type Kind, kinds } from './history.ts'

const count = z.coerce.number().int().min(0)
const environment = z.object({
  CRASH_REQUESTS: count.min(1).default(12),
  CRASH_KILLS: count.default(2),
  CRASH_SEED: count.optional(),
  CRASH_STORE: z.enum(['embedded', 'server']).default('embedded'),
  CRASH_REPLICAS: count.min(1).max(9).default(1),
  /** The share of creations after which the tenant drops the connection. */
  CRASH_RESETS: z.coerce.number().min(0).max(0.9).default(0),
  /** The file of the history. Default: a file in the run's folder, which is deleted at the end. */
  CRASH_HISTORY: z.string().optional(),
})

/** Reads the settings of a run: number of requests and kills, store. Throws for invalid variables. */
export function runSettings(variables: Readonly<Record<string, string | undefined>>) {
  const parsed = environment.parse(variables)
  const replicas = parsed.CRASH_STORE === 'embedded' ? 1 : parsed.CRASH_REPLICAS
  return {
    requests: parsed.CRASH_REQUESTS,
    kills: parsed.CRASH_KILLS,
    seed: parsed.CRASH_SEED ?? Date.now() % 1_000_000,
    store: parsed.CRASH_STORE,
    replicas,
    resets: parsed.CRASH_RESETS,
    historyFile: parsed.CRASH_HISTORY,
  }
}
export type RunSettings = ReturnType<typeof runSettings>

export interface Person {
  readonly id: string
  readonly name: string
}
/** A planned request, with the behaviour of its people. */
export interface PlannedRequest {
  readonly n: number
  readonly name: string
  readonly kind: Kind
  readonly channel: 'rest' | 'chat'
  readonly approval: boolean
  readonly templateId: string
  readonly requester: Person
  /** The people who decide, in order; several people click at about the same time. */
  readonly deciders: readonly Person[]
  readonly decidesBy: 'rest' | 'chat'
  readonly verdict: 'approved' | 'rejected'
  /** The people who are asked to approve, their delegates and backups. */
  readonly asks?: Readonly<Record<'approvers' | 'delegates' | 'backups', readonly Person[]>>
  /** The outcome if the approvers do not decide. */
  readonly course?: Course
  /** Further answers in the form, besides the name. */
  readonly inputs?: Readonly<Record<string, string>>
}

/** Sam is the admin, and Dana and Omar have access to mailboxes; these three neither request nor decide here. */
const everybody = contosoPeople(4, 40)
const pairs = [0, 1, 2, 3, 4, 5].map((pair) => everybody.slice(2 * pair, 2 * pair + 2))
const requesters = everybody.slice(12)
export const participants = everybody
/** The first decides for an absent approver; the second is asked after an escalation. */
const [delegate, backup] = contosoPeople(40, 42) as [Person, Person]
export const absence = { away: pairs[0]?.[0] ?? delegate, delegate }
export const standIns: readonly Person[] = [delegate, backup]

export const isSite = (kind: Kind): kind is 'teamSite' | 'communicationSite' => /Site$/.test(kind)
/**
 * Builds a template id from the kind and the number of the policy: 0 without approval, then the pairs, then the
 * outcomes without a decision of the pair.
 */
const templateId = (kind: Kind, approvers: number): string =>
  `aaaaaaaa-0000-4000-8000-0000000000${kinds.indexOf(kind)}${approvers}`

/** The approval policies of the templates with each of these numbers. */
const policies = [
  null,
  ...pairs.map((pair) => ({ stages: [{ approvers: pair.map(({ id }) => ({ user: id })), rule: 'any' }] })),
  ...courses.map((course, index) => policyOf(course, pairs[index] ?? [], backup)),
]

/**
 * Creates templates of every kind: without approval, for every pair of approvers, and for each outcome of an approval
 * that its approvers do not decide. All templates have the same webhook receiver.
 */
export function templatesFor(webhookUrl: string): object[] {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const events = ['site.provisioned', 'mailbox.provisioned', 'request.rejected', 'request.expired', 'request.failed']
  const allowed = [{ id: labels.internal, name: 'Internal' }]
  return kinds.flatMap((kind) =>
    policies.map((approval, index) => ({
      ...{ id: templateId(kind, index), version: 1, kind, name: `${kind} ${index}`, description: 'Of the laboratory' },
      ...{ order: 10 + index, webhook: { url: webhookUrl, secret, events } },
      ...(isSite(kind) && { labels: { allowed, default: labels.internal } }),
      approval,
    })),
  )
}

/**
 * Plans all requests of a run, the same for the same seed: half by REST, half with approval, half for sites, in every
 * combination and in random order. One in ten decisions is a rejection; in one of four both approvers click. One in
 * eight requests with approval, and at least three, is not decided by its approvers.
 */
export function planRequests({ requests, seed }: RunSettings): PlannedRequest[] {
  const random = mulberry32(seed)
  let approvals = 0
  const numbers = Array.from({ length: requests }, (_, index) => ({ index, place: random() }))
  return numbers
    .sort((one, other) => one.place - other.place)
    .map(({ index }, order) => {
      const n = order + 1
      const kind = kindOf(index >> 2)
      const approval = (index & 2) > 0
      const chance = { pair: random(), order: random(), both: random() }
      const plannedApproval = approval ? approvalOf(approvals, Math.floor(requests / 2), chance) : undefined
      approvals += approval ? 1 : 0
      return {
        ...{ n, name: `Lab ${String(n).padStart(4, '0')}`, kind, approval },
        channel: (index & 1) > 0 ? 'chat' : 'rest',
        templateId: templateId(kind, plannedApproval?.policy ?? 0),
        requester: requesters[n % requesters.length] ?? people.kim,
        deciders: plannedApproval?.deciders ?? [],
        decidesBy: random() < 0.7 ? 'chat' : 'rest',
        verdict: random() < 0.1 ? 'rejected' : 'approved',
        ...(plannedApproval && {
          asks: plannedApproval.asks,
          ...(plannedApproval.course && { course: plannedApproval.course }),
        }),
      }
    })
}

/** Chooses the approvers of an approval and the people who will decide. `chance`: numbers from 0 to 1. */
function approvalOf(index: number, all: number, chance: Readonly<Record<'pair' | 'order' | 'both', number>>) {
  const most = Math.max(courses.length, Math.round(all / 8))
  // The first undecided approval comes first, because it takes longest. The others are distributed evenly.
  const isTardy = (index * most) % all < most
  const course = isTardy ? courses[Math.floor((index * most) / all) % courses.length] : undefined
  // The delegate decides the first usual approval, so that every run contains such a decision.
  const isFirst = index === 1
  const pair = course ? courses.indexOf(course) : isFirst ? 0 : Math.floor(chance.pair * pairs.length)
  const approvers = pairs[pair] ?? []
  const isAway = approvers.includes(absence.away)
  const people = approvers.map((one) => (one === absence.away ? delegate : one))
  const usual = isFirst || chance.order < 0.5 ? people : people.toReversed()
  const asks = { approvers, delegates: isAway ? [delegate] : [], backups: course ? [backup] : [] }
  const tardy = course === 'expires' ? [] : [backup]
  return {
    ...{ asks, course, policy: course ? pairs.length + 1 + courses.indexOf(course) : pair + 1 },
    deciders: course ? tardy : usual.slice(0, !isFirst && chance.both < 0.25 ? 2 : 1),
  }
}

function contosoPeople(from: number, to: number): Person[] {
  return contoso.people.slice(from, to).map(({ id, displayName }) => ({ id, name: displayName }))
}

const sites = ['teamSite', 'communicationSite'] as const
const mailboxes = ['sharedMailbox', 'roomMailbox', 'equipmentMailbox'] as const
const kindOf = (index: number): Kind =>
  (index % 2 === 0 ? sites[(index >> 1) % sites.length] : mailboxes[(index >> 1) % mailboxes.length]) ?? 'teamSite'

/** Returns the number of the planned request in a text: every name and address of its objects contains it. */
export const requestNumberIn = (text: string): number | undefined => {
  const digits = /\blab[ -](\d{4})\b/i.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** Returns the numbers of all planned requests in a text. */
export const requestNumbersIn = (text: string): number[] => [
  ...new Set([...text.matchAll(/\blab[ -](\d{4})\b/gi)].map(([, digits]) => Number(digits))),
]

/** Returns the id of the card in the requester's chat that shows the form and later the status. */
export const statusCardOf = ({ n }: Pick<PlannedRequest, 'n'>): string => `card-${n}`
