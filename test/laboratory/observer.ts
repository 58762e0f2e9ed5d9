import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import type { Connector } from '../support/connector.ts'
import type { startSubscriber } from '../support/webhook-subscriber.ts'
import { asking, type CardKind, type History } from './history.ts'
import { requestNumberIn, requestNumbersIn } from './plan.ts'

/** A card that requests a decision, with its chat and activity. */
export interface Question {
  readonly chat: string
  readonly activityId: string
}

/** Records the cards and webhooks that have arrived since the last call. */
export function watchOutside(
  history: History,
  connector: Connector,
  subscriber: Awaited<ReturnType<typeof startSubscriber>>,
) {
  const read = { calls: 0, sent: 0, webhooks: 0 }
  const questions = new Map<number, Question[]>()
  const notified = new Set<number>()

  /** The connector has two lists: the calls contain the times, and the sent activities contain the ids and chats. */
  function observe(): void {
    for (const { method, activity, conversationId: chat, at, misbehaviour } of connector.calls.slice(read.calls)) {
      read.calls += 1
      const arrived = misbehaviour === undefined || misbehaviour.how === 'hold' || misbehaviour.how === 'reset'
      if (!arrived) continue
      const text = textOf((activity['attachments'] as { content?: object }[] | undefined)?.[0]?.content as never)
      const card = cardOf(method, text)
      const first = requestNumberIn(text)
      // A card with several links is the follow-up card of each of its requests.
      const numbers = isOfSeveral.test(text) ? requestNumbersIn(text) : first === undefined ? [] : [first]
      for (const n of numbers) {
        if (card === undefined || (isStatus(card) && notified.has(n))) continue
        if (!isAsking(card) && card !== 'warning') notified.add(n)
        history.note({ event: 'card', at, n, card, chat, ...(misbehaviour && { unheard: true }) })
      }
    }
    for (const { id, conversationId: chat, card } of connector.sent.slice(read.sent)) {
      read.sent += 1
      const text = textOf(card ?? {})
      const n = isAsking(cardOf('POST', text)) ? requestNumberIn(text) : undefined
      if (n !== undefined) questions.set(n, [...(questions.get(n) ?? []), { chat, activityId: id }])
    }
    for (const { headers, body } of subscriber.received.slice(read.webhooks)) {
      read.webhooks += 1
      const { type, requestId } = JSON.parse(body) as { type: string; requestId: string }
      history.note({ event: 'webhook', id: headers['webhook-id'] ?? '', type, requestId })
    }
  }
  return {
    observe,
    /** Returns the card that asks this person to decide this planned request; undefined before it arrives. */
    question(n: number, personId: string): Question | undefined {
      observe()
      return questions.get(n)?.findLast(({ chat }) => chat.endsWith(personId))
    },
    /** Returns whether a person was notified that the request is ready or has expired. */
    isNotified: (n: number): boolean => notified.has(n),
  }
}
export type Outside = ReturnType<typeof watchOutside>

const isOfSeveral = /Several requests ended together/
const isAsking = (card: CardKind | undefined): boolean => asking.some((one) => one === card)
const isStatus = (card: CardKind): boolean => card === 'ready' || card === 'over'

/** Texts that identify a card. A card that requests a decision contains "Expires soon" too. */
const cardTexts: readonly (readonly ['POST' | 'PUT', CardKind, RegExp])[] = [
  ['PUT', 'ready', /All checks passed/],
  ['PUT', 'over', /Nobody decided in time, so nothing was created/],
  ['POST', 'question', /Your decision, please/],
  ['POST', 'reminder', /Still waiting for you/],
  ['POST', 'lastCall', /Expires soon: please decide/],
  ['POST', 'warning', /Expires soon/],
  ['POST', 'expired', /Nobody decided in time, so nothing was created/],
  ['POST', 'followUp', /Your (site|mailbox|room|equipment) is ready|Several requests ended together/],
]
const cardOf = (method: 'POST' | 'PUT', text: string): CardKind | undefined =>
  cardTexts.find(([by, , says]) => by === method && says.test(text))?.[1]

/**
 * Records all objects in the tenant whose names contain the number of a planned request, read from the simulator's own
 * file.
 */
export function noteTenant(history: History, file: string): void {
  const tenant = new DatabaseSync(file, { readOnly: true })
  const rows = (sql: string) => tenant.prepare(sql).all() as Record<string, string | number | null>[]
  try {
    const found = [
      ...rows(`select case unified when 1 then 'unifiedGroup' else 'securityGroup' end as what,
        doc ->> 'displayName' as name, mail_nickname as alias,
        coalesce(extension ->> 'requestId', substr(unique_name, 1, 36)) as mark from groups`),
      ...rows(`select 'site' as what, doc ->> 'title' as name, path as alias,
        (select substr(unique_name, 1, 36) from groups where groups.id = sites.group_id) as mark from sites`),
      ...rows(`select 'mailbox' as what, doc ->> 'displayName' as name, name as alias,
        doc ->> '$.mailbox.CustomAttribute15' as mark from mailboxes`),
    ]
    // A communication site has no mark; its address and title belong to its request alone.
    const ids = new Map(history.events.flatMap((one) => (one.event === 'acknowledged' ? [[one.n, one.requestId]] : [])))
    for (const { what, name, alias, mark } of found) {
      const n = requestNumberIn(`${name} ${alias}`)
      if (n === undefined) continue
      const requestId = what === 'site' ? (mark ?? ids.get(n)) : mark
      history.note({
        event: 'made',
        n,
        what: resource.parse(what),
        name: `${name} (${alias})`,
        requestId: markOf(requestId),
      })
    }
    const resets = rows(`select operation, count(*) as count from calls where fault = 'resetAfterCommit'
      group by operation`)
    for (const { operation, count } of resets)
      history.note({ event: 'reset', operation: String(operation), count: Number(count) })
  } finally {
    tenant.close()
  }
}

const resource = z.enum(['unifiedGroup', 'securityGroup', 'site', 'mailbox'])
const markOf = (mark: unknown): string | null => (typeof mark === 'string' ? mark : null)
