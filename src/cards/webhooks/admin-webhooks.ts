import { z } from 'zod'
import {
  mostFailedCounted,
  mostReplayed,
  type ReceiverPage,
  type WebhookReceiver,
  type WebhookTestResult,
} from '../../core/index.ts'
import { rangeText } from '../shared/admin-pages.ts'
import { defineCard } from '../shared/define-card.ts'
import { look, looks, plain, rowLook, rowLooks, toFix, toKnow } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { longest, moment, quantity, quickness, time, type Viewer } from '../shared/words.ts'
import { answerOf, buttonIdOf, countsOf, hintOf, hostOf, plainLook, receiverName, stateOf } from './webhook-words.ts'

/** A template's id; `own`: the bot's own subscription. */
export const receiverKey = z.union([z.uuid(), z.literal('own')])
/** So many have room with their buttons. */
export const receiversOfPage = 4

export const adminWebhooksCard = defineCard({
  name: 'admin-webhooks',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.string(),
    range: z.string(),
    previous: z.int(),
    hasPrevious: z.boolean(),
    next: z.int(),
    hasNext: z.boolean(),
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
    /** No template has one yet: the card says how to come by one. */
    onlyOwn: z.boolean(),
  }),
})

const words = strings.webhooks

/** Who is told of requests and how they do, those that need somebody first. There must be one. */
export function adminWebhooksView(
  { receivers, from, total, troubled }: ReceiverPage,
  viewer: Viewer,
): Parameters<typeof adminWebhooksCard.render>[0] {
  const to = from + receivers.length
  return {
    at: time(viewer),
    look: troubled === 0 ? looks.succeeded : toKnow,
    heading:
      troubled === 0 ? format(words.band.well, { count: total }) : format(words.band.troubled, { count: troubled }),
    range: rangeText(from, to, total),
    previous: Math.max(0, from - receiversOfPage),
    hasPrevious: from > 0,
    next: to,
    hasNext: to < total,
    receivers: receivers.map((one) => ({
      templateId: buttonIdOf(one.subscriber),
      name: receiverName(one.template, longest.name),
      host: hostOf(one.url),
      look: lookOf(one),
      state: stateOf(one, viewer),
      hint: hintOf(one),
      counts: countsOf(one.counts, words.counts),
      last: one.last
        ? format(words.last, { at: moment(one.last.at, viewer, 'full'), answer: answerOf(one.last.status) })
        : '',
      isOff: one.state === 'off',
    })),
    onlyOwn: total === 1 && receivers.every(({ subscriber }) => subscriber === 'bot'),
  }
}

function lookOf({ state, last }: WebhookReceiver) {
  if (state === 'off') return plainLook(rowLooks.failed)
  if (state !== 'well') return rowLook.parse({ mark: '!', color: 'Attention', now: false, later: false })
  return plainLook(last === undefined ? rowLooks.never : rowLooks.done)
}

const labels = ['state', 'counts', 'last'] as const
export const adminWebhookCard = defineCard({
  name: 'admin-webhook',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum(['show', 'taken', 'notTaken', 'slow', 'askOn', 'askResend', 'isOn', 'resent']),
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
    /** Of all that could be done only what comes next: more has no room on a phone. */
    hasTest: z.boolean(),
    hasLog: z.boolean(),
    hasList: z.boolean(),
  }),
})

/** What was just done with a receiver, or is asked before it is. `failed`: how much has failed for good. */
export type WebhookNews =
  /** `slow`: it was tried, and has not answered yet. */
  | { readonly kind: 'show' | 'slow' | 'askOn' | 'isOn' }
  | { readonly kind: 'askResend' }
  | { readonly kind: 'tested'; readonly result: WebhookTestResult }
  | { readonly kind: 'resent'; readonly sent: number }

/** One receiver: how it does, and what was done or is asked. */
export function adminWebhookView(
  receiver: WebhookReceiver,
  failed: number,
  news: WebhookNews,
  viewer: Viewer,
): Parameters<typeof adminWebhookCard.render>[0] {
  const { counts, last, url, state } = receiver
  const isOff = state === 'off'
  const canResend = failed > 0 && !isOff
  const asks = news.kind === 'askOn' ? 'on' : news.kind === 'askResend' ? 'resend' : ''
  const latest = last && format(words.lastShort, { at: moment(last.at, viewer, 'full'), answer: answerOf(last.status) })
  return {
    at: time(viewer),
    ...heading(news),
    templateId: buttonIdOf(receiver.subscriber),
    version: 1,
    name: receiverName(receiver.template, longest.title),
    host: hostOf(url),
    lead: lead(news, failed),
    hint: news.kind === 'askResend' && state === 'failing' ? words.lead.stillFails : hint(receiver, news),
    facts: [
      { label: 'state', value: stateOf(receiver, viewer) },
      { label: 'counts', value: countsOf(counts, words.countsShort) },
      ...(latest ? [{ label: 'last' as const, value: latest }] : []),
    ],
    asks,
    isOff,
    canResend,
    ...nextOf(news, isOff || canResend),
  }
}

/** Beside what sends again or switches on, one button; without that two. `isMended`: there is such a button. */
function nextOf({ kind }: WebhookNews, isMended: boolean) {
  const isDone = kind === 'isOn' || kind === 'resent'
  return {
    hasTest: kind !== 'askResend' && kind !== 'resent' && !(kind === 'isOn' && !isMended),
    hasLog: kind === 'resent' || (kind === 'isOn' && !isMended) || (kind === 'show' && !isMended),
    hasList: !isMended && (isDone || kind === 'tested' || kind === 'slow'),
  }
}

function hint(receiver: WebhookReceiver, news: WebhookNews): string {
  if (news.kind === 'tested' && news.result.meaning === 'gone' && receiver.state !== 'off') return words.hint.gone
  return news.kind === 'show' || news.kind === 'tested' ? hintOf(receiver) : ''
}

function heading(news: WebhookNews) {
  if (news.kind === 'tested')
    return news.result.delivered
      ? ({ look: looks.succeeded, heading: 'taken' } as const)
      : ({ look: toFix, heading: 'notTaken' } as const)
  if (news.kind === 'isOn' || news.kind === 'resent') return { look: looks.succeeded, heading: news.kind }
  return { look: news.kind === 'show' ? plain : toKnow, heading: news.kind }
}

function lead(news: WebhookNews, failed: number): string {
  const { tested, unsent, slow, askOn, isOn } = words.lead
  if (news.kind === 'tested') {
    const { status, milliseconds } = news.result
    const isSent = !status.startsWith('not sent')
    return format(isSent ? tested : unsent, { answer: answerOf(status), took: quickness(milliseconds) })
  }
  if (news.kind === 'askResend' || news.kind === 'resent') return resendLead(news, failed)
  return { slow, askOn, isOn, show: '' }[news.kind]
}

function resendLead(news: Extract<WebhookNews, { kind: 'askResend' | 'resent' }>, failed: number): string {
  const { askResend, askResendSome, resent, resentNone, left } = words.lead
  const count = failed >= mostFailedCounted ? `${quantity(mostFailedCounted)}+` : quantity(failed)
  if (news.kind === 'askResend')
    return format(failed > mostReplayed ? askResendSome : askResend, { count, most: quantity(mostReplayed) })
  if (news.sent === 0 && failed === 0) return resentNone
  const sent = format(resent, { count: news.sent })
  return failed === 0 ? sent : `${sent} ${format(left, { count })}`
}
