import { setTimeout } from 'node:timers/promises'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card, Connector } from '../support/connector.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { timesOf } from './course.ts'
import type { History, HistoryEvent } from './history.ts'
import type { Outside } from './observer.ts'
import { isSite, type Person, type PlannedRequest, statusCardOf } from './plan.ts'
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

/** Runs before each attempt of a click that matters. */
type Before = (() => Promise<void>) | undefined

/** Creates the clients of the people of a run: REST and Teams. */
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

  /**
   * Submits by REST. Uses the same key each time, so that the service can distinguish a repeat from a second request.
   */
  async function submitByRest(planned: PlannedRequest): Promise<string> {
    const path = isSite(planned.kind) ? '/collab/v1/spo/' : '/mail/v1/mailboxes/'
    const how = { key: `lab-${seed}-${planned.n}`, body: bodyOf(planned) }
    const answer = await insist(`POST ${path}`, random, async () =>
      restAnswer(history, planned.n, 202, await call(planned.requester, 'POST', path, how)),
    )
    return String(answer['requestId'])
  }

  /**
   * Returns a function that clicks. A repeated click is either a repeated delivery of the same activity or a new
   * activity.
   */
  function clicker(person: Person, replyToId: string, verb: string, data: object) {
    const same = crypto.randomUUID()
    return (tries: number) =>
      userOf(person).invokes(replyToId, verb, data, { ...((tries === 0 || random() < 0.3) && { id: same }) })
  }

  /** Fills in the form up to the review. After an interruption it starts again, because nothing was submitted yet. */
  async function review(planned: PlannedRequest, cardId: string): Promise<{ requestId: string; version: number }> {
    return insist(`the form of ${planned.name}`, random, async () => {
      const form = await clicker(planned.requester, cardId, 'request.choose', { templateId: planned.templateId })(0)
      const formData = dataOf(form.card, 'request.review')
      if (!form.card || !formData) return undefined
      const filled = { ...formData, ...valuesOf(form.card), ...inputsOf(planned) }
      const answer = await clicker(planned.requester, cardId, 'request.review', filled)(0)
      const reviewed = dataOf(answer.card, 'request.submit')
      if (reviewed) return { requestId: String(reviewed['requestId']), version: Number(reviewed['version']) }
      const text = textOf(answer.card ?? {})
      if (/taken/i.test(text)) throw new Refusal(`the form came back: ${text.slice(0, 300)}`)
      return undefined
    })
  }

  async function submitByChat(planned: PlannedRequest, before: Before): Promise<string> {
    const cardId = statusCardOf(planned)
    const reviewed = await review(planned, cardId)
    const send = clicker(planned.requester, cardId, 'request.submit', reviewed)
    const attempt = async (tries: number) => {
      const { card } = await send(tries)
      if (dataOf(card, 'request.review')) throw new Refusal(`the form came back: ${textOf(card ?? {}).slice(0, 300)}`)
      return card && textOf(card).includes(planned.name) && !dataOf(card, 'request.submit') ? card : undefined
    }
    await insist(`the sending of ${planned.name}`, random, attempt, before)
    return reviewed.requestId
  }

  /** Submits the request until the service acknowledges it. `before` runs before each click on Send. */
  async function submit(planned: PlannedRequest, before?: Before): Promise<string> {
    const { n, channel, kind, approval, requester } = planned
    history.note({ event: 'submitted', n, channel, kind, approval, by: requester.id, ...asksOf(planned) })
    const requestId = await (channel === 'rest' ? submitByRest(planned) : submitByChat(planned, before))
    history.note({ event: 'acknowledged', n, requestId })
    return requestId
  }

  const isDecided = (n: number) => history.events.some((one) => one.event === 'decided' && one.n === n)

  /**
   * Decides once the person's card has arrived. The card never arrives if another person has decided or the request has
   * expired.
   */
  async function decide(planned: PlannedRequest, requestId: string, person: Person, before?: Before): Promise<void> {
    const { n, verdict, decidesBy } = planned
    const question = await insist(`the question about ${planned.name}`, random, async () => {
      return (
        world.outside.question(n, person.id) ?? (isDecided(n) || world.outside.isNotified(n) ? 'decided' : undefined)
      )
    })
    if (question === 'decided') return history.note({ event: 'late', n, by: person.id })
    const held = await (decidesBy === 'rest'
      ? decideByRest(planned, requestId, person)
      : decideByChat(planned, requestId, person, question.activityId, before))
    if (held) history.note({ event: 'decided', n, requestId, by: person.id, verdict })
    else history.note({ event: 'late', n, by: person.id })
  }

  async function decideByRest({ n, verdict }: PlannedRequest, requestId: string, person: Person): Promise<boolean> {
    const verb = verdict === 'approved' ? 'approve' : 'reject'
    const how = { key: `decide-${seed}-${n}-${person.id}`, body: { comment: 'Of the laboratory.' } }
    return insist(`${verb} by REST`, random, async () => {
      const response = await call(person, 'POST', `/requests/v1/${requestId}/${verb}`, how)
      if (response.status === 409 && /already-(decided|ended)/.test(await response.clone().text())) return false
      return (await restAnswer(history, n, 200, response)) && true
    })
  }

  async function decideByChat(
    planned: PlannedRequest,
    requestId: string,
    person: Person,
    activityId: string,
    before: Before,
  ): Promise<boolean> {
    const verb = planned.verdict === 'approved' ? 'approval.approve' : 'approval.reject'
    const click = clicker(person, activityId, verb, { requestId, comment: 'Of the laboratory.' })
    const attempt = async (tries: number) => {
      const text = textOf((await click(tries)).card ?? {})
      if (/(Approved|Rejected) by you/.test(text)) return true
      return /(Approved|Rejected) by |Nobody decided in time/.test(text) ? false : undefined
    }
    return insist(`${verb} in chat`, random, attempt, before)
  }

  return {
    get,
    submit,
    decide,
    /** Opens everybody's personal chat, so that the bot can send messages to them. */
    async meet(everybody: readonly Person[]): Promise<void> {
      for (const person of everybody)
        await insist('an installation', random, () =>
          userOf(person)
            .installs()
            .then(() => true),
        )
    },
    /** Delegates a person's decisions for the rest of the run. */
    async delegate(person: Person, delegate: Person): Promise<void> {
      const until = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
      const save = clicker(person, `away-${person.id}`, 'delegation.save', { to: delegate.id, until })
      await insist(`the delegation of ${person.name}`, random, async (tries) => {
        const { card } = await save(tries)
        return textOf(card ?? {}).includes(`${delegate.name} can also decide for you until`) || undefined
      })
    },
    /** Polls a request, as its requester would, until the request has ended. */
    async waitFor({ n, requester }: PlannedRequest, requestId: string): Promise<void> {
      await insist(`the end of ${requestId}`, random, async () => {
        const { status } = await get(requester, `/requests/v1/${requestId}`, n)
        if (/^(succeeded|rejected|failed|expired|cancelled)$/.test(String(status))) return true
        await setTimeout(1000)
        return undefined
      })
    },
  }
}

