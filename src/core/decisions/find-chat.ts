import type { Conversation } from '../requests/index.ts'
import { type SystemContext, TenantError } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/** Where a person has not written yet, their language and time zone are not known. The first activity tells them. */
const unknownPlace = { locale: 'en', timeZone: 'UTC' }

/**
 * Returns a person's chat, open or closed. Microsoft 365 knows chats that the store does not: the app came by a setup policy before the
 * service ran, or the store was lost. Such a chat is stored, and what its person has missed is ordered. `install`: installs the app for
 * a person who does not have it. Undefined: there is no chat. Throws a retryable `TenantError` when Microsoft Graph does not answer.
 */
export async function chatOf(
  { ports }: SystemContext<DecisionPorts>,
  tenantId: string,
  personId: string,
  how = { install: false },
): Promise<Conversation | undefined> {
  const known = await ports.conversations.ofPerson(tenantId, personId)
  if (known) return known
  const conversationId = await ports.tenant.findChat(personId, how)
  if (conversationId === undefined) return undefined
  await ports.work.transaction(async () => {
    const isNew = await ports.conversations.add({
      ...{ tenantId, personId, conversationId, reference: null },
      ...unknownPlace,
    })
    if (isNew) await ports.jobs.enqueue([{ name: 'catch-up', payload: { v: 1, tenantId, personId } }])
  })
  return ports.conversations.ofPerson(tenantId, personId)
}

/** Returns a person's chat as far as it can be found now: undefined also while Microsoft Graph does not answer. Installs nothing. */
export async function chatIfFound(
  context: SystemContext<DecisionPorts>,
  tenantId: string,
  personId: string,
): Promise<Conversation | undefined> {
  return chatOf(context, tenantId, personId).catch((error: unknown) => {
    if (error instanceof TenantError && error.retryable) return undefined
    throw error
  })
}
