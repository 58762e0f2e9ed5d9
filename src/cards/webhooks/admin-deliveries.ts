import { z } from 'zod'
import { type Delivery, inLocale, type KnownDelivery, parsedJson, webhookBody } from '../../core/index.ts'
import { look, looks, marks, plain, rowLook, toFix, toKnow } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { capitalized, cut, longest, moment, quickness, shortName, time, type Viewer } from '../shared/texts.ts'
import {
  answerOf,
  hostOf,
  type ReceiverNames,
  receiverKey,
  standingLooks,
  standingOf,
  subscriberName,
} from './admin-webhooks.ts'

export const deliveriesOfPage = 6
const filters = ['all', 'failed'] as const
export type DeliveriesOf = (typeof filters)[number]

export const adminDeliveriesCard = defineCard({
  name: 'admin-deliveries',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum(filters),
    of: z.enum(filters),
    /** The filters; `''` for all. */
    templateId: z.union([receiverKey, z.literal('')]),
    requestId: z.union([z.uuid(), z.literal('')]),
    about: z.string(),
    isEmpty: z.boolean(),
    deliveries: z.array(
      z.strictObject({
        deliveryId: z.uuid(),
        /** The title of a tap on the row. */
        title: z.string(),
        event: z.string(),
        reference: z.string(),
        to: z.string(),
        look: rowLook,
        last: z.string(),
        when: z.string(),
      }),
    ),
    /** Where the next page begins. */
    after: z.string(),
    hasOlder: z.boolean(),
    /** Whether this is not the first page. */
    isLater: z.boolean(),
    canResend: z.boolean(),
    /** Whether there is room for a button to the list. */
    hasList: z.boolean(),
  }),
})

/** A page of the log and its filters. */
export interface DeliveriesPage {
  readonly of: DeliveriesOf
  /** Only this receiver: its id in buttons, and its template's name. */
  readonly receiver?: { readonly id: string; readonly name: string } | undefined
  readonly request?: { readonly requestId: string; readonly reference: string } | undefined
  readonly deliveries: readonly Delivery[]
  readonly nextCursor?: string | undefined
  readonly isLater: boolean
  readonly names: ReceiverNames
  /** Whether the failed deliveries of this receiver can be sent again. */
  readonly canResend: boolean
}

/** The log of deliveries, newest first. */
export function adminDeliveriesView(
  { of, receiver, request, deliveries, nextCursor = '', isLater, names, canResend }: DeliveriesPage,
  viewer: Viewer,
): ViewOf<typeof adminDeliveriesCard> {
  const isEmpty = deliveries.length === 0
  const named = names.get(receiver?.id ?? '')
  const own = named ? inLocale(named, viewer.locale).name : (receiver?.name ?? '')
  const name = receiver?.id === 'own' ? strings.webhooks.own : own
  const reference = request?.reference ?? ''
  const about = name && reference ? 'both' : name ? 'template' : reference ? 'request' : undefined
  return {
    at: time(viewer),
    look: of === 'failed' ? (isEmpty ? looks.succeeded : toKnow) : plain,
    heading: of,
    of,
    templateId: receiver?.id ?? '',
    requestId: request?.requestId ?? '',
    about: about ? format(strings.webhooks.logAbout[about], { name: cut(name, longest.name), reference }) : '',
    isEmpty,
    deliveries: deliveries.map((one) => ({
      deliveryId: one.deliveryId,
      ...aboutOf(one),
      to: format(strings.webhooks.to, { name: subscriberName(one, names, viewer) }),
      look: standingLooks[standingOf(one)],
      last: triesOf(one),
      when: whenOf(one, viewer),
    })),
    after: nextCursor,
    hasOlder: nextCursor !== '',
    isLater,
    canResend,
    hasList: !canResend && nextCursor === '',
  }
}

function aboutOf(delivery: Delivery) {
  const event = strings.webhooks.event[delivery.type]
  const reference = outlineOf(delivery)?.reference ?? ''
  // The body of another version may not be readable.
  const title = reference === '' ? event : format(strings.webhooks.show, { event, reference })
  return { title, event, reference }
}

function triesOf({ attempts, lastStatus }: Delivery): string {
  const { none, notSent, some } = strings.webhooks.tries
  const answer = answerOf(lastStatus)
  if (attempts === 0) return capitalized(lastStatus === null ? none : format(notSent, { answer }))
  return format(some, { count: attempts, answer })
}

function whenOf({ createdAt, status, attempts, nextAttemptAt }: Delivery, viewer: Viewer): string {
  const at = moment(createdAt, viewer, 'full')
  const isToCome = status === 'pending' && attempts > 0 && nextAttemptAt
  return isToCome
    ? format(strings.webhooks.whenNext, { at, next: moment(nextAttemptAt, viewer, 'full') })
    : format(strings.webhooks.when, { at })
}