/** Returns the data that a button of the card sends with its click. */
const dataOf = (card: Card | undefined, verb: string): Record<string, unknown> | undefined =>
  actionsOf(card ?? {}).find((one) => one.verb === verb)?.data

/** Returns the people who are asked, in the format of the history. */
function asksOf({ asks, course }: PlannedRequest): Pick<Extract<HistoryEvent, { event: 'submitted' }>, 'asks'> {
  if (!asks) return {}
  const ids = (people: readonly Person[]) => people.map(({ id }) => id)
  const { approvers, delegates, backups } = asks
  const people = { approvers: ids(approvers), delegates: ids(delegates), backups: ids(backups) }
  return { asks: { ...people, ...(course && { course, times: timesOf[course] }) } }
}

const mailName = ({ name }: PlannedRequest): string => name.toLowerCase().replace(' ', '-')

function bodyOf(planned: PlannedRequest): object {
  const { name: displayName, kind, templateId } = planned
  if (isSite(kind)) return { displayName, templateId, owners: [people.dana.id] }
  const permissions = { [people.dana.id]: 'FullAccess', [people.omar.id]: 'SendAs' }
  return { name: mailName(planned), displayName, templateId, permissions, reason: 'Of the laboratory.' }
}

function inputsOf(planned: PlannedRequest): Record<string, string> {
  const common = { displayName: planned.name, reason: 'Of the laboratory.' }
  if (isSite(planned.kind)) return { ...common, owners: people.dana.id, ...planned.inputs }
  const access = { 'permissions.FullAccess': people.dana.id, 'permissions.SendAs': people.omar.id }
  return { ...common, name: mailName(planned), ...access, ...planned.inputs }
}
