import { setTimeout } from 'node:timers/promises'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card, Connector } from '../support/connector.ts'
import { tokenFor } from '../support/service.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { timesOf } from './course.ts'
import type { History, HistoryEvent } from './history.ts'
import type { Outside } from './observer.ts'
import { isSite, type Person, statusCardOf, type Wish } from './plan.ts'
import { insist, longestAnswer, Refusal, restAnswer } from './retrying.ts'

export interface ClientWorld {
  readonly url: string
  readonly simulatorUrl: string
  readonly connector: Connector
  readonly outside: Outside
  readonly history: History
  readonly seed: number
  readonly random: () => number
}

/** What happens before a click that matters, each time it is made. */
type Before = (() => Promise<void>) | undefined

/** The people of a run with what they use: a client of the REST API, and Teams. */
export function createClients(world: ClientWorld) {
  const { url, history, random, seed } = world
  const tokens = new Map<string, Promise<string>>()
  const users = new Map<string, TeamsUser>()
  const tokenOf = (person: Person, area: 'collab' | 'mail') => {
    const key = `${area} ${person.id}`
    const token = tokens.get(key) ?? tokenFor(world.simulatorUrl, person.id, scopes[area])
    tokens.set(key, token)
    return token
  }
  const userOf = (person: Person) => {
    const user = users.get(person.id) ?? new TeamsUser(() => url, world.connector, person)
    users.set(person.id, user)
    return user
  }

  async function call(person: Person, method: string, path: string, more: { key?: string; body?: object } = {}) {
    const { key, body } = more
    const authorization = `Bearer ${await tokenOf(person, path.startsWith('/mail') ? 'mail' : 'collab')}`
    const headers = {
      authorization,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const signal = AbortSignal.timeout(longestAnswer)
    return fetch(`${url}${path}`, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) })
  }

  const get = (person: Person, path: string, n = 0): Promise<Record<string, unknown>> =>
    insist(`GET ${path}`, random, async () => restAnswer(history, n, 200, await call(person, 'GET', path)))

  /** The same key each time, so that the service can tell a repetition from a second wish. */
  async function submitByRest(wish: Wish): Promise<string> {
    const path = isSite(wish.kind) ? '/collab/v1/spo/' : '/mail/v1/mailboxes/'
    const how = { key: `lab-${seed}-${wish.n}`, body: bodyOf(wish) }
    const answer = await insist(`POST ${path}`, random, async () =>
      restAnswer(history, wish.n, 202, await call(wish.requester, 'POST', path, how)),
    )
    return String(answer['requestId'])
  }

  /** One click; a repeated one comes again as the channel's delivery of the same activity, or as a new one. */
  function clicker(person: Person, replyToId: string, verb: string, data: object) {
    const same = crypto.randomUUID()
    return (tries: number) =>
      userOf(person).invokes(replyToId, verb, data, { ...((tries === 0 || random() < 0.3) && { id: same }) })
  }

  /** From the template to the review; whoever is interrupted there begins anew, since nothing was sent yet. */
  async function review(wish: Wish, cardId: string): Promise<{ requestId: string; version: number }> {
    return insist(`the form of ${wish.name}`, random, async () => {
      const form = await clicker(wish.requester, cardId, 'request.choose', { templateId: wish.templateId })(0)
      const asked = dataOf(form.card, 'request.review')
      if (!form.card || !asked) return undefined
      const filled = { ...asked, ...valuesOf(form.card), ...inputsOf(wish) }
      const answer = await clicker(wish.requester, cardId, 'request.review', filled)(0)
      const reviewed = dataOf(answer.card, 'request.submit')
      if (reviewed) return { requestId: String(reviewed['requestId']), version: Number(reviewed['version']) }
      const told = textOf(answer.card ?? {})
      if (/taken/i.test(told)) throw new Refusal(`the form came back: ${told.slice(0, 300)}`)
      return undefined
    })
  }

  async function submitByChat(wish: Wish, before: Before): Promise<string> {
    const cardId = statusCardOf(wish)
    const reviewed = await review(wish, cardId)
    const send = clicker(wish.requester, cardId, 'request.submit', reviewed)
    await insist(`the sending of ${wish.name}`, random, async (tries) => {
      await before?.()
      const { card } = await send(tries)
      if (dataOf(card, 'request.review')) throw new Refusal(`the form came back: ${textOf(card ?? {}).slice(0, 300)}`)
      return card && textOf(card).includes(wish.name) && !dataOf(card, 'request.submit') ? card : undefined
    })
    return reviewed.requestId
  }

  /** Asks for it, until the service says that it has it. `before` comes before each click on Send. */
  async function submit(wish: Wish, before?: Before): Promise<string> {
    const { n, channel, kind, approval, requester } = wish
    history.note({ event: 'asked', n, channel, kind, approval, by: requester.id, ...asksOf(wish) })
    const requestId = await (channel === 'rest' ? submitByRest(wish) : submitByChat(wish, before))
    history.note({ event: 'acknowledged', n, requestId })
    return requestId
  }

  const isDecided = (n: number) => history.events.some((one) => one.event === 'decided' && one.n === n)

  /** Decides once a card that asks for it has come. Nobody is asked any more when somebody else has decided, or it has expired. */
  async function decide(wish: Wish, requestId: string, person: Person, before?: Before): Promise<void> {
    const { n, verdict, decidesBy } = wish
    const question = await insist(`the question about ${wish.name}`, random, async () => {
      return world.outside.question(n, person.id) ?? (isDecided(n) || world.outside.isTold(n) ? 'decided' : undefined)
    })
    if (question === 'decided') return history.note({ event: 'late', n, by: person.id })
    const held = await (decidesBy === 'rest'
      ? decideByRest(wish, requestId, person)
      : decideByChat(wish, requestId, person, question.activityId, before))
    if (held) history.note({ event: 'decided', n, requestId, by: person.id, verdict })
    else history.note({ event: 'late', n, by: person.id })
  }

  async function decideByRest({ n, verdict }: Wish, requestId: string, person: Person): Promise<boolean> {
    const verb = verdict === 'approved' ? 'approve' : 'reject'
    const how = { key: `decide-${seed}-${n}-${person.id}`, body: { comment: 'Of the laboratory.' } }
    return insist(`${verb} by REST`, random, async () => {
      const response = await call(person, 'POST', `/requests/v1/${requestId}/${verb}`, how)
      if (response.status === 409 && /already-(decided|ended)/.test(await response.clone().text())) return false
      return (await restAnswer(history, n, 200, response)) && true
    })
  }

  async function decideByChat(
    wish: Wish,
    requestId: string,
    person: Person,
    activityId: string,
    before: Before,
  ): Promise<boolean> {
    const verb = wish.verdict === 'approved' ? 'approval.approve' : 'approval.reject'
    const click = clicker(person, activityId, verb, { requestId, comment: 'Of the laboratory.' })
    return insist(`${verb} in chat`, random, async (tries) => {
      await before?.()
      const told = textOf((await click(tries)).card ?? {})
      if (/(Approved|Rejected) by you/.test(told)) return true
      return /(Approved|Rejected) by |Nobody decided in time/.test(told) ? false : undefined
    })
  }

  return {
    get,
    submit,
    decide,
    /** Opens everybody's personal chat, so that each of them can be written to. */
    async meet(everybody: readonly Person[]): Promise<void> {
      for (const person of everybody)
        await insist('an installation', random, () =>
          userOf(person)
            .installs()
            .then(() => true),
        )
    },
    /** Somebody is away for the rest of the run, and lets another decide meanwhile. */
    async delegate(person: Person, delegate: Person): Promise<void> {
      const until = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
      const save = clicker(person, `away-${person.id}`, 'delegation.save', { to: delegate.id, until })
      await insist(`the delegation of ${person.name}`, random, async (tries) => {
        const { card } = await save(tries)
        return textOf(card ?? {}).includes(`${delegate.name} decides for you until`) || undefined
      })
    },
    /** Looks at a request now and then, as its requester would, until it has ended. */
    async waitFor({ n, requester }: Wish, requestId: string): Promise<void> {
      await insist(`the end of ${requestId}`, random, async () => {
        const { status } = await get(requester, `/requests/v1/${requestId}`, n)
        if (/^(succeeded|rejected|failed|expired|cancelled)$/.test(String(status))) return true
        await setTimeout(1000)
        return undefined
      })
    },
  }
}
export type Clients = ReturnType<typeof createClients>

