import { z } from 'zod'
import { type Request, requestView, viewOf } from '../../core/index.ts'

/** The address of one request. */
export const ofOneRequest = z.object({ requestId: z.uuid().toLowerCase() })

/** The answer of all that end in one request. */
export const showing = { says: 'The request as it is now.', body: requestView, headers: ['ETag'] } as const

/** The version counts every change of a request, and all that is shown comes from the request. */
export const shown = (request: Request) =>
  ({ status: 200, headers: { ETag: `"${request.version}"` }, body: viewOf(request) }) as const
