import { z } from 'zod'
import { authorize, type Permission, type Request, requestView, viewOf } from '../../../core/index.ts'
import type { ActorScope } from '../../server/define-route.ts'

/** The address of one request. */
export const ofOneRequest = z.object({ requestId: z.uuid().toLowerCase() })

/** The answer of all that end in one request. */
export const showing = { says: 'The request as it is now.', body: requestView, headers: ['ETag'] } as const

/** The version counts every change of a request, and all that is shown comes from the request. */
export const shown = (request: Request) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: viewOf(request) }) as const

/** For routes about one request: throws unless the caller may see the request and has this permission on it now. */
export const mayStill =
  (permission: Permission) =>
  async ({ actor, provisioning }: ActorScope, { requestId }: z.output<typeof ofOneRequest>): Promise<void> =>
    authorize(actor, permission, await provisioning.read(actor, requestId))
