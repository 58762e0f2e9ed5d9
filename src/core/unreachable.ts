import { entry } from './change.ts'
import type { ChatRefusal, Conversation } from './chat-ports.ts'
import { type CardKey, jobId, system } from './events.ts'
import type { Ports } from './ports.ts'
import type { Request } from './request.ts'
import type { Person } from './resource.ts'

/** What the timeline says when somebody could not be told; `data` is `{person, card, why}`. */
export const notTold = 'not-told'

/**
 * Notes that a person's chat does not take a card: the chat is sent nothing more until the person comes back to us, the
 * request's timeline says who was not told of what, and of an approver, whom the request may wait for in vain, the admins
 * are told, once a request. Noting it twice is noting it once.
 */
export async function couldNotTell(
  ports: Ports,
  request: Request,
  conversation: Conversation,
  key: CardKey,
  { why, closed }: Pick<ChatRefusal, 'why' | 'closed'>,
): Promise<void> {
  const { requestId } = request
  const { personId } = conversation
  const at = ports.clock.now()
  await ports.work.transaction(async () => {
    if (closed) await ports.conversations.close(conversation, why, at)
    await ports.sentCards.remove(requestId, personId, key)
    const person = personIn(request, personId)
    if (!person || (await isNoted(ports, requestId, personId, key))) return
    const data = { person, card: key, why }
    const said = entry({ ...request, updatedAt: at.toISOString() }, system, notTold, { data })
    await ports.audit.append([said], { version: request.version })
    if (!key.startsWith('approval:')) return
    await ports.jobs.enqueue([
      { name: 'notify-admins', payload: { v: 1, requestId, card: 'status' }, id: jobId('unreachable', requestId) },
    ])
  })
}

/** Requester or approver; an admin, who is nothing to the request, is only a matter of the log. */
function personIn({ requester, approvals }: Request, id: string): Person | undefined {
  const people = [requester, ...approvals.flatMap(({ approvers }) => approvers)]
  const person = people.find((one) => one.id === id)
  return person && { id, displayName: person.displayName, userPrincipalName: person.userPrincipalName }
}

async function isNoted(ports: Ports, requestId: string, personId: string, key: CardKey): Promise<boolean> {
  const timeline = await ports.audit.timeline(requestId)
  return timeline.some(({ action, data }) => {
    const person = data?.['person']
    const sameCard = action === notTold && data?.['card'] === key
    return sameCard && typeof person === 'object' && person !== null && 'id' in person && person.id === personId
  })
}
