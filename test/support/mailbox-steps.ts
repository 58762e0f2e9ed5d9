import {
  type MailboxDetails,
  type MailboxProgress,
  type MailboxStep,
  type MailboxStepInput,
  type StepResult,
  type Tenant,
  TenantError,
} from '../../src/core/index.ts'
import { dana, omar } from './microsoft365.ts'

let requests = 0
type Change = Partial<Omit<MailboxStepInput, 'details'>> & { readonly details?: Partial<MailboxDetails> }

/** Creates a mailbox request with its own id and address, and by default without further fields. */
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

/** Creates a request that needs every step of its kind: Dana has full access, Omar may send as the mailbox. */
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

/** Creates a running request that stores the results of its steps, as the core does. */
export function ongoing(tenant: Tenant, input: MailboxStepInput) {
  let known = input
  return {
    get input() {
      return known
    },
    /** Runs a step; repeats it at once if it only stored progress. */
    async take(step: MailboxStep): Promise<StepResult<MailboxProgress>> {
      for (;;) {
        const result = await tenant.mailboxSteps[step](known)
        known = { ...known, progress: { ...known.progress, ...result.made } }
        if (result.done || result.retryAfterSeconds > 0) return result
      }
    },
  }
}

/** Runs a step until it is done, and returns the input with its results. */
export async function runMailboxStep(tenant: Tenant, step: MailboxStep, input: MailboxStepInput) {
  const request = ongoing(tenant, input)
  while (!(await request.take(step)).done) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    input.signal.throwIfAborted()
  }
  return request.input
}

/** Runs steps in order, by default all that the request needs. */
export async function runMailbox(tenant: Tenant, input: MailboxStepInput, steps = tenant.mailboxStepsOf(input)) {
  let known = input
  for (const step of steps) known = await runMailboxStep(tenant, step, known)
  return known
}

/** Runs all steps like the provisioning job: repeats a step with the stored progress after a retryable error. */
export async function persist(tenant: Tenant, input: MailboxStepInput, tries = 12): Promise<MailboxStepInput> {
  const request = ongoing(tenant, input)
  for (const step of tenant.mailboxStepsOf(input)) {
    const attempt = async (triesLeft: number): Promise<void> => {
      const again = (error: unknown) => {
        if (error instanceof TenantError && error.retryable && triesLeft > 0) return { done: false }
        throw error
      }
      const { done } = await request.take(step).catch(again)
      if (!done) await new Promise((resolve) => setTimeout(resolve, 50)).then(() => attempt(triesLeft - 1))
    }
    await attempt(tries)
  }
  return request.input
}
