import type { ChangeKind } from '../support/change-points.ts'

/** A card that arrived in a chat. `isUnheard`: its answer was kept back, or came just before the kill. */
export interface Arrival {
  readonly at: number
  readonly isUnheard: boolean
}
/** The state of one request at the end. */
export interface EndedRequest {
  readonly name: string
  readonly status: string
  /** The people who decided, in order: `1 approved <id>` with the stage. */
  readonly decisions: readonly string[]
  /** The actions of its audit. */
  readonly actions: readonly string[]
  /** The number of mailboxes with its name in the tenant. */
  readonly mailboxes: number
}
/** The results of a change, as the API, the chats and the tenant show them. */
export interface ChangeFacts {
  readonly n: number
  readonly kind: ChangeKind
  readonly point: string
  readonly errors: readonly string[]
  /** Every request of the tenant whose name has the number of the change. */
  readonly requests: readonly EndedRequest[]
  /** The names of the requests that must exist. */
  readonly names: readonly string[]
  /** The decisions that each request must have. */
  readonly decisions: readonly string[]
  /** The cards that must have come, each once. */
  readonly cards: Readonly<Record<string, readonly Arrival[]>>
  /** Moments that must be in this order. */
  readonly order: readonly (readonly [what: string, at: number])[]
  /** Further results, with their expected values. */
  readonly results: Readonly<Record<string, readonly [found: unknown, expected: unknown]>>
}

/** A kill within this time after a card explains a copy: the answer may not be stored yet. Milliseconds. */
const notStored = 3000
/** A card that arrives within this time after a kill came from the killed service. Milliseconds. */
const underWay = 500
/** The final states of the requests of those changes that do not succeed. */
const otherEnds: { readonly [K in ChangeKind]?: string } = { rejection: 'rejected', erasure: 'cancelled' }
const once = ['pendingApproval', 'queued', 'succeeded', 'rejected', 'cancelled', 'reassigned', 'announced']

/** Returns whether the service may not know that this card arrived. Then it may send a copy. */
export const isUnknown = ({ at, isUnheard }: Arrival, kills: readonly number[]): boolean =>
  isUnheard || kills.some((kill) => kill >= at - underWay && kill <= at + notStored)

/** Returns everything that is wrong with a change. `kills`: the times of all kills. */
export function changeFaults(facts: ChangeFacts, kills: readonly number[]): string[] {
  const faults = [
    ...facts.errors,
    ...requestFaults(facts),
    ...Object.entries(facts.cards).flatMap(([what, arrivals]) => cardFaults(what, arrivals, kills)),
    ...orderFaults(facts.order),
    ...Object.entries(facts.results).flatMap(([what, [found, expected]]) =>
      JSON.stringify(found) === JSON.stringify(expected)
        ? []
        : [`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`],
    ),
  ]
  return faults.map((fault) => `${facts.n} (${facts.kind}, killed ${facts.point}): ${fault}`)
}

function requestFaults({ kind, requests, names, decisions }: ChangeFacts): string[] {
  const status = otherEnds[kind] ?? 'succeeded'
  const found = requests.map(({ name }) => name).sort()
  const isSame = JSON.stringify(found) === JSON.stringify([...names].sort())
  return [
    ...(isSame ? [] : [`its requests are ${found.join(', ') || 'missing'}`]),
    ...requests.flatMap((one) => [
      ...(one.status === status ? [] : [`${one.name} is ${one.status}`]),
      ...(one.mailboxes === (status === 'succeeded' ? 1 : 0) ? [] : [`${one.name} has ${one.mailboxes} mailboxes`]),
      ...(JSON.stringify(one.decisions) === JSON.stringify(decisions)
        ? []
        : [`${one.name} has the decisions ${one.decisions.join(', ') || 'of nobody'}`]),
      ...once
        .filter((action) => one.actions.filter((each) => each === action).length > 1)
        .map((action) => `${one.name} was ${action} more than once`),
    ]),
  ]
}

/** Returns the faults of a card: none arrived, or more copies than the kills explain. */
function cardFaults(what: string, arrivals: readonly Arrival[], kills: readonly number[]): string[] {
  if (arrivals.length === 0) return [`${what} never came`]
  const explained = arrivals.slice(0, -1).filter((arrival) => isUnknown(arrival, kills)).length
  if (arrivals.length <= 1 + explained) return []
  const next = arrivals.map(({ at }) => {
    const kill = kills.find((one) => one >= at)
    return kill === undefined ? 'no kill' : `a kill after ${kill - at} ms`
  })
  return [`${what} came ${arrivals.length} times: ${next.join(', ')}`]
}

const orderFaults = (order: ChangeFacts['order']): string[] =>
  order.flatMap(([what, at], place) => {
    const [earlier, before] = order[place - 1] ?? ['', 0]
    return at >= before ? [] : [`${what} came before ${earlier}`]
  })
