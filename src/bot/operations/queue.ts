import { z } from 'zod'
import { cardsFor, maxJobs } from '../../cards/index.ts'
import { referencePattern } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import {
  defineCardAction,
  defineCommand,
  defineShowCommand,
  pageStart,
  showNotice,
  undefinedIfNotFound,
} from '../define.ts'
import { ifFound, statusOf } from '../requests/index.ts'

const page = z.object({ from: pageStart })
const deadLetterReference = z.object({ letterId: z.uuid() })

/** Shows another page of the open requests, on the same card. */
export const pageQueue = defineCardAction({
  verb: 'admin.queue',
  forAdmins: true,
  data: page,
  handle: (turn, { from }) => showQueue(turn, from),
})

/** Shows another page of the stuck requests, on the same card. */
export const pageStuck = defineCardAction({
  verb: 'admin.stuck',
  forAdmins: true,
  data: page,
  handle: (turn, { from }) => showStuck(turn, from),
})

/** `admin queue`: lists all open requests of the organisation. */
export const adminQueueCommand = defineShowCommand({
  name: 'admin queue',
  forAdmins: true,
  show: (turn) => showQueue(turn),
})

export const adminStuckCommand = defineShowCommand({
  name: 'admin stuck',
  forAdmins: true,
  show: (turn) => showStuck(turn),
})

/** `admin status REQ-1042`: the same as `status REQ-1042`; alone, it shows the queue. */
export const adminStatusCommand = defineCommand({
  name: 'admin status',
  forAdmins: true,
  argument: z.string().regex(referencePattern),
  handle: (turn, reference) => ifFound(turn, reference, ({ requestId }) => statusOf(turn, requestId)),
  withoutValidArgument: async (turn, typed) =>
    typed === '' ? showQueue(turn) : showNotice(turn, { code: 'noReference' }),
})

async function showQueue({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cardsFor(viewer).adminQueue(await core.readQueue(actor), viewer, from) }
}

async function showStuck({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cardsFor(viewer).adminStuck(await core.readStuck(actor), viewer, from) }
}

/** `admin jobs`: lists the dead letters. */
export const adminJobsCommand = defineShowCommand({ name: 'admin jobs', forAdmins: true, show: showDeadLetters })

/** Shows a dead letter with a confirmation to retry it. If it no longer exists, shows the list. */
export const examineDeadLetter = defineCardAction({
  verb: 'admin.examine',
  forAdmins: true,
  data: deadLetterReference,
  async handle(turn, { letterId }) {
    const deadLetter = await turn.core.readDeadLetter(turn.actor, { letterId }).catch(undefinedIfNotFound)
    return deadLetter ? { card: cardsFor(turn.viewer).adminReplay(deadLetter, turn.viewer) } : showDeadLetters(turn)
  },
})

/** Dismisses a dead letter without running its job. The card then lists the others. */
export const dismissDeadLetter = defineCardAction({
  verb: 'admin.dismiss',
  forAdmins: true,
  data: deadLetterReference,
  async handle(turn, { letterId }) {
    await turn.core.dismissDeadLetter(turn.actor, { letterId }).catch(undefinedIfNotFound)
    return showDeadLetters(turn)
  },
})

/** Retries the job of a dead letter. The card then lists the others. */
export const replayDeadLetter = defineCardAction({
  verb: 'admin.replay',
  forAdmins: true,
  data: deadLetterReference,
  async handle(turn, { letterId }) {
    const { core, actor, viewer } = turn
    // Another admin or an earlier click may have retried the job. Then the list no longer contains it.
    const deadLetter = await core.readDeadLetter(actor, { letterId }).catch(undefinedIfNotFound)
    // If the request has ended, the job can only be dismissed. The card says why.
    if (deadLetter?.isOver) return { card: cardsFor(viewer).adminReplay(deadLetter, viewer) }
    await core.replayDeadLetter(actor, { letterId }).catch(undefinedIfNotFound)
    return showDeadLetters(turn)
  },
})

async function showDeadLetters({ core, actor, viewer }: Turn): Promise<Reply> {
  return { card: cardsFor(viewer).adminJobs(await core.listDeadLetters(actor, { limit: maxJobs }), viewer) }
}
