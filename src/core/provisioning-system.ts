import { z } from 'zod'
import { type BatchAttempt, giveUpBatch, runBatch } from './batches/index.ts'
import { realignAll, tendStage, withdrawClicked } from './decisions/index.ts'
import { noteAddresses } from './naming/index.ts'
import {
  type CardOrder,
  catchUp,
  deliverCard,
  isClosed,
  meet,
  notifyAdmins,
  type Outbox,
  orderDigests,
  refreshCards,
} from './notifications/index.ts'
import type { Ports } from './ports.ts'
import { erasePerson, openExport, previewExport, reduceOld } from './privacy/index.ts'
import { completeByWebhook, giveUp, lookWhetherThere, provision, type Run, watch } from './provisioning/index.ts'
import { type Conversation, type Deciding, noteRefused } from './requests/index.ts'
import type { JobPayload, Settings } from './shared/index.ts'

/** What jobs and webhooks call. They act for the system, so they take no actor. */
export function createSystem(ports: Ports, settings: Settings) {
  return {
    provision: (requestId: string, run: Run) => provision({ ports, settings }, requestId, run),
    lookWhetherThere: (requestId: string, look: number) => lookWhetherThere({ ports, settings }, requestId, look),
    completeByWebhook: (requestId: string, url: string) => completeByWebhook({ ports, settings }, requestId, url),
    deliverCard: (outbox: Outbox, order: CardOrder, attempt: number) =>
      deliverCard({ ports, settings }, outbox, order, attempt),
    refreshCards: (outbox: Outbox, order: Parameters<typeof refreshCards>[3]) =>
      refreshCards({ ports, settings }, outbox, order),
    /** A click on a card whose person has lost the right that it needed: says which, and updates the card no more. */
    withdrawClicked: (clicked: Parameters<typeof withdrawClicked>[2]) => withdrawClicked({ ports, settings }, clicked),
    tendApproval: (order: JobPayload<'tend-approval'>) => tendStage({ ports, settings }, order),
    runBatch: (order: JobPayload<'run-batch'>, attempt: BatchAttempt) => runBatch({ ports, settings }, order, attempt),
    giveUpBatch: (batchId: string) => giveUpBatch(ports, batchId),
    realignApprovals: (of: { tenantId: string; personId: string }) => realignAll({ ports, settings }, of),
    /**
     * Somebody of our tenant who is let into nothing tried to decide. What they named is theirs to choose, and may be
     * anything; of another tenant's people nothing is written.
     */
    async noteRefused(who: { tenantId: string; id: string }, requestId: unknown, tried: Deciding): Promise<void> {
      const id = z.uuid().safeParse(requestId).data
      if (id !== undefined && who.tenantId === settings.tenantId)
        await noteRefused(ports, { id: who.id }, id.toLowerCase(), tried, 'forbidden')
    },
    watch: (underWay: readonly string[], lookedAfter: readonly string[]) =>
      watch({ ports, settings }, underWay, lookedAfter),
    /** The present versions of requests, to know which have changed; of what they are it tells nothing. */
    versions: (requestIds: readonly string[]) => ports.requests.versions(requestIds),
    giveUp: (requestId: string) => giveUp({ ports, settings }, requestId),
    notifyAdmins: (about: Parameters<typeof notifyAdmins>[2]) => notifyAdmins({ ports, settings }, about),
    /** What a link to an export will give. People who have the link need nothing else. */
    previewExport: (token: string) => previewExport({ ports, settings }, token),
    /** Uses the link up and gives its file. */
    openExport: (token: string) => openExport({ ports, settings }, token),
    /** Removes the details of what ended long ago; ends early when it is told to. */
    reduceOld: (stopping: AbortSignal) => reduceOld({ ports, settings }, stopping),
    /** Notes which addresses are in use, once a day; ends early when it is told to. */
    noteAddresses: (stopping: AbortSignal) => noteAddresses({ ports, settings }, stopping),
    erasePerson: (order: JobPayload<'erase-person'>) => erasePerson(ports, order),
    /** Orders the summaries whose hour has come. */
    orderDigests: () => orderDigests({ ports, settings }),
    meet: (conversation: Conversation, installed = false) => meet(ports, conversation, installed),
    isClosed: (tenantId: string, personId: string) => isClosed(ports, tenantId, personId),
    catchUp: (person: { tenantId: string; id: string }) => catchUp(ports, person),
  }
}
