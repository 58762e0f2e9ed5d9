import { z } from 'zod'
import { cards, mostJobs } from '../../cards/index.ts'
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
const letter = z.object({ letterId: z.uuid() })

/** Turns the page of the open requests. The card changes in place. */
export const pageQueue = defineCardAction({
  verb: 'admin.queue',
  forAdmins: true,
  data: page,
  handle: (turn, { from }) => showQueue(turn, from),
})

/** Turns the page of the stuck requests. The card changes in place. */
export const pageStuck = defineCardAction({
  verb: 'admin.stuck',
  forAdmins: true,
  data: page,
  handle: (turn, { from }) => showStuck(turn, from),
})

/** `admin queue`: all open requests of the organisation. */
export const adminQueueCommand = defineShowCommand({
  words: 'admin queue',
  forAdmins: true,
  show: (turn) => showQueue(turn),
})

/** `admin stuck`: the stuck requests. */
export const adminStuckCommand = defineShowCommand({
  words: 'admin stuck',
  forAdmins: true,
  show: (turn) => showStuck(turn),
})

/** `admin status REQ-1042`: the same as `status REQ-1042`; alone, the queue. */
export const adminStatusCommand = defineCommand({
  words: 'admin status',
  forAdmins: true,
  argument: z.string().regex(referencePattern),
  handle: (turn, reference) => ifFound(turn, reference, ({ requestId }) => statusOf(turn, requestId)),
  otherwise: async (turn, typed) => (typed === '' ? showQueue(turn) : showNotice(turn, { code: 'noReference' })),
})

/** A page of the open requests of the organisation. */
async function showQueue({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.adminQueue(await core.readQueue(actor), viewer, from) }
}

/** A page of the stuck requests. */
async function showStuck({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  return { card: cards.adminStuck(await core.readStuck(actor), viewer, from) }
}

/** `admin jobs`: the dead letters. */
export const adminJobsCommand = defineShowCommand({ words: 'admin jobs', forAdmins: true, show: showDeadLetters })

/** Shows a dead letter and asks for confirmation to run it again. Shows the list if it is not there any more. */
export const examineDeadLetter = defineCardAction({
  verb: 'admin.examine',
  forAdmins: true,
  data: letter,
  async handle(turn, { letterId }) {
    const deadLetter = await turn.core.readDeadLetter(turn.actor, { letterId }).catch(undefinedIfNotFound)
    return deadLetter ? { card: cards.adminReplay(deadLetter, turn.viewer) } : showDeadLetters(turn)
  },
})

/** Removes a dead letter without running its job. The card becomes the list of the others. */
export const dismissDeadLetter = defineCardAction({
  verb: 'admin.dismiss',
  forAdmins: true,
  data: letter,
  async handle(turn, { letterId }) {
    await turn.core.dismissDeadLetter(turn.actor, { letterId }).catch(undefinedIfNotFound)
    return showDeadLetters(turn)
  },
})

/** Runs the job of a dead letter again. The card becomes the list of the others. */
export const replayDeadLetter = defineCardAction({
  verb: 'admin.replay',
  forAdmins: true,
  data: letter,
  async handle(turn, { letterId }) {
    const { core, actor, viewer } = turn
    // Another admin or an earlier click may have run it: then it is not in the list any more.
    const deadLetter = await core.readDeadLetter(actor, { letterId }).catch(undefinedIfNotFound)
    // If its request has ended, the job can only be dismissed. The card says why.
    if (deadLetter?.isOver) return { card: cards.adminReplay(deadLetter, viewer) }
    await core.replayDeadLetter(actor, { letterId }).catch(undefinedIfNotFound)
    return showDeadLetters(turn)
  },
})

async function showDeadLetters({ core, actor, viewer }: Turn): Promise<Reply> {
  return { card: cards.adminJobs(await core.listDeadLetters(actor, { limit: mostJobs }), viewer) }
}
