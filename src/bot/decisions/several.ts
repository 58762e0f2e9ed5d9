import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { cardsFor, type DecideSeveral, decidesNow, readTicks, tickOf } from '../../cards/index.ts'
import { type JointReport, maxJoint, type Request } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { comment, defineCardAction, input, isRefusal, pageStart, showNotice, undefinedIfNotFound } from '../define.ts'

/** The batch, or `''` for all requests that wait for the person; the page, and the ticks on all pages. */
const data = z.looseObject({
  batchId: z.union([z.uuid(), z.literal('')]).default(''),
  stage: z.coerce.number().int().min(0).default(0),
  from: pageStart,
  of: z.enum(['all', 'ticked']).default('ticked'),
  ticked: input,
  /** The ticks of all requests that the card lists, on all pages. */
  listed: input,
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
  const items = await chosenItems(turn, click, several.waiting)
  if (items.length === 0) return show(turn, click, several.waiting.length > 0 ? { fault: 'ticks' } : {})
  try {
    const about = batchId === '' ? {} : { about: { batchId, stage } }
    const order = { decisionId: randomUUID(), decision, comment, items, ...about }
    const last = await core.decideJointly(actor, order)
    const more = arrivedLater(click, several.waiting)
    const decided = several.waiting.filter(({ requestId }) => items.some((item) => item.requestId === requestId))
    const undecided = await refusedOf(turn, last)
    const result = { last, undecided, decided, more, ticked: new Set<string>() }
    return show(turn, { ...click, comment: '', from: 0 }, result)
  } catch (error) {
    if (!isRefusal(error, 'comment-required')) throw error
    return show(turn, click, { fault: 'comment', more: arrivedLater(click, several.waiting) })
  }
}

/**
 * Returns the requests that the person decides: the ticked ones, or all of the card. Requests that arrived later are not
 * decided: the person has not seen them. Includes rows of the card that no longer wait, so that the result names them.
 */
async function chosenItems({ core, actor }: Turn, click: Clicked, waiting: readonly Request[]) {
  const onCard = click.of === 'all' ? new Set([...readTicks(click.listed), ...shownOf(click)]) : tickedOf(click)
  const byTick = new Map(waiting.map((request) => [tickOf(request), request]))
  const now = [...onCard].filter((tick) => byTick.has(tick))
  const former = [...onCard].filter((tick) => !byTick.has(tick))
  const read = await Promise.all(
    former.slice(0, maxJoint).map(async (tick) => {
      const [number = '', stage] = tick.split('.')
      const request = await core.readRequestByReference(actor, { reference: number }).catch(undefinedIfNotFound)
      return request ? [{ requestId: request.requestId, stage: Number(stage) }] : []
    }),
  )
  const current = now.flatMap((tick) => {
    const requestId = byTick.get(tick)?.requestId
    return requestId === undefined ? [] : [{ requestId, stage: Number(tick.split('.')[1]) }]
  })
  const items = [...current, ...read.flat()]
  return [...new Map(items.map((item) => [item.requestId, item])).values()].slice(0, maxJoint)
}

/** Returns the number of waiting requests that the clicked card did not list. */
function arrivedLater(click: Clicked, waiting: readonly Request[]): number {
  const known = new Set([...readTicks(click.listed), ...shownOf(click)])
  return known.size === 0 ? 0 : waiting.filter((request) => !known.has(tickOf(request))).length
}

/** Shows the card with the person's entries, in its present state. */
async function show(turn: Turn, click: Clicked, more: Partial<DecideSeveral>): Promise<Reply> {
  const several = await readSeveral(turn, click)
  if (!several) return showNotice(turn, { code: 'outdated' })
  const { from, comment } = click
  return {
    card: cardsFor(turn.viewer).decideSeveral(
      { from, ticked: tickedOf(click), comment, ...several, ...more },
      turn.viewer,
    ),
  }
}

/** Reads the requests of the card, the oldest first; undefined if the person was never asked about this batch. */
async function readSeveral(
  { core, actor, viewer }: Turn,
  { batchId, stage }: Clicked,
): Promise<DecideSeveral | undefined> {
  const decidable = (requests: readonly Request[]) => requests.filter((request) => decidesNow(request, viewer))
  if (batchId === '') {
    const { requests, newer } = await core.pageOfApprovals(actor, { limit: maxJoint })
    return { waiting: decidable(requests), newer }
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

const tickPattern = /^\d{1,9}\.[1-9]\d?$/

/** Returns the ticks of the rows on the shown page, whether they are set or not. */
const shownOf = (click: Clicked): ReadonlySet<string> => new Set(rowsOf(click).map(({ tick }) => tick))

/** Returns the ticks that are set: on the shown page and on others. */
function tickedOf(click: Clicked): ReadonlySet<string> {
  const shown = rowsOf(click).flatMap(({ tick, isSet }) => (isSet ? [tick] : []))
  return new Set([...shown, ...click.ticked.split(',').filter((tick) => tickPattern.test(tick))])
}

const rowsOf = (click: Clicked) =>
  Object.entries(click).flatMap(([key, value]) => {
    const tick = key.startsWith('row.') ? key.slice('row.'.length) : ''
    return tickPattern.test(tick) ? [{ tick, isSet: value === 'true' }] : []
  })
