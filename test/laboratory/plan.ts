import { z } from 'zod'
import contoso from '../../src/simulator/tenant/contoso.json' with { type: 'json' }
import { mulberry32 } from '../support/random.ts'
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
  /** The share of creations that the tenant does and drops the line. */
  CRASH_RESETS: z.coerce.number().min(0).max(0.9).default(0),
  /** Where the history goes; a folder of the run that is gone after it, unless said. */
  CRASH_HISTORY: z.string().optional(),
})

/** What a run is to be: how long, how often killed, over which store. Throws when the environment says nonsense. */
export function runSettings(variables: Readonly<Record<string, string | undefined>>) {
  const given = environment.parse(variables)
  const replicas = given.CRASH_STORE === 'embedded' ? 1 : given.CRASH_REPLICAS
  return {
    requests: given.CRASH_REQUESTS,
    kills: given.CRASH_KILLS,
    seed: given.CRASH_SEED ?? Date.now() % 1_000_000,
    store: given.CRASH_STORE,
    replicas,
    resets: given.CRASH_RESETS,
    historyFile: given.CRASH_HISTORY,
  }
}
export type RunSettings = ReturnType<typeof runSettings>

export interface Person {
  readonly id: string
  readonly name: string
}
/** A wish of a person, and how its clients will behave. */
export interface Wish {
  readonly n: number
  readonly name: string
  readonly kind: Kind
  readonly channel: 'rest' | 'chat'
  readonly approval: boolean
  readonly templateId: string
  readonly requester: Person
  /** Who decides, the first to be asked first; several click at about the same time. */
  readonly deciders: readonly Person[]
  readonly decidesBy: 'rest' | 'chat'
  readonly verdict: 'approved' | 'rejected'
  /** Who is asked to approve it, and who may do so in their place. */
  readonly asks?: Readonly<Record<'approvers' | 'delegates' | 'backups', readonly Person[]>>
  /** What becomes of one that its approvers never decide. */
  readonly course?: Course
  /** What they fill in beside the name. */
  readonly inputs?: Readonly<Record<string, string>>
}

/** Sam is the admin, and Dana and Omar get access to mailboxes; they ask and decide nothing here. */
const everybody = contosoPeople(4, 40)
const pairs = [0, 1, 2, 3, 4, 5].map((pair) => everybody.slice(2 * pair, 2 * pair + 2))
const requesters = everybody.slice(12)
export const participants = everybody
/** The first is away, and the second decides for them; the third is asked where approvers let the time pass. */
const [delegate, backup] = contosoPeople(40, 42) as [Person, Person]
export const absence = { away: pairs[0]?.[0] ?? delegate, delegate }
export const standIns: readonly Person[] = [delegate, backup]

export const isSite = (kind: Kind): kind is 'teamSite' | 'communicationSite' => /Site$/.test(kind)
/** Template ids tell the kind, and whose approval is needed (0: nobody's; above the pairs: a pair's that never decides). */
const templateId = (kind: Kind, approvers: number): string =>
  `aaaaaaaa-0000-4000-8000-0000000000${kinds.indexOf(kind)}${approvers}`

/** What the templates with each of these numbers ask for. */
const policies = [
  null,
  ...pairs.map((pair) => ({ stages: [{ approvers: pair.map(({ id }) => ({ user: id })), rule: 'any' }] })),
  ...courses.map((course, index) => policyOf(course, pairs[index] ?? [], backup)),
]

/**
 * Templates of every kind, each for every pair of approvers, for none, and for each course of an approval that nobody gives at
 * first; all of them tell one subscriber of the end.
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
 * All wishes of a run, the same for the same seed: half by REST, half with approval, half for sites, in every combination
 * and in an order of chance. One in ten decisions is a rejection; in one of four both approvers click. One in eight of
 * those with approval, and three at least, is not decided by its approvers.
 */
export function wishesOf({ requests, seed }: RunSettings): Wish[] {
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
      const asked = approval ? askedFor(approvals, Math.floor(requests / 2), chance) : undefined
      approvals += approval ? 1 : 0
      return {
        ...{ n, name: `Lab ${String(n).padStart(4, '0')}`, kind, approval },
        channel: (index & 1) > 0 ? 'chat' : 'rest',
        templateId: templateId(kind, asked?.policy ?? 0),
        requester: requesters[n % requesters.length] ?? people.kim,
        deciders: asked?.deciders ?? [],
        decidesBy: random() < 0.7 ? 'chat' : 'rest',
        verdict: random() < 0.1 ? 'rejected' : 'approved',
        ...(asked && { asks: asked.asks, ...(asked.course && { course: asked.course }) }),
      }
    })
}

/** Whom one of so many approvals asks, and who will decide it. `chance`: numbers from 0 to 1. */
function askedFor(index: number, all: number, chance: Readonly<Record<'pair' | 'order' | 'both', number>>) {
  const most = Math.max(courses.length, Math.round(all / 8))
  // The first of them comes first, since it takes the longest, and the others evenly after it.
  const isTardy = (index * most) % all < most
  const course = isTardy ? courses[Math.floor((index * most) / all) % courses.length] : undefined
  // The first that is decided as usual is decided by the delegate, so that this is in every run.
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

/** What stands in every trace of a wish: its name, and the address that is made of it. */
export const wishIn = (text: string): number | undefined => {
  const digits = /\blab[ -](\d{4})\b/i.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** The card in the requester's chat that the form is on, and that shows the status afterwards. */
export const statusCardOf = ({ n }: Pick<Wish, 'n'>): string => `card-${n}`
