import { type CardJson, cards, withdrawnCode } from '../cards/index.ts'
import {
  attentionOf,
  type CardKey,
  type Conversation,
  everAsked,
  isForApprover,
  type LostRight,
  type NoticeContent,
  type Outbox,
  type Request,
  referenceOf,
} from '../core/index.ts'
import type { CardSender } from './card-sender.ts'

/** What admins are told of receivers of webhooks. */
const webhookNotices = [
  { prefix: 'webhook:undelivered:', code: 'webhookUndelivered' },
  { prefix: 'webhook:own:', code: 'webhookOwn' },
  { prefix: 'webhook:gone:', code: 'webhookGone' },
  { prefix: 'webhook:failing:', code: 'webhookFailing' },
] as const

/** The core's outbox: which card a key means, from the request's present state and for the person who sees it. */
export function createOutbox(
  sender: CardSender,
  facts: { now: () => Date; siteRoot: string; outlookRoot: string },
): Outbox {
  const { siteRoot, outlookRoot } = facts
  const cardFor = (conversation: Conversation, request: Request, key: CardKey): CardJson => {
    const { personId: id, locale, timeZone } = conversation
    const isAdmin = seesAsAdmin(id, request, key)
    const viewer = { id, locale, timeZone, now: facts.now(), siteRoot, outlookRoot, isAdmin }
    const attention = key.startsWith('stuck:') ? attentionOf(request, viewer.now) : undefined
    if (attention)
      return cards.adminStuck({ count: 1, entries: [{ request, since: attention.since, attention }] }, viewer)
    if (key === 'outcome:succeeded') return cards.ready(request, viewer)
    const ofWebhook = webhookNotices.find(({ prefix }) => key.startsWith(prefix))
    if (ofWebhook) {
      const about = { reference: referenceOf(request), by: request.template.name }
      return cards.notice({ code: ofWebhook.code, ...about }, viewer)
    }
    // A warning is the status card, which says by itself that the end is near.
    if (!isForApprover(key)) return cards.requestStatus(request, viewer)
    return cards.approvalNow(request, viewer, Number(key.split(':')[1]))
  }
  const noticeFor = ({ personId: id, locale, timeZone }: Conversation, notice: NoticeContent): CardJson => {
    const viewer = { id, locale, timeZone, now: facts.now(), siteRoot, outlookRoot, isAdmin: true }
    if (notice.kind === 'erased') return cards.adminErase({ ...notice, step: 'done' }, viewer)
    if (notice.kind === 'health') return cards.healthTurned(notice, viewer)
    if (notice.kind === 'digest')
      return cards.digest(notice.digest, notice.standing, { ...viewer, isAdmin: notice.isAdmin })
    const { erasure } = notice
    return cards.adminErase({ step: erasure.isBlocked ? 'blocked' : 'confirm', erasure }, viewer)
  }
  const withdrawnFor = ({ personId: id, locale, timeZone }: Conversation, lost: LostRight): CardJson =>
    cards.notice({ code: withdrawnCode[lost] }, { id, locale, timeZone, now: facts.now(), siteRoot, outlookRoot })
  return {
    tell: (conversation, notice, what) => sender.send(conversation, noticeFor(conversation, notice), what),
    send: (conversation, request, key) =>
      sender.send(conversation, cardFor(conversation, request, key), `${request.requestId} ${key}`),
    withdraw: (conversation, activityId, lost, what) =>
      sender.update(conversation, activityId, withdrawnFor(conversation, lost), what),
    update: (conversation, activityId, request, key) =>
      sender.update(conversation, activityId, cardFor(conversation, request, key), `${request.requestId} ${key}`),
  }
}

/**
 * Whether somebody has a card because they are an admin. Of an end only admins are told beside the requester; and who
 * has a status card without being anything to the request could ask for it only as an admin.
 */
function seesAsAdmin(id: string, { requester, approvals }: Request, key: CardKey): boolean {
  if (key.startsWith('stuck:')) return true
  if (id === requester.id || isForApprover(key)) return false
  const isApprover = everAsked(approvals).some((one) => one.id === id)
  return key.startsWith('outcome:') || !isApprover
}