/** The data of the message, if it is readable. */
const outlineOf = ({ body }: Delivery) => webhookBody.safeParse(parsedJson(body)).data?.data

const labels = ['name', 'outcome', 'next'] as const
export const adminDeliveryCard = defineCard({
  name: 'admin-delivery',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum(['pending', 'delivered', 'failed', 'still', 'ask']),
    deliveryId: z.uuid(),
    /** The number of resends plus one, so that a second click has another version. */
    version: z.int(),
    templateId: receiverKey,
    event: z.string(),
    reference: z.string(),
    to: z.string(),
    host: z.string(),
    /** The address of the created resource. */
    link: z.string(),
    lead: z.enum(['', 'ask', 'off', 'nowhere', 'again', 'changed']),
    facts: z.array(z.strictObject({ label: z.enum(labels), value: z.string() })),
    hasFacts: z.boolean(),
    hasAttempts: z.boolean(),
    attempts: z.array(z.strictObject({ look: rowLook, says: z.string(), took: z.string(), at: z.string() })),
    /** How many earlier attempts there are, or `''`. */
    older: z.string(),
    replays: z.array(z.strictObject({ says: z.string() })),
    asks: z.boolean(),
    isOff: z.boolean(),
    isPending: z.boolean(),
    canResend: z.boolean(),
  }),
})

/** How many attempts and manual resends have room. */
const most = { attempts: 6, replays: 3 } as const
/** The last action on a delivery, or the action to confirm. */
export type DeliveryNews = '' | 'ask' | 'again' | 'changed'

/** One delivery: its message, its attempts, and who resent it. */
export function adminDeliveryView(
  { delivery, url, receiver }: KnownDelivery,
  names: ReceiverNames,
  news: DeliveryNews,
  viewer: Viewer,
): ViewOf<typeof adminDeliveryCard> {
  const { history = [], replays = [] } = delivery
  const outline = outlineOf(delivery)
  const standing = standingOf(delivery)
  const shown = history.toReversed().slice(0, most.attempts)
  const isOff = url !== undefined && receiver !== undefined && receiver.disabledAt !== null
  const asks = news === 'ask'
  const facts = factsOf(delivery, viewer)
  return {
    at: time(viewer),
    look: asks ? toKnow : headingLooks[standing],
    heading: asks ? 'ask' : standing,
    deliveryId: delivery.deliveryId,
    version: replays.length + 1,
    templateId: delivery.subscriber === 'bot' ? 'own' : delivery.subscriber.templateId,
    event: strings.webhooks.event[delivery.type],
    reference: outlineOf(delivery)?.reference ?? '',
    lead: news === '' && standing !== 'delivered' ? whyStuck(url, isOff) : news,
    to: format(strings.webhooks.to, { name: subscriberName(delivery, names, viewer, longest.title) }),
    // Before a resend: the present address.
    host: hostOf((asks && url) || delivery.url),
    link: cut((outline?.url ?? outline?.address ?? '').replace(/^https:\/\//, ''), longest.address),
    facts,
    hasFacts: facts.length > 0,
    hasAttempts: shown.length > 0,
    attempts: shown.map(({ at, status, milliseconds }) => ({
      look: /^2\d\d$/.test(status) ? marks.good : marks.wrong,
      says: capitalized(answerOf(status)),
      took: quickness(milliseconds),
      at: moment(at, viewer, 'full'),
    })),
    older: restText(strings.webhooks.older, delivery.attempts - shown.length),
    replays: replays
      .slice(-most.replays)
      .toReversed()
      .map(({ at, by }) => ({
        says: format(strings.webhooks.replayed, { name: shortName(by), at: moment(at, viewer, 'full') }),
      })),
    asks,
    isOff,
    isPending: standing === 'pending',
    canResend: standing !== 'pending' && !isOff && url !== undefined,
  }
}

const whyStuck = (url: string | undefined, isOff: boolean) => (url === undefined ? 'nowhere' : isOff ? 'off' : '')

const headingLooks = {
  pending: looks.queued,
  delivered: looks.succeeded,
  failed: looks.failed,
  still: toFix,
} as const

function factsOf(delivery: Delivery, viewer: Viewer) {
  const { status, nextAttemptAt, attempts, lastStatus } = delivery
  const outline = outlineOf(delivery)
  // The attempts show this already.
  const isUntold = lastStatus !== null && (attempts === 0 || standingOf(delivery) === 'still')
  const facts: { label: (typeof labels)[number]; value: string }[] = [
    { label: 'name', value: cut(outline?.displayName ?? '', longest.title) },
    { label: 'outcome', value: isUntold ? capitalized(answerOf(lastStatus)) : '' },
    { label: 'next', value: status === 'pending' && nextAttemptAt ? moment(nextAttemptAt, viewer, 'full') : '' },
  ]
  return facts.filter(({ value }) => value !== '')
}
