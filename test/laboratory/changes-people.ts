import contoso from '../../src/simulator/tenant/contoso.json' with { type: 'json' }
import { textOf } from '../support/cards.ts'
import type { Card, Connector } from '../support/connector.ts'
import { people as known, scopes, TeamsUser } from '../support/teams-user.ts'
import { control } from '../support/tenant-control.ts'
import type { History } from './history.ts'
import type { Person } from './plan.ts'
import { insist, longestAnswer, restAnswer } from './retrying.ts'

const { sam } = known
export const admin: Person = sam
/** Blocked people and guests have no part. */
const others: readonly Person[] = contoso.people
  .slice(4)
  .filter(
    (one) => !('userType' in one && one.userType === 'Guest') && !('accountEnabled' in one && !one.accountEnabled),
  )
  .map(({ id, displayName: name }) => ({ id, name }))
/** The usual people of the n-th change, all different. */
export const peopleOf = (n: number) => ({
  requester: others[24 + (n % (others.length - 24))] ?? admin,
  first: others[n % 12] ?? admin,
  second: others[12 + (n % 12)] ?? admin,
})

/** Seconds. */
const tokenLife = 86_400

/** The time zone and the locale of a person's client. */
export interface ClientPlace {
  readonly localTimezone: string
  readonly locale: string
}

interface Sources {
  readonly url: string
  readonly simulatorUrl: string
  readonly connector: Connector
  readonly history: History
  readonly random: () => number
}
interface Click<T> {
  readonly replyToId: string
  readonly verb: string
  readonly data: object
  /** Returns the result if the answer is final; undefined to click again. */
  readonly read: (card: Card | undefined, text: string) => T | undefined
  readonly before?: () => Promise<void>
}

/** Creates the clients of all people: REST and Teams. They repeat what gets no answer, as real clients do. */
export function createChangePeople({ url, simulatorUrl, connector, history, random }: Sources) {
  const tokens = new Map<string, Promise<string>>()
  const users = new Map<string, TeamsUser>()
  const places = new Map<string, ClientPlace>()
  const met = new Map<string, Promise<unknown>>()
  const kept = <T>(map: Map<string, T>, key: string, create: () => T): T => {
    const value = map.get(key) ?? create()
    map.set(key, value)
    return value
  }
  const userOf = (person: Person) => kept(users, person.id, () => new TeamsUser(() => url, connector, person))

  /** The clock of the service goes ahead during a run, so its tokens live longer than usual. */
  const tokenOf = (person: Person, area: keyof typeof scopes) =>
    kept(tokens, `${area} ${person.id}`, async () => {
      const wanted = { userId: person.id, scope: scopes[area], lifetime: tokenLife }
      return ((await control(simulatorUrl, 'POST', 'token', wanted)) as { access_token: string }).access_token
    })

  async function call(person: Person, method: string, path: string, more: { key?: string; body?: object } = {}) {
    const { key, body } = more
    const area = path.startsWith('/mail') || path.includes('/batch') ? 'mail' : 'collab'
    const token = await tokenOf(person, area)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const signal = AbortSignal.timeout(longestAnswer)
    return fetch(`${url}${path}`, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) })
  }
  const installs = (person: Person) =>
    insist(`the installation of ${person.name}`, random, async () => {
      const change = { type: 'installationUpdate', action: 'add', ...places.get(person.id) }
      const answer = await userOf(person).post(userOf(person).activity(change))
      return answer.ok || undefined
    })

  return {
    get: (person: Person, path: string): Promise<Record<string, unknown>> =>
      insist(`GET ${path}`, random, async () => restAnswer(history, 0, 200, await call(person, 'GET', path))),
    /** Calls the REST API with the same key until there is an answer. */
    send: (
      person: Person,
      path: string,
      { wanted, ...how }: { wanted: number; key: string; body: object; before?: () => Promise<void> },
    ): Promise<Record<string, unknown>> =>
      insist(
        `POST ${path}`,
        random,
        async () => restAnswer(history, 0, wanted, await call(person, 'POST', path, how)),
        how.before,
      ),
    /** Stores a template, whether an earlier attempt has stored it or not. */
    putTemplate: (id: string, body: object): Promise<true> =>
      insist('a template', random, async () => {
        const token = await tokenOf(admin, 'collab')
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'if-none-match': '*' }
        const init = { method: 'PUT', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(longestAnswer) }
        const { status } = await fetch(`${url}/templates/v1/${id}`, init)
        return status === 200 || status === 201 || status === 412 || undefined
      }),
    /** Opens a person's chat once. */
    meet: (person: Person) => kept(met, person.id, () => installs(person)),
    /** Moves a person's client to another place. */
    async move(person: Person, place: ClientPlace): Promise<void> {
      places.set(person.id, place)
      await installs(person)
    },
    /** Clicks until the answer is final. A repeat is either the same activity again or a new click. */
    click<T>(person: Person, { replyToId, verb, data, read, before }: Click<T>): Promise<T> {
      const same = crypto.randomUUID()
      const attempt = async (tries: number) => {
        const change = { ...places.get(person.id), ...((tries === 0 || random() < 0.4) && { id: same }) }
        const { card, text } = await userOf(person).invokes(replyToId, verb, data, change)
        return read(card, text ?? textOf(card ?? {}))
      }
      return insist(`${verb} by ${person.name}`, random, attempt, before)
    },
    chatOf: (person: Person): string => userOf(person).conversationId,
  }
}
