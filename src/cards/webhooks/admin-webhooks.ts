import { z } from 'zod'
import {
  type AnswerMeaning,
  type Delivery,
  inLocale,
  maxFailedCounted,
  maxReplayed,
  meaningOf,
  type ReceiverId,
  type ReceiverPage,
  type Template,
  type WebhookReceiver,
  type WebhookTestResult,
} from '../../core/index.ts'
import { look, looks, marks, plain, rowLook, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { paged, pagesAround } from '../shared/paging.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { bound, capitalized, longest, moment, quantity, quickness, time, type Viewer } from '../shared/texts.ts'
import { signed } from '../templates/admin-templates.ts'

/** The result of an attempt: "503, an error in the receiver". */
export function answerOf(status: string | null): string {
  // The code of a network error is enough.
  const code = /^not reachable \(([A-Z0-9_]+)\)$/.exec(status ?? '')?.[1]
  const meaning: AnswerMeaning = meaningOf(status)
  const said = code ?? (meaning === 'unreachable' ? 'none' : (status ?? ''))
  return format(strings.webhooks.answer[meaning], { said })
}

/** The id of a receiver in buttons; `own`: the bot's own subscription. */
const buttonIdOf = (subscriber: ReceiverId): string => (subscriber === 'bot' ? 'own' : subscriber.templateId)

/** The name of the receiver's template, or of the bot's own subscription. */
const receiverName = (template: Template | undefined, { locale }: Viewer, most: number): string =>
  template === undefined ? strings.webhooks.own : signed(inLocale(template, locale), most)

/** The host of an address: the rest may contain a key. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** The status of a receiver as a sentence. */
export function stateOf({ state, endpoint, last, counts }: WebhookReceiver, viewer: Viewer): string {
  const { failingSince, disabledAt, reason, waitsUntil } = endpoint
  const at = (moments: string | null) => (moments === null ? '' : moment(moments, viewer, 'full'))
  if (state === 'off')
    return format(reason === 'gone' ? strings.webhooks.state.gone : strings.webhooks.state.dead, { at: at(disabledAt) })
  if (state === 'waits')
    return format(strings.webhooks.state.waits, {
      at: waitsUntil === null ? '' : bound('until', waitsUntil, viewer, 'full'),
    })
  if (state === 'failing') return format(strings.webhooks.state.failing, { at: at(failingSince) })
  return last === undefined && counts.pending === 0 ? strings.webhooks.state.unused : strings.webhooks.state.well
}

/** How to fix a receiver; `''` for a healthy one. */
function hintOf({ state, subscriber }: WebhookReceiver): string {
  if (state === 'well') return ''
  if (state === 'off') return strings.webhooks.hint.switchOn
  return subscriber === 'bot' ? strings.webhooks.hint.own : strings.webhooks.hint.retries
}

export const countsOf = ({ delivered, failed, pending }: WebhookReceiver['counts'], sentence: string): string =>
  format(sentence, { delivered: quantity(delivered), failed: quantity(failed), pending: quantity(pending) })

/** The status of a delivery. `still`: it will not be sent again. */
export function standingOf({ status, nextAttemptAt }: Delivery): 'pending' | 'delivered' | 'failed' | 'still' {
  return status === 'pending' && nextAttemptAt === null ? 'still' : status
}
export const standingLooks = {
  pending: marks.busy,
  delivered: marks.good,
  failed: marks.wrong,
  still: marks.wrong,
} as const

/** The templates' names, for the log, which knows their ids. */
export type ReceiverNames = ReadonlyMap<string, Template>
export function subscriberName(
  { subscriber, url }: Delivery,
  names: ReceiverNames,
  { locale }: Viewer,
  most: number = longest.name,
): string {
  if (subscriber === 'bot') return strings.webhooks.own
  const template = names.get(subscriber.templateId)
  return template ? signed(inLocale(template, locale), most) : hostOf(url)
}

/** A template's id; `own`: the bot's own subscription. */
export const receiverKey = z.union([z.uuid(), z.literal('own')])
export const receiversOfPage = 4

export const adminWebhooksCard = defineCard({
  name: 'admin-webhooks',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.string(),
    ...paged,
    receivers: z
      .array(
        z.strictObject({
          templateId: receiverKey,
          name: z.string(),
          host: z.string(),
          look: rowLook,
          state: z.string(),
          hint: z.string(),
          counts: z.string(),
          last: z.string(),
          isOff: z.boolean(),
        }),
      )
      .min(1),
    /** No template has a webhook yet: the card explains how to add one. */
    onlyOwn: z.boolean(),
  }),
})

