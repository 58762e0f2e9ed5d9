import { z } from 'zod'
import { type MailboxProgress, type MailboxStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { isRefusal, type Services } from '../wire/index.ts'

export interface MailboxServices extends Pick<Services, 'graph' | 'exchange'> {
  /** How long a fault must last before the ready check reports it. Seconds. */
  readonly settleSeconds: number
  /** How long a step may work before its job pauses and continues later. Seconds. */
  readonly workSeconds: number
}
export type MailboxResult = StepResult<MailboxProgress>
/** One step of the creation of a mailbox. */
export type MailboxAction = (services: MailboxServices, input: MailboxStepInput) => Promise<MailboxResult>

const text = z.string().nullish().catch('')
/** A mailbox in the output of Get-Mailbox and New-Mailbox. Values that are missing or of another type count as empty. */
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
/** Result while a new mailbox is not visible: that takes seconds, rarely minutes, so the first polls are frequent. */
export const notYetVisible = ({ startedAt }: Pick<MailboxStepInput, 'startedAt'>): MailboxResult => {
  const isRecent = Date.now() - startedAt.getTime() < 30_000
  return { done: false, retryAfterSeconds: isRecent ? 2 : 5 }
}

/** Runs work on the new mailbox. When Exchange does not find the mailbox, it is not visible everywhere yet. */
export async function whenVisible(input: MailboxStepInput, work: () => Promise<MailboxResult>): Promise<MailboxResult> {
  try {
    return await work()
  } catch (error) {
    if (isRefusal(error, 'not-found')) return notYetVisible(input)
    throw error
  }
}

/** Error for an additional address that is in use: a person has to choose another address. */
export const aliasTaken = (aliasAddress: string, cause?: unknown): TenantError =>
  new TenantError('alias-taken', `The additional address ${aliasAddress} is held by somebody else.`, {
    retryable: false,
    cause,
  })
