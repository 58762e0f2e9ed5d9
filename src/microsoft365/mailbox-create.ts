import { z } from 'zod'
import { type MailboxStepInput, TenantError } from '../core/index.ts'
import { unreadable } from './answer.ts'
import { equal, exchangeService, heldBy, localPartOf } from './exchange.ts'
import type { CmdletParameters } from './exchange-cmdlets.ts'
import { isRefusal } from './exchange-error.ts'
import {
  type MailboxEntry,
  type MailboxResult,
  type MailboxServices,
  mailboxEntry,
  notYet,
  recipientTypes,
  whenThere,
} from './mailbox-facts.ts'
import { parametersFor } from './mailbox-fields.ts'

/** What may hold a name: the id by which the mailbox, if it is one, can be read. */
const holder = z.object({ Guid: z.guid().optional().catch(undefined), RecipientTypeDetails: z.string().catch('') })

/**
 * Makes the mailbox, and stamps it with the request's id (CustomAttribute15) so that every later run knows it for ours.
 * New-Mailbox takes no key of the caller's, so a run whose answer or stamp was lost finds an unstamped mailbox; it is
 * ours when everything is as we would make it and it is no older than our work.
 */
export async function createMailbox(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const { exchange } = services
  const { requestId, signal } = input
  if (!z.uuid().safeParse(requestId).success) throw new TypeError('A request id is a UUID.')
  const [stamped] = await exchange.read(
    'Get-Mailbox',
    { Filter: equal('CustomAttribute15', requestId) },
    mailboxEntry,
    { signal },
  )
  if (stamped) return made(stamped)
  const found = await findOurs(services, input)
  if (found === 'not-yet') return notYet(input)
  if (found !== 'free') return stamp(services, input, found)
  try {
    // The table's row of `name`, `displayName` and `templateId` fills what the cmdlet needs, whatever the request.
    const parameters = parametersFor('New-Mailbox', input) as CmdletParameters['New-Mailbox']
    const { data } = mailboxEntry.safeParse(await exchange.write('New-Mailbox', parameters, { signal }))
    if (!data) throw unreadable(exchangeService, 'a new mailbox without its ids')
    return stamp(services, input, data)
  } catch (error) {
    if (!isRefusal(error, 'already-exists')) throw error
  }
  const held = await findOurs(services, input)
  if (held === 'free' && isHiddenForGood(input)) throw nameTaken(input.address)
  return held === 'free' || held === 'not-yet' ? notYet(input) : stamp(services, input, held)
}

/** Our own mailbox of an earlier run, `free` when nobody holds the address; throws when somebody else does. */
async function findOurs(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
): Promise<MailboxEntry | 'free' | 'not-yet'> {
  const { address, signal } = input
  const filter = heldBy(address)
  const [first, ...more] = await exchange.read('Get-Recipient', { Filter: filter }, holder, { signal })
  if (!first) return 'free'
  const isOurType = first.RecipientTypeDetails === recipientTypes[input.kind]
  if (more.length > 0 || first.Guid === undefined || !isOurType) throw nameTaken(address)
  const mailbox = await exchange.readOne('Get-Mailbox', { Identity: first.Guid }, mailboxEntry, { signal })
  if (!mailbox) return 'not-yet'
  if (!isOurs(mailbox, input)) throw nameTaken(address)
  return mailbox
}

/** Clocks of two places may differ by so much. Milliseconds. */
const skew = 30_000

function isOurs(mailbox: MailboxEntry, { requestId, kind, address, details, startedAt }: MailboxStepInput): boolean {
  const { CustomAttribute15: stamp, WhenCreatedUTC: created } = mailbox
  if (stamp) return stamp === requestId
  return (
    mailbox.Name === localPartOf(address) &&
    mailbox.DisplayName === details.displayName &&
    mailbox.PrimarySmtpAddress?.toLowerCase() === address.toLowerCase() &&
    mailbox.RecipientTypeDetails === recipientTypes[kind] &&
    utcOf(created ?? '') >= startedAt.getTime() - skew
  )
}

/** Exchange writes UTC with or without saying so. NaN, which nothing is later than, for what is no time. */
const utcOf = (time: string): number => Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)

/** What Exchange says exists and yet does not show for so long is no new mailbox: a deleted one, or an account. */
const hiddenMilliseconds = 5 * 60_000
const isHiddenForGood = ({ startedAt }: MailboxStepInput): boolean =>
  Date.now() - startedAt.getTime() > hiddenMilliseconds

function stamp({ exchange }: MailboxServices, input: MailboxStepInput, mailbox: MailboxEntry): Promise<MailboxResult> {
  const { requestId, signal } = input
  return whenThere(input, async () => {
    if (mailbox.CustomAttribute15 !== requestId)
      await exchange.write('Set-Mailbox', { Identity: mailbox.Guid, CustomAttribute15: requestId }, { signal })
    return made(mailbox)
  })
}

const made = ({ Guid, ExternalDirectoryObjectId, UserPrincipalName }: MailboxEntry): MailboxResult => ({
  done: true,
  made: { mailboxId: Guid, userId: ExternalDirectoryObjectId, userPrincipalName: UserPrincipalName },
})

/** Somebody else has the address or the name: a person has to choose another. */
const nameTaken = (address: string): TenantError =>
  new TenantError(
    'name-taken',
    `${address} cannot be used: another mailbox, group or person has this address or its name.`,
    { retryable: false },
  )
