import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { cards, type DecideSeveral, decidesNow } from '../../cards/index.ts'
import { type JointReport, maxJoint, openStage, type Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, input, isRefusal, pageStart, showNotice, undefinedIfNotFound } from '../define.ts'

/** The batch, or `''` for all requests that wait for the person; the page, and the ticks of all pages. */
const data = z.looseObject({
  batchId: z.union([z.uuid(), z.literal('')]).default(''),
  stage: z.coerce.number().int().min(0).default(0),
  from: pageStart,
  of: z.enum(['all', 'ticked']).default('ticked'),
  ticked: input,
  comment,
  decisionId: z.uuid().optional(),
})
type Clicked = z.output<typeof data>

/** Shows several waiting requests at once, another page of them, or the result of a decision. */
export const showSeveral = defineCardAction({
  verb: 'several.show',
  data,
  async handle(turn, click) {
    const { decisionId } = click
    const last = decisionId === undefined ? undefined : await turn.core.readJointDecision(turn.actor, { decisionId })
    return show(turn, click, last ? { last, undecided: await refusedOf(turn, last) } : {})
  },
})

/** Approves all requests of the card, or the ticked ones. */
export const approveSeveral = defineCardAction({
  verb: 'several.approve',
  data,
  handle: (turn, click) => decide(turn, click, 'approved'),
})

/** Rejects all requests of the card, or the ticked ones. Without a comment the card returns and requires one. */
export const rejectSeveral = defineCardAction({
  verb: 'several.reject',
  data,
  handle: (turn, click) => decide(turn, click, 'rejected'),
})

async function decide(turn: Turn, click: Clicked, decision: 'approved' | 'rejected'): Promise<Reply> {
  const { core, actor } = turn
  const { batchId, stage, comment } = click
  const several = await readSeveral(turn, click)
  if (!several) return showNotice(turn, { code: 'outdated' })
  const ticked = tickedOf(click)
  const chosen = click.of === 'all' ? several.waiting : several.waiting.filter(({ number }) => ticked.has(number))
  if (chosen.length === 0) return show(turn, click, several.waiting.length > 0 ? { fault: 'ticks' } : {})
  const items = chosen.slice(0, maxJoint).map(({ requestId, approvals }) => {
    return { requestId, stage: openStage(approvals)?.stage ?? 1 }
  })
  try {
    const about = batchId === '' ? {} : { about: { batchId, stage } }
    const order = { decisionId: randomUUID(), decision, comment, items, ...about }
    const last = await core.decideJointly(actor, order)
    return show(
      turn,
      { ...click, comment: '', from: 0 },
      { last, undecided: await refusedOf(turn, last), ticked: new Set() },
    )
  } catch (error) {
    if (!isRefusal(error, 'comment-required')) throw error
    return show(turn, click, { fault: 'comment' })
  }
}

/** Shows the card with the person's entries, in its present state. */
async function show(turn: Turn, click: Clicked, more: Partial<DecideSeveral>): Promise<Reply> {
  const several = await readSeveral(turn, click)
  if (!several) return showNotice(turn, { code: 'outdated' })
  const { from, comment } = click
  return { card: cards.decideSeveral({ from, ticked: tickedOf(click), comment, ...several, ...more }, turn.viewer) }
}

/** Reads the requests of the card, the oldest first; undefined if the person was never asked about this batch. */
async function readSeveral(
  { core, actor, viewer }: Turn,
  { batchId, stage }: Clicked,
): Promise<DecideSeveral | undefined> {
  const decidable = (requests: readonly Request[]) => requests.filter((request) => decidesNow(request, viewer))
  if (batchId === '') {
    const { requests } = await core.listApprovals(actor, { limit: maxJoint })
    return { waiting: decidable(requests.toReversed()) }
  }
  const question = await core.readBatchQuestion(actor, { batchId, stage })
  if (!question) return undefined
  const { waiting, last, undecided } = question
  return { question, waiting: decidable(waiting), last, undecided }
}

/** Returns the requests that a decision could not decide, for their names. */
async function refusedOf({ core, actor }: Turn, { decision, results }: JointReport): Promise<Request[]> {
  const ids = decision.items.map(({ requestId }) => requestId).filter((id) => typeof results[id] === 'object')
  const read = await Promise.all(
    ids.map((requestId) => core.readRequest(actor, { requestId }).catch(undefinedIfNotFound)),
  )
  return read.filter((request) => request !== undefined)
}

/** Returns the numbers of the ticked requests: on the shown page and on others. */
function tickedOf(click: Clicked): ReadonlySet<number> {
  const shown = Object.entries(click).flatMap(([key, value]) => {
    const number = /^row\.(\d{1,9})$/.exec(key)?.[1]
    return number !== undefined && value === 'true' ? [Number(number)] : []
  })
  const others = click.ticked.split(',').filter((number) => /^\d{1,9}$/.test(number))
  return new Set([...shown, ...others.map(Number)])
}
