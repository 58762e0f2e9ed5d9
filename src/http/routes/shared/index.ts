/** Parts that routes of several capabilities share: pages of a list, and one request as the answer. */
import { z } from 'zod'
import {
  authorize,
  type FieldWarning,
  type Permission,
  type Request,
  type RequestView,
  requestView,
  viewFor,
} from '../../../core/index.ts'
import type { ActorScope } from '../../server/define-route.ts'
import type { ApiTexts } from '../../server/problem.ts'

/** The query of a list (DESIGN §5, "Lists"): the length of a page, and the `nextCursor` of the previous page. */
export const paging = {
  limit: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(25),
  cursor: z.string().min(1).max(200).optional(),
}

export const listOf = <S extends z.ZodType>(entry: S) =>
  z.strictObject({ value: z.array(entry), nextCursor: z.string().optional() })

export const ofOneRequest = z.object({
  requestId: z.uuid().toLowerCase().describe('The id of the request, or its reference, such as `REQ-1042`.'),
})

/** The answer of all calls that return one request. */
export const showing = { description: 'The request as it is now.', body: requestView, headers: ['ETag'] } as const

type Viewing = Pick<ActorScope, 'actor' | 'services'>

/** Returns the warnings of a request with their texts. */
export const warningsWithTexts = (warnings: readonly FieldWarning[], texts: Pick<ApiTexts, 'reason'>) =>
  warnings.map(({ reason, ...warning }) => ({ ...warning, detail: texts.reason(reason) }))

/** Returns a request as the caller may see it. */
export function bodyOf(request: Request, { actor, services }: Viewing): RequestView {
  const view = viewFor(request, actor)
  return 'warnings' in view ? { ...view, warnings: warningsWithTexts(view.warnings, services.texts) } : view
}

/** Returns a request as an answer. Its version, which each change increments, is the ETag. */
export const shown = (request: Request, scope: Viewing) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: bodyOf(request, scope) }) as const

/** For routes about one request: throws unless the caller may see the request and has this permission for it now. */
export const mayStill =
  (permission: Permission) =>
  async ({ actor, core }: ActorScope, { requestId }: z.output<typeof ofOneRequest>): Promise<void> =>
    authorize(actor, permission, await core.readRequest(actor, { requestId }))