/** What a button of the card says with its click. */
const dataOf = (card: Card | undefined, verb: string): Record<string, unknown> | undefined =>
  actionsOf(card ?? {}).find((one) => one.verb === verb)?.data

/** Who is asked, as the history says it. */
function asksOf({ asks, course }: Wish): Pick<Extract<HistoryEvent, { event: 'asked' }>, 'asks'> {
  if (!asks) return {}
  const ids = (people: readonly Person[]) => people.map(({ id }) => id)
  const { approvers, delegates, backups } = asks
  const people = { approvers: ids(approvers), delegates: ids(delegates), backups: ids(backups) }
  return { asks: { ...people, ...(course && { course, times: timesOf[course] }) } }
}

const mailName = ({ name }: Wish): string => name.toLowerCase().replace(' ', '-')

function bodyOf(wish: Wish): object {
  const { name: displayName, kind, templateId } = wish
  if (isSite(kind)) return { displayName, templateId, owners: [people.dana.id] }
  const permissions = { [people.dana.id]: 'FullAccess', [people.omar.id]: 'SendAs' }
  return { name: mailName(wish), displayName, templateId, permissions, reason: 'Of the laboratory.' }
}

function inputsOf(wish: Wish): Record<string, string> {
  const common = { displayName: wish.name, reason: 'Of the laboratory.' }
  if (isSite(wish.kind)) return { ...common, owners: people.dana.id, ...wish.inputs }
  const access = { 'permissions.FullAccess': people.dana.id, 'permissions.SendAs': people.omar.id }
  return { ...common, name: mailName(wish), ...access, ...wish.inputs }
}
