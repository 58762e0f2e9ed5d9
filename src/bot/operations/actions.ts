import { z } from 'zod'
import { cards, mostJobs } from '../../cards/index.ts'
import { type ErrorCode, ProvisioningError, type Request, type RequestState, transitions } from '../../core/index.ts'
import type { Turn } from '../channel/turn.ts'
import { comment, defineCardAction, letterId, requestId } from '../define-card-action.ts'
import { statusOf } from '../requests/actions.ts'

/** Whether a request can still be cancelled. The core checks it again. */
export function isCancellable({ status }: Request): boolean {
  const moves: readonly RequestState[] = transitions[status]
  return moves.includes('cancelled')
}

/** Retries a failed request. The card becomes the status card. */
export const retryAsAdmin = defineCardAction({
  verb: 'admin.retry',
  forAdmins: true,
  data: z.object({ requestId }),
  handle: (turn, { requestId }) =>
    statusAfter(turn, requestId, ['queued', 'provisioning', 'succeeded'], () =>
      turn.core.retryRequest(turn.actor, { requestId }),
    ),
})

/** Cancels a person's request. The card returns if the comment for the requester is missing. */
export const cancelAsAdmin = defineCardAction({
  verb: 'admin.cancel',
  forAdmins: true,
  data: z.object({ requestId, comment }),
  async handle(turn, { requestId, comment }) {
    const { core, actor, viewer } = turn
    const request = await core.readRequest(actor, { requestId })
    if (comment !== '' || !isCancellable(request))
      return statusAfter(turn, requestId, ['cancelled'], () => core.cancelRequest(actor, { requestId, comment }))
    return { card: cards.adminConfirm({ verb: 'admin.cancel', request, comment, commentMissing: true }, viewer) }
  },
})

/** Shows a dead letter, and asks before it runs again; the list if another admin was faster. */
export const examineAsAdmin = defineCardAction({
  verb: 'admin.examine',
  forAdmins: true,
  data: z.object({ letterId }),
  async handle({ core, actor, viewer }, { letterId }) {
    const one = await core.readDeadLetter(actor, { letterId }).catch(unlessGone)
    return one ? { card: cards.adminReplay(one, viewer) } : jobsLeft({ core, actor, viewer })
  },
})

/** Takes a given-up job off the list; the card becomes the list of those that are left. */
export const dismissAsAdmin = defineCardAction({
  verb: 'admin.dismiss',
  forAdmins: true,
  data: z.object({ letterId }),
  async handle(turn, { letterId }) {
    await turn.core.dismissDeadLetter(turn.actor, { letterId }).catch(unlessGone)
    return jobsLeft(turn)
  },
})

/** Runs a given-up job again; the card becomes the list of those that are left. */
export const replayAsAdmin = defineCardAction({
  verb: 'admin.replay',
  forAdmins: true,
  data: z.object({ letterId }),
  async handle(turn, { letterId }) {
    // Somebody else, or an earlier click, may have run it: then the list says so by not having it.
    const { core, actor, viewer } = turn
    const one = await core.readDeadLetter(actor, { letterId }).catch(unlessGone)
    // What is over can only be dismissed: the card says why.
    if (one?.isOver) return { card: cards.adminReplay(one, viewer) }
    await core.replayDeadLetter(actor, { letterId }).catch(unlessGone)
    return jobsLeft(turn)
  },
})

/** The list of what was given up, as the chat shows it. */
export async function jobsLeft({ core, actor, viewer }: Pick<Turn, 'core' | 'actor' | 'viewer'>) {
  const given = await core.listDeadLetters(actor, { limit: mostJobs })
  return { card: cards.adminJobs(given, viewer) }
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ProvisioningError && error.code === 'not-found')) throw error
}

/** The request's status after a click. A second click shows the result of the first. */
async function statusAfter(
  turn: Turn,
  requestId: string,
  wanted: readonly RequestState[],
  act: () => Promise<unknown>,
): ReturnType<typeof statusOf> {
  try {
    await act()
  } catch (error) {
    const late = error instanceof ProvisioningError && lateCodes.includes(error.code)
    const request = late ? await turn.core.readRequest(turn.actor, { requestId }) : undefined
    if (!request || !wanted.includes(request.status)) throw error
  }
  return statusOf(turn, requestId)
}

const lateCodes: readonly ErrorCode[] = ['already-ended', 'illegal-transition']

/** Reads the certificate's file again; the card becomes the health card with the result. */
export const readCertificateAsAdmin = defineCardAction({
  verb: 'admin.certificate',
  forAdmins: true,
  data: z.object({}),
  async handle({ core, actor, viewer }) {
    const { reading, report } = await core.readCertificate(actor)
    return { card: cards.adminHealth(report, viewer, reading) }
  },
})
