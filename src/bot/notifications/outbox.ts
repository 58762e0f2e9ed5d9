import { type CardJson, cardsFor, type Viewer, withdrawnCode } from '../../cards/index.ts'
import { type CardContent, type Conversation, type Outbox, referenceOf } from '../../core/index.ts'
import type { CardSender } from '../channel/card-sender.ts'

/** The notices for admins about webhook receivers. */
const webhookNotices = {
  undelivered: 'webhookUndelivered',
  own: 'webhookOwn',
  gone: 'webhookGone',
  failing: 'webhookFailing',
} as const

/** Creates the core's outbox, which renders a card for the person who gets it. */
export function createOutbox(
  sender: CardSender,
  facts: { now: () => Date; siteRoot: string; otherSiteOrigins?: readonly string[]; outlookRoot: string },
): Outbox {
  const { siteRoot, otherSiteOrigins = [], outlookRoot } = facts
  const render = ({ personId: id, locale, timeZone }: Conversation, content: CardContent): CardJson =>
    cardOf(content, {
      id,
      locale,
      timeZone,
      now: facts.now(),
      isAdmin: isForAdmin(content),
      siteRoot,
      otherSiteOrigins,
      outlookRoot,
    })
  return {
    send: (conversation, content, name, place) => sender.send(conversation, render(conversation, content), name, place),
    update: (conversation, activityId, content, name) =>
      sender.update(conversation, activityId, render(conversation, content), name, content.kind === 'moved'),
  }
}

/** Kinds of cards that are the same for admins and other people. */
const forEverybody: ReadonlySet<CardContent['kind']> = new Set(['withdrawn', 'links', 'moved', 'waiting'])

/**
 * Whether the reader of a card is an admin. Cards about requests and digests say so; all other notices are for admins
 * only.
 */
function isForAdmin(content: CardContent): boolean {
  if ('isAdmin' in content) return content.isAdmin
  return !forEverybody.has(content.kind)
}

function cardOf(content: CardContent, viewer: Viewer): CardJson {
  const cards = cardsFor(viewer)
  switch (content.kind) {
    case 'status':
      return cards.requestStatus(content.request, viewer)
    case 'ready':
      return cards.ready(content.request, viewer, content.helpers)
    case 'approval':
      return cards.approvalNow(content.request, viewer, content.stage, content.facts)
    case 'stuck': {
      const { request, attention } = content
      return cards.adminStuck({ count: 1, entries: [{ request, since: attention.since, attention }] }, viewer)
    }
    case 'webhook': {
      const about = { reference: referenceOf(content.request), by: content.request.template.name }
      return cards.notice({ code: webhookNotices[content.event], ...about }, viewer)
    }
    case 'moved':
      return cards.moved(content.request, content.form)
    case 'withdrawn':
      return cards.notice({ code: withdrawnCode[content.lost] }, viewer)
    case 'health':
      return cards.healthTurned(content, viewer)
    case 'retention': {
      const { startsAt: at, days, count } = content
      return cards.notice({ code: 'retentionStarts', at, days, count }, viewer)
    }
    case 'erased':
      return cards.adminErase({ ...content, step: 'done' }, viewer)
    case 'not-erased': {
      const { erasure } = content
      return cards.adminErase({ step: erasure.isBlocked ? 'blocked' : 'confirm', erasure }, viewer)
    }
    case 'batch-ask': {
      const { question } = content
      const { waiting, last, undecided } = question
      return cards.decideSeveral({ question, waiting, last, undecided }, viewer)
    }
    case 'batch':
    case 'batch-end':
      return cards.batch({ progress: content.progress, isSummary: content.kind === 'batch-end' }, viewer)
    case 'links':
      return cards.links(content.requests, viewer)
    case 'waiting':
      return cards.approvals(content.page, viewer)
    case 'digest':
      return cards.digest(content.digest, content.setting, viewer)
  }
}
