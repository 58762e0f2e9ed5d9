import { isAdminStill, reached } from '../decisions/index.ts'
import { erasureNotice, readRetentionNotice } from '../privacy/index.ts'

import { isDirectoryAway, noticeSubject, type SystemContext } from '../shared/index.ts'
import { batchCardOf, batchReached, batchUndelivered, isBatchContent, newBatchContent } from './batch-cards.ts'
import {
  bundledIn,
  fillBundle,
  nameInLine,
  refreshBundled,
  refuseBundle,
  requestsOfBundle,
  waitingNotice,
} from './bundles.ts'
import type { Card } from './card.ts'
import { readDigestNotice } from './digest.ts'
import { readHealthNotice } from './health-watch.ts'
import type { NoticeContent } from './outbox.ts'
import type { NoticeOrder, NotificationPorts } from './ports.ts'

/**
 * A notice, which `job` sends. A person without a chat gets no notice, without an error. An approver gets the app for a
 * question about a batch.
 */
export function noticeOf(context: SystemContext<NotificationPorts>, order: NoticeOrder, job: string | undefined): Card {
  const { ports } = context
  const { notices } = ports
  const { kind } = noticeSubject(order.notice)
  let sent: NoticeContent | undefined
  return {
    tenantId: order.tenantId,
    name: order.notice,
    sent: () => notices.find(order),
    async claim(_, content) {
      if (kind === 'links') return claimBundle(context, order, job)
      return (await notices.claim(order, job)) ? content : undefined
    },
    takeOver: (change) => notices.takeOver(order, { ...change, to: job }),
    release: () => notices.release(order, job),
    async keep(_, result) {
      const ofBatch = result.state === 'sent' && sent && isBatchContent(sent) ? sent : undefined
      await notices.put(
        order,
        result.state,
        ofBatch && result.state === 'sent' ? batchCardOf(ofBatch, result.activityId) : undefined,
      )
      if (ofBatch) return batchReached(context, ofBatch, order.personId)
      const bundled = await requestsOfBundle(context, await bundledIn(context, order))
      if (kind === 'waiting') for (const request of bundled) await reached(context, request, order.personId)
      else await ports.jobs.enqueue(refreshBundled(bundled, order.personId))
    },
    async refused(conversation, { why, closed }) {
      await batchUndelivered(context, order, conversation, { why, closed })
      await refuseBundle(context, conversation, await bundledIn(context, order), { why, closed })
      if (conversation.closed !== undefined) return
      // A later job asks the person again, when the chat accepts cards.
      await (isAboutBatch(kind) ? notices.release(order, job) : notices.put(order, 'unknown'))
      if (closed) await ports.conversations.close(conversation, why, ports.clock.now())
    },
    async content() {
      sent = (await mayHaveNotice(context, order)) ? await noticeContent(context, order) : undefined
      return sent
    },
    installs: kind === 'batch-ask',
    isAllowed: async () => true,
    wasSent: async () => undefined,
    async place() {
      const bundled = await bundledIn(context, order)
      if (bundled.length === 0) return { rank: kind === 'batch-ask' || kind === 'batch-end' ? 'first' : 'new' }
      return { rank: 'first', instead: bundled.map(({ requestId, key }) => nameInLine(requestId, key)) }
    },
    isReplaced: async () => false,
    updateInstead: async () => false,
  }
}

const isAboutBatch = (kind: string): boolean => ['batch', 'batch-end', 'batch-ask'].includes(kind)

/** The present content of a notice; undefined: it is out of date. */
async function noticeContent(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
): Promise<NoticeContent | undefined> {
  const { ports } = context
  const subject = noticeSubject(order.notice)
  switch (subject.kind) {
    case 'health':
      return readHealthNotice(ports, order, subject)
    case 'retention':
      return readRetentionNotice(context, subject.startsAt)
    case 'erased':
      return erasureNotice(context, order, subject)
    case 'digest':
      return readDigestNotice(context, order, subject.day)
    case 'links':
      return linksNotice(context, order)
    case 'waiting':
      return waitingNotice(context, order)
    case 'batch':
    case 'batch-end':
    case 'batch-ask':
      return newBatchContent(context, order, subject)
  }
}

/** Claims the card of a bundle, and returns its links with those that are due now. */
async function claimBundle(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
  job: string | undefined,
): Promise<NoticeContent | undefined> {
  const { notices, work } = context.ports
  const isClaimed = await work.transaction(async () => {
    if (!(await notices.claim(order, job))) return false
    await fillBundle(context, order)
    return true
  })
  if (!isClaimed) return undefined
  const links = await linksNotice(context, order)
  if (!links) await notices.release(order, job)
  return links
}

/** The links of a bundle; undefined: all its requests were erased. */
async function linksNotice(
  context: SystemContext<NotificationPorts>,
  order: NoticeOrder,
): Promise<NoticeContent | undefined> {
  const requests = await requestsOfBundle(context, await bundledIn(context, order))
  return requests.length === 0 ? undefined : { kind: 'links', requests }
}

/**
 * Whether a person may have a notice: health and erasures are for admins; all others check this themselves. Known admins get
 * health alerts also while the directory does not answer, because that may be the trouble.
 */
async function mayHaveNotice(
  context: SystemContext<NotificationPorts>,
  { personId, notice }: NoticeOrder,
): Promise<boolean> {
  const { kind } = noticeSubject(notice)
  if (kind !== 'health' && kind !== 'erased') return true
  return isAdminStill(context, personId).catch((error: unknown) => {
    if (kind === 'health' && isDirectoryAway(error)) return true
    throw error
  })
}
