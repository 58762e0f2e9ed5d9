import type { MailboxDetails, MailboxStep, MailboxStepInput, Tenant } from '../../src/core/index.ts'
import { dana, omar } from './microsoft365.ts'

let requests = 0
type Change = Partial<Omit<MailboxStepInput, 'details'>> & { readonly details?: Partial<MailboxDetails> }

/** A mailbox request with an id and an address of its own; nothing is asked for but its name. */
export function mailboxInput({ details, ...change }: Change = {}): MailboxStepInput {
  requests += 1
  const address = change.address ?? `aurora-${requests}@contoso.example`
  return {
    requestId: `66666666-eeee-4eee-8eee-${String(requests).padStart(12, '0')}`,
    kind: 'sharedMailbox',
    address,
    aliasAddress: '',
    access: [],
    customAttributes: new Map(),
    startedAt: new Date(),
    progress: {},
    signal: AbortSignal.timeout(30_000),
    ...change,
    details: {
      name: address.split('@')[0] ?? '',
      displayName: `Aurora ${requests}`,
      permissions: {},
      metadata: {},
      ...details,
    },
  }
}

/** One that needs every step that its kind has: Dana opens it, Omar sends as it. */
export function wholeMailbox({ details, ...change }: Change = {}): MailboxStepInput {
  return mailboxInput({
    access: [
      { person: dana, level: 'FullAccess' },
      { person: omar, level: 'SendAs' },
    ],
    ...change,
    details: {
      capacity: 100,
      city: 'Bern',
      automaticReply: 'Away',
      permissions: { [dana.id]: 'FullAccess', [omar.id]: 'SendAs' },
      tags: ['Quiet'],
      ...details,
    },
  })
}

/** Runs a step until it is done, and gives the input with what it made. */
export async function runMailboxStep(tenant: Tenant, step: MailboxStep, input: MailboxStepInput) {
  for (;;) {
    const result = await tenant.mailboxSteps[step](input)
    if (result.done) return { ...input, progress: { ...input.progress, ...result.made } }
    await new Promise((resolve) => setTimeout(resolve, 20))
    input.signal.throwIfAborted()
  }
}

/** Runs steps in order, by default all that the request needs. */
export async function runMailbox(tenant: Tenant, input: MailboxStepInput, steps = tenant.mailboxStepsOf(input)) {
  let known = input
  for (const step of steps) known = await runMailboxStep(tenant, step, known)
  return known
}
