/** What routes of several capabilities share: pages of a list, one request as the answer, and the bot's endpoint. */
import { z } from 'zod'
import { type Actor, authorize, type Permission, type Request, requestView, viewFor } from '../../../core/index.ts'
import type { ActorScope } from '../../server/define-route.ts'

/** Which part of a list is asked for (DESIGN §5, "Lists"): how many, and the `nextCursor` of the page before. */
export const paging = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, { error: 'a whole number from 1 to 100' })
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(25),
  cursor: z.string().min(1).max(200).optional(),
}

/** A page of a list; `nextCursor` is there when there are more. */
export const listOf = <S extends z.ZodType>(entry: S) =>
  z.strictObject({ value: z.array(entry), nextCursor: z.string().optional() })

/** The address of one request. */
export const ofOneRequest = z.object({ requestId: z.uuid().toLowerCase() })

/** The answer of all that end in one request. */
export const showing = { description: 'The request as it is now.', body: requestView, headers: ['ETag'] } as const

/** The version counts every change of a request, and all that is shown comes from the request. */
export const shown = (request: Request, actor: Actor) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: viewFor(request, actor) }) as const

/** For routes about one request: throws unless the caller may see the request and has this permission on it now. */
export const mayStill =
  (permission: Permission) =>
  async ({ actor, core }: ActorScope, { requestId }: z.output<typeof ofOneRequest>): Promise<void> =>
    authorize(actor, permission, await core.readRequest(actor, { requestId }))