/** The receivers of webhooks and their status, failing ones first. There must be at least one. */
export function adminWebhooksView(
  { receivers, from, total, troubled }: ReceiverPage,
  viewer: Viewer,
): ViewOf<typeof adminWebhooksCard> {
  return {
    at: time(viewer),
    look: troubled === 0 ? looks.succeeded : toKnow,
    heading:
      troubled === 0
        ? format(strings.webhooks.band.well, { count: total })
        : format(strings.webhooks.band.troubled, { count: troubled }),
    ...pagesAround(from, receivers.length, total, receiversOfPage),
    receivers: receivers.map((one) => ({
      templateId: buttonIdOf(one.subscriber),
      name: receiverName(one.template, viewer, longest.name),
      host: hostOf(one.url),
      look: lookOf(one),
      state: stateOf(one, viewer),
      hint: hintOf(one),
      counts: countsOf(one.counts, strings.webhooks.counts),
      last: one.last
        ? format(strings.webhooks.last, { at: moment(one.last.at, viewer, 'full'), answer: answerOf(one.last.status) })
        : '',
      isOff: one.state === 'off',
    })),
    onlyOwn: total === 1 && receivers.every(({ subscriber }) => subscriber === 'bot'),
  }
}

function lookOf({ state, last }: WebhookReceiver) {
  if (state === 'off') return marks.wrong
  if (state !== 'well') return marks.attention
  return last === undefined ? marks.ended : marks.good
}

const labels = ['state', 'counts', 'last'] as const
export const adminWebhookCard = defineCard({
  name: 'admin-webhook',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum([
      'show',
      'taken',
      'notTaken',
      'notSent',
      'slow',
      'askOn',
      'askResend',
      'isOn',
      'resent',
      'sentNow',
    ]),
    templateId: receiverKey,
    /** A confirmation carries it, so that a click without one only asks. */
    version: z.int(),
    name: z.string(),
    host: z.string(),
    lead: z.string(),
    hint: z.string(),
    facts: z.array(z.strictObject({ label: z.enum(labels), value: z.string() })),
    asks: z.enum(['', 'on', 'resend']),
    isOff: z.boolean(),
    canResend: z.boolean(),
    canSendWaiting: z.boolean(),
    /** The next actions; a phone has no room for all. */
    hasTest: z.boolean(),
    hasLog: z.boolean(),
    hasList: z.boolean(),
  }),
})

/** The last action on a receiver, or the action to confirm. */
export type WebhookNews =
  /** `slow`: the test has no response yet. */
  | { readonly kind: 'show' | 'slow' | 'askOn' | 'isOn' }
  | { readonly kind: 'askResend' }
  | { readonly kind: 'tested'; readonly result: WebhookTestResult }
  | { readonly kind: 'resent' | 'sentNow'; readonly sent: number }

/**
 * One receiver: its status, and the last action or the action to confirm. `failed`: the number of its deliveries that failed
 * for good.
 */
