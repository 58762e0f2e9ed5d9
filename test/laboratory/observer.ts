import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import type { Connector } from '../support/connector.ts'
import type { startSubscriber } from '../support/webhook-subscriber.ts'
import { asking, type CardKind, type History } from './history.ts'
import { wishIn } from './plan.ts'

/** A card that asks for a decision, where it lies. */
export interface Question {
  readonly chat: string
  readonly activityId: string
}

/** Notes what the chats and the subscriber of webhooks have seen since the last look. */
export function watchOutside(
  history: History,
  connector: Connector,
  subscriber: Awaited<ReturnType<typeof startSubscriber>>,
) {
  const seen = { calls: 0, sent: 0, webhooks: 0 }
  const questions = new Map<number, Question[]>()
  const told = new Set<number>()

  /** Sending and its id come by two lists: the first tells when, the second what lies where. */
  function look(): void {
    for (const { method, activity, conversationId: chat, at, misbehaviour } of connector.calls.slice(seen.calls)) {
      seen.calls += 1
      const arrived = misbehaviour === undefined || misbehaviour.how === 'hold' || misbehaviour.how === 'reset'
      if (!arrived) continue
      const text = textOf((activity['attachments'] as { content?: object }[] | undefined)?.[0]?.content as never)
      const n = wishIn(text)
      const card = n === undefined ? undefined : cardOf(method, text)
      if (n === undefined || card === undefined || (isStatus(card) && told.has(n))) continue
      if (!isAsking(card) && card !== 'warning') told.add(n)
      history.note({ event: 'card', at, n, card, chat, ...(misbehaviour && { unheard: true }) })
    }
    for (const { id, conversationId: chat, card } of connector.sent.slice(seen.sent)) {
      seen.sent += 1
      const text = textOf(card ?? {})
      const n = isAsking(cardOf('POST', text)) ? wishIn(text) : undefined
      if (n !== undefined) questions.set(n, [...(questions.get(n) ?? []), { chat, activityId: id }])
    }
    for (const { headers, body } of subscriber.received.slice(seen.webhooks)) {
      seen.webhooks += 1
      const { type, requestId } = JSON.parse(body) as { type: string; requestId: string }
      history.note({ event: 'webhook', id: headers['webhook-id'] ?? '', type, requestId })
    }
  }
  return {
    look,
    /** The card that asks this person about this wish, if it has come. */
    question(n: number, personId: string): Question | undefined {
      look()
      return questions.get(n)?.findLast(({ chat }) => chat.endsWith(personId))
    },
    /** Whether somebody was told that it is ready, or that nobody decided it in time. */
    isTold: (n: number): boolean => told.has(n),
  }
}
export type Outside = ReturnType<typeof watchOutside>

const isAsking = (card: CardKind | undefined): boolean => asking.some((one) => one === card)
const isStatus = (card: CardKind): boolean => card === 'ready' || card === 'over'

/** What tells a card from the others; one that asks for a decision says "Expires soon" too. */
const sayings: readonly (readonly ['POST' | 'PUT', CardKind, RegExp])[] = [
  ['PUT', 'ready', /All checks passed/],
  ['PUT', 'over', /Nobody decided in time, so nothing was created/],
  ['POST', 'question', /Your decision, please/],
  ['POST', 'reminder', /Still waiting for you/],
  ['POST', 'lastCall', /Expires soon: please decide/],
  ['POST', 'warning', /Expires soon/],
  ['POST', 'expired', /Nobody decided in time, so nothing was created/],
  ['POST', 'followUp', /Your (site|mailbox|room|equipment) is ready/],
]
const cardOf = (method: 'POST' | 'PUT', text: string): CardKind | undefined =>
  sayings.find(([by, , says]) => by === method && says.test(text))?.[1]

/** Notes everything in the tenant that bears the name of a wish, read from the simulator's own file. */
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
    // A communication site bears no mark; its address and its title are its request's alone.
    const ids = new Map(history.events.flatMap((one) => (one.event === 'acknowledged' ? [[one.n, one.requestId]] : [])))
    for (const { what, name, alias, mark } of found) {
      const n = wishIn(`${name} ${alias}`)
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
