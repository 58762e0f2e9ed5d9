import { isTerminal, type Request } from '../../../core/index.ts'
import type { ActorScope } from '../../server/define-route.ts'
import { waitWished } from '../../server/prefer.ts'
import { hasEntity } from '../../server/respond.ts'
import type { WaitEnd } from '../../server/waiting.ts'
import { shown } from '../shared/shown-request.ts'

/** The request, or its next version when the caller wants to wait for it and there is a place to wait. */
export async function readWaiting(scope: ActorScope, requestId: string) {
  const { actor, provisioning, request } = scope
  const found = await provisioning.read(actor, requestId)
  const seconds = waitWished([request.headers['prefer'] ?? []].flat().join())
  if (seconds === 0) return shown(found)
  const ended = hasNews(scope, found) ? 'changed' : await hold(scope, found, seconds)
  if (ended === undefined) return shown(found)
  // What may be read, and by whom, is decided anew.
  const current = ended === 'gone' ? found : await provisioning.read(actor, requestId)
  if (ended === 'stopping') return shown(current)
  const { headers, ...answer } = shown(current)
  return { ...answer, headers: { ...headers, 'Preference-Applied': `wait=${seconds}` } }
}

/** Whether there is something to tell at once: another version than the caller knows, or that no other will come. */
function hasNews({ request }: ActorScope, found: Request): boolean {
  if (isTerminal(found.status)) return true
  return request.headers['if-none-match'] !== undefined && !hasEntity(request, shown(found).headers.ETag)
}

async function hold(
  { services, actor, response }: ActorScope,
  { requestId, version }: Request,
  seconds: number,
): Promise<WaitEnd | undefined> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  response.once('close', leave)
  if (response.destroyed) leave()
  try {
    return await services.waiting.hold({ requestId, version, personId: actor.id, seconds, gone: gone.signal })
  } finally {
    response.off('close', leave)
  }
}