export function adminWebhookView(
  receiver: WebhookReceiver,
  failed: number,
  news: WebhookNews,
  viewer: Viewer,
): ViewOf<typeof adminWebhookCard> {
  const { counts, last, url, state } = receiver
  const isOff = state === 'off'
  const canResend = failed > 0 && !isOff
  // A phone has no room for both buttons. Failed deliveries that arrive bring the waiting ones with them.
  const canSendWaiting = !isOff && !canResend && state !== 'well' && counts.pending > 0
  const asks = news.kind === 'askOn' ? 'on' : news.kind === 'askResend' ? 'resend' : ''
  const latest =
    last &&
    capitalized(
      format(strings.webhooks.lastShort, { at: moment(last.at, viewer, 'full'), answer: answerOf(last.status) }),
    )
  return {
    at: time(viewer),
    ...heading(news),
    templateId: buttonIdOf(receiver.subscriber),
    version: 1,
    name: receiverName(receiver.template, viewer, longest.title),
    host: hostOf(url),
    lead: lead(news, failed),
    hint: news.kind === 'askResend' && state === 'failing' ? strings.webhooks.lead.stillFails : hint(receiver, news),
    facts: [
      { label: 'state', value: stateOf(receiver, viewer) },
      { label: 'counts', value: countsOf(counts, strings.webhooks.countsShort) },
      ...(latest ? [{ label: 'last' as const, value: latest }] : []),
    ],
    asks,
    isOff,
    canResend,
    canSendWaiting: canSendWaiting && news.kind !== 'sentNow' && news.kind !== 'isOn',
    ...nextOf(news, isOff || canResend || canSendWaiting),
  }
}

/** One more button next to the one that resends or enables, else two. `hasFix`: the card has such a button. */
function nextOf({ kind }: WebhookNews, hasFix: boolean) {
  const isDone = kind === 'isOn' || kind === 'resent' || kind === 'sentNow'
  return {
    hasTest: kind !== 'askResend' && kind !== 'resent' && !(kind === 'isOn' && !hasFix),
    hasLog: kind === 'resent' || (kind === 'isOn' && !hasFix) || (kind === 'show' && !hasFix),
    hasList: !hasFix && (isDone || kind === 'tested' || kind === 'slow'),
  }
}

function hint(receiver: WebhookReceiver, news: WebhookNews): string {
  if (news.kind === 'tested' && news.result.meaning === 'gone' && receiver.state !== 'off')
    return strings.webhooks.hint.gone
  return news.kind === 'show' || news.kind === 'tested' ? hintOf(receiver) : ''
}

function heading(news: WebhookNews) {
  if (news.kind === 'tested')
    return news.result.delivered
      ? ({ look: looks.succeeded, heading: 'taken' } as const)
      : ({ look: toFix, heading: isSent(news.result) ? 'notTaken' : 'notSent' } as const)
  if (news.kind === 'sentNow' && news.sent === 0) return { look: plain, heading: 'show' } as const
  if (news.kind === 'isOn' || news.kind === 'resent' || news.kind === 'sentNow')
    return { look: looks.succeeded, heading: news.kind }
  return { look: news.kind === 'show' ? plain : toKnow, heading: news.kind }
}

const isSent = ({ status }: WebhookTestResult): boolean => !status.startsWith('not sent')

function lead(news: WebhookNews, failed: number): string {
  const { tested, unsent, slow, askOn, isOn } = strings.webhooks.lead
  if (news.kind === 'tested') {
    const { status, milliseconds } = news.result
    return format(isSent(news.result) ? tested : unsent, { answer: answerOf(status), took: quickness(milliseconds) })
  }
  if (news.kind === 'sentNow')
    return news.sent === 0
      ? strings.webhooks.lead.nothingWaits
      : format(strings.webhooks.lead.sentNow, { count: news.sent })
  if (news.kind === 'askResend') return resendLead(news, failed)
  if (news.kind === 'resent') return resendLead({ kind: news.kind, sent: news.sent }, failed)
  return { slow, askOn, isOn, show: '' }[news.kind]
}

function resendLead(
  news: Extract<WebhookNews, { kind: 'askResend' }> | { readonly kind: 'resent'; readonly sent: number },
  failed: number,
): string {
  const { askResend, askResendSome, resent, resentNone, left } = strings.webhooks.lead
  const count = failed >= maxFailedCounted ? `${quantity(maxFailedCounted)}+` : quantity(failed)
  if (news.kind === 'askResend')
    return format(failed > maxReplayed ? askResendSome : askResend, { count, most: quantity(maxReplayed) })
  if (news.sent === 0 && failed === 0) return resentNone
  const sent = format(resent, { count: news.sent })
  return failed === 0 ? sent : `${sent} ${format(left, { count })}`
}
