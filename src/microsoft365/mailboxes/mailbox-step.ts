import { z } from 'zod'
import { type MailboxProgress, type MailboxStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { type Exchange, type Graph, isRefusal } from '../wire/index.ts'

export interface MailboxServices {
  readonly graph: Graph
  readonly exchange: Exchange
  /** For how long the ready check looks again before it believes a fault. Seconds. */
  readonly settleSeconds: number
  /** For how long a step may be at work before it puts its job off and goes on from there. Seconds. */
  readonly workSeconds: number
}
export type MailboxResult = StepResult<MailboxProgress>
/** One step of making a mailbox. It looks before it makes anything, so running it twice makes one thing. */
export type MailboxAction = (services: MailboxServices, input: MailboxStepInput) => Promise<MailboxResult>

const text = z.string().nullish().catch('')
/** A mailbox as Get-Mailbox and New-Mailbox give it; what is missing or of another type is as good as empty. */
export const mailboxEntry = z.object({
  Guid: z.guid(),
  ExternalDirectoryObjectId: z.guid(),
  UserPrincipalName: z.string().min(1),
  Name: text,
  DisplayName: text,
  PrimarySmtpAddress: text,
  RecipientTypeDetails: text,
  WhenCreatedUTC: text,
  CustomAttribute15: text,
})
export type MailboxEntry = z.output<typeof mailboxEntry>

export const done = { done: true, made: {} } as const
/** A new mailbox shows everywhere after seconds, now and then minutes: looked for often at first. Seconds. */
export const notYet = ({ startedAt }: Pick<MailboxStepInput, 'startedAt'>): MailboxResult => {
  const isYoung = Date.now() - startedAt.getTime() < 30_000
  return { done: false, retryAfterSeconds: isYoung ? 2 : 5 }
}

/** Runs what needs the new mailbox; one that is not found is not to be seen everywhere yet. */
export async function whenThere(input: MailboxStepInput, work: () => Promise<MailboxResult>): Promise<MailboxResult> {
  try {
    return await work()
  } catch (error) {
    if (isRefusal(error, 'not-found')) return notYet(input)
    throw error
  }
}

/** Somebody else has the additional address: a person has to choose another. */
export const aliasTaken = (aliasAddress: string, cause?: unknown): TenantError =>
  new TenantError('alias-taken', `The additional address ${aliasAddress} is held by somebody else.`, {
    retryable: false,
    cause,
  })
