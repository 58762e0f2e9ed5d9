import {
  type AnswerMeaning,
  type Delivery,
  meaningOf,
  type ReceiverId,
  type Template,
  type WebhookReceiver,
} from '../../core/index.ts'
import { rowLook, rowLooks } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { longest, moment, quantity, type Viewer } from '../shared/words.ts'
import { signed } from '../templates/admin-templates.ts'

const words = strings.webhooks

/** What came of an attempt, in words: "503, it failed inside". */
export function answerOf(said: string | null): string {
  // Of a network's error its code says enough.
  const code = /^not reachable \(([A-Z0-9_]+)\)$/.exec(said ?? '')?.[1]
  const meaning: AnswerMeaning = meaningOf(said)
  return format(words.answer[meaning], { said: code ?? said ?? '' })
}

/** What stands in a button for whom a webhook goes to; `own`: the bot's own subscription. */
export const buttonIdOf = (subscriber: ReceiverId): string => (subscriber === 'bot' ? 'own' : subscriber.templateId)

/** The name of a template as its sign has it; that of the bot's own subscription. */
export const receiverName = (template: Pick<Template, 'icon' | 'name'> | undefined, most: number): string =>
  template === undefined ? words.own : signed(template, most)

/** Of an address only its host is shown: what follows it may hold a key. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** How a receiver does, as a sentence. */
export function stateOf({ state, endpoint, last, counts }: WebhookReceiver, viewer: Viewer): string {
  const { failingSince, disabledAt, reason, waitsUntil } = endpoint
  const at = (moments: string | null) => (moments === null ? '' : moment(moments, viewer, 'full'))
  if (state === 'off') return format(reason === 'gone' ? words.state.gone : words.state.dead, { at: at(disabledAt) })
  if (state === 'waits') return format(words.state.waits, { at: at(waitsUntil) })
  if (state === 'failing') return format(words.state.failing, { at: at(failingSince) })
  return last === undefined && counts.pending === 0 ? words.state.unused : words.state.well
}

/** What to do about it; `''` where it does well. */
export function hintOf({ state, subscriber }: WebhookReceiver): string {
  if (state === 'well') return ''
  if (state === 'off') return words.hint.switchOn
  return subscriber === 'bot' ? words.hint.own : words.hint.retries
}

export const countsOf = ({ delivered, failed, pending }: WebhookReceiver['counts'], sentence: string): string =>
  format(sentence, { delivered: quantity(delivered), failed: quantity(failed), pending: quantity(pending) })

/** The mark of a row, without the weight that tells what is now in a progress. */
export const plainLook = ({ mark, color }: (typeof rowLooks)[keyof typeof rowLooks]) =>
  rowLook.parse({ mark, color, now: false, later: false })

/** How a delivery stands: what stands still needs somebody. */
export function standingOf({ status, nextAttemptAt }: Delivery): 'pending' | 'delivered' | 'failed' | 'still' {
  return status === 'pending' && nextAttemptAt === null ? 'still' : status
}
export const standingLooks = {
  pending: plainLook(rowLooks.now),
  delivered: plainLook(rowLooks.done),
  failed: plainLook(rowLooks.failed),
  still: plainLook(rowLooks.failed),
} as const

/** The templates' names, for the log, which knows their ids. */
export type ReceiverNames = ReadonlyMap<string, Pick<Template, 'icon' | 'name'>>
export function subscriberName(
  { subscriber, url }: Delivery,
  names: ReceiverNames,
  most: number = longest.name,
): string {
  if (subscriber === 'bot') return words.own
  const template = names.get(subscriber.templateId)
  return template ? signed(template, most) : hostOf(url)
}
