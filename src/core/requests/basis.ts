import { z } from 'zod'
import { lastDecision } from '../approvals/index.ts'
import { type Context, isRecord, metadataText } from '../shared/index.ts'
import type { RequestPorts } from './ports.ts'
import { type BasedOn, type DraftBasis, endings, type Request } from './request.ts'

/** The requested values, of a request or of a plan. */
export type Wish = Pick<Request, 'details' | 'reason' | 'typedName'>

/** Compares a wish with the earlier request of the same person. Returns undefined if that request no longer exists. */
export async function comparedWithBasis(
  context: Context<RequestPorts>,
  basis: DraftBasis | undefined,
  wish: Wish,
): Promise<BasedOn | undefined> {
  const earlier = basis && (await requestOfBasis(context, basis))
  if (!earlier) return undefined
  const ended = endOf(earlier)
  return { ...basis, changed: changedInputs(earlier, wish), ...(ended && { ended }) }
}

/** Returns how the earlier request of the same person ended; undefined if it no longer exists. */
export async function endOfBasis(
  context: Context<RequestPorts>,
  basis: DraftBasis | undefined,
): Promise<BasedOn['ended']> {
  const earlier = basis && (await requestOfBasis(context, basis))
  return earlier && endOf(earlier)
}

async function requestOfBasis({ ports, actor }: Context<RequestPorts>, { requestId }: DraftBasis) {
  const earlier = await ports.requests.find(requestId)
  return earlier?.requester.id === actor.id && earlier.tenantId === actor.tenantId ? earlier : undefined
}

function endOf(request: Request): BasedOn['ended'] {
  const status = z.enum(endings).safeParse(request.status).data
  return status && { status, ...quoteOf(request) }
}

/** Returns the person other than the requester who ended a request, and their comment. */
function quoteOf({ status, approvals, cancelledBy, cancelComment, requester }: Request) {
  const decision = status === 'rejected' ? lastDecision(approvals) : undefined
  const by = decision?.by ?? (status === 'cancelled' && cancelledBy?.id !== requester.id ? cancelledBy : undefined)
  const comment = decision?.comment ?? (by ? cancelComment : '')
  return { ...(by && { by }), ...(comment !== '' && { comment }) }
}

/** Returns the input ids in which two wishes differ, as in forms: `owners`, `metadata.costCentre`. */
function changedInputs(before: Wish, after: Wish): string[] {
  const [was, is] = [wishOf(before), wishOf(after)]
  const inputs = new Set([...was.keys(), ...is.keys()])
  return [...inputs].filter((input) => (was.get(input) ?? '') !== (is.get(input) ?? ''))
}

/** Returns a wish by input id. Equal values are equal texts, in any order. */
function wishOf({ details, reason, typedName }: Wish): Map<string, string> {
  const wish = new Map<string, string>()
  // If the naming policy changed the name, the typed name is compared.
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

/** Returns a value as text. An unticked box counts as absent. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(metadataText).toSorted().join('\n')
  if (isRecord(value)) return JSON.stringify(value)
  return value === undefined || value === null || value === false ? '' : String(value)
}
