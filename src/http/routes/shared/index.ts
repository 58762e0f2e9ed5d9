/** Parts that routes of several capabilities share: pages of a list, and one request as the answer. */
import { z } from 'zod'
import { type Actor, authorize, type Permission, type Request, requestView, viewFor } from '../../../core/index.ts'
import type { ActorScope } from '../../server/define-route.ts'

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

/** Returns a request as an answer. Its version, which each change increments, is the ETag. */
export const shown = (request: Request, actor: Actor) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: viewFor(request, actor) }) as const

/** For routes about one request: throws unless the caller may see the request and has this permission for it now. */
export const mayStill =
  (permission: Permission) =>
  async ({ actor, core }: ActorScope, { requestId }: z.output<typeof ofOneRequest>): Promise<void> =>
    authorize(actor, permission, await core.readRequest(actor, { requestId }))
