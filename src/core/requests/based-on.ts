import { z } from 'zod'
import { lastDecision } from '../approvals/index.ts'
import type { Context } from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'
import { type BasedOn, type DraftBasis, endings, type Request } from './request.ts'

/** What is asked for, whether it is a request already or still a plan. */
export type Wish = Pick<Request, 'details' | 'reason' | 'typedName'>

/** An earlier request of the same person, beside what is asked for now; undefined when there is no such request (any more). */
export async function comparedWithBasis(
  { ports, actor }: Context<RequestPorts>,
  basis: DraftBasis | undefined,
  asked: Wish,
): Promise<BasedOn | undefined> {
  const earlier = basis && (await ports.requests.find(basis.requestId))
  if (!earlier || earlier.requester.id !== actor.id || earlier.tenantId !== actor.tenantId) return undefined
  const ended = z.enum(endings).safeParse(earlier.status).data
  const changed = changedInputs(earlier, asked)
  return { ...basis, changed, ...(ended && { ended: { status: ended, ...quoteOf(earlier) } }) }
}

/** Who ended it who was not the requester, and what they wrote. */
function quoteOf({ status, approvals, cancelledBy, cancelComment, requester }: Request) {
  const decision = status === 'rejected' ? lastDecision(approvals) : undefined
  const by = decision?.by ?? (status === 'cancelled' && cancelledBy?.id !== requester.id ? cancelledBy : undefined)
  const comment = decision?.comment ?? (by ? cancelComment : '')
  return { ...(by && { by }), ...(comment !== '' && { comment }) }
}

/** Ids of the inputs in which two wishes differ, as the forms name them: `owners`, `metadata.costCentre`. */
export function changedInputs(before: Wish, after: Wish): string[] {
  const [was, is] = [wishOf(before), wishOf(after)]
  const inputs = new Set([...was.keys(), ...is.keys()])
  return [...inputs].filter((input) => (was.get(input) ?? '') !== (is.get(input) ?? ''))
}

/** A wish by its inputs, so that what means the same is the same text, in whatever order it was given. */
function wishOf({ details, reason, typedName }: Wish): Map<string, string> {
  const wish = new Map<string, string>()
  // A name that the naming policy made of another one is compared as it was typed.
  const typed = { ...details, displayName: typedName ?? details.displayName, reason }
  for (const [field, value] of Object.entries(typed)) {
    if (field === 'permissions' && isRecord(value))
      for (const [level, ids] of byLevel(value)) wish.set(`${field}.${level}`, textOf(ids))
    else if (isRecord(value))
      for (const [key, inner] of Object.entries(value)) wish.set(`${field}.${key}`, textOf(inner))
    else wish.set(field, field === 'autoMapping' ? textOf(value === false ? 'off' : '') : textOf(value))
  }
  return wish
}

function byLevel(permissions: Record<string, unknown>): Map<string, string[]> {
  const levels = new Map<string, string[]>()
  for (const [id, level] of Object.entries(permissions))
    levels.set(String(level), [...(levels.get(String(level)) ?? []), id])
  return levels
}

/** A box that nobody ticked is as good as none. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).toSorted().join('\n')
  return value === undefined || value === null || value === false ? '' : String(value)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
