import { z } from 'zod'
import { type MailboxStepInput, TenantError } from '../../core/index.ts'
import {
  type CmdletParameters,
  equal,
  exchangeService,
  heldBy,
  isRefusal,
  reachedBy,
  recipientTypes,
  unreadable,
} from '../wire/index.ts'
import { parametersFor } from './fields.ts'
import { plainOf } from './html.ts'
import {
  aliasTaken,
  type MailboxEntry,
  type MailboxResult,
  type MailboxServices,
  mailboxEntry,
  notYet,
  whenThere,
} from './mailbox-step.ts'

/** What may hold a name: the id by which the mailbox, if it is one, can be read. */
const holder = z.object({ Guid: z.guid().optional().catch(undefined), RecipientTypeDetails: z.string().catch('') })

/**
 * Makes the mailbox, and stamps it with the request's id (CustomAttribute15) so that every later run knows it for ours.
 * New-Mailbox takes no key of the caller's, and lists show a new mailbox only after a while. So a run whose answer or
 * stamp was lost looks for an unstamped one, which is ours when everything is as we would make it and it is no older than
 * our first New-Mailbox; and while Exchange says "already exists" and shows nobody, it waits and makes nothing.
 */
export async function createMailbox(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  // Before the first look: another run may be about to make it.
  const begun = new Date().toISOString()
  const { createSince, heldSince, triedAgain } = input.progress
  const ours =
    (await findStamped(services, input)) ?? (await findMade(services, input)) ?? (await findOurs(services, input))
  if (ours === 'not-yet') return notYet(input)
  if (ours !== 'free') return stamp(services, input, ours)
  if (heldSince && isYoung(heldSince)) return notYet(input)
  // After all that time still nobody: a deleted mailbox, or an account, unless it has gone by now.
  if (heldSince && triedAgain) throw nameTaken(input.address)
  if (heldSince) return { done: false, retryAfterSeconds: 0, made: { heldSince: undefined, triedAgain: true } }
  await refuseTakenAlias(services, input)
  // Kept before anything is made: what is older than this is somebody else's.
  if (!createSince) return { done: false, retryAfterSeconds: 0, made: { createSince: begun } }
  try {
    // The table's row of `name`, `displayName` and `templateId` fills what the cmdlet needs, whatever the request.
    const parameters = parametersFor('New-Mailbox', input) as CmdletParameters['New-Mailbox']
    const answer = await services.exchange.write('New-Mailbox', parameters, { signal: input.signal })
    const { data } = mailboxEntry.safeParse(answer)
    if (!data) throw unreadable(exchangeService, 'a new mailbox without its ids')
    return stamp(services, input, data)
  } catch (error) {
    if (!isRefusal(error, 'already-exists')) throw error
  }
  const held = await findOurs(services, input)
  if (held !== 'free' && held !== 'not-yet') return stamp(services, input, held)
  return { ...notYet(input), made: { heldSince: new Date().toISOString() } }
}

async function findStamped({ exchange }: MailboxServices, { requestId, signal }: MailboxStepInput) {
  if (!z.uuid().safeParse(requestId).success) throw new TypeError('A request id is a UUID.')
  const filter = { Filter: equal('CustomAttribute15', requestId) }
  const [stamped] = await exchange.read('Get-Mailbox', filter, mailboxEntry, { signal })
  return stamped
}

/** The mailbox of which an earlier run knows the id, and that could not be stamped yet; undefined when there is none. */
async function findMade(
  { exchange }: MailboxServices,
  { progress, requestId, signal }: MailboxStepInput,
): Promise<MailboxEntry | 'not-yet' | undefined> {
  const { mailboxId, createSince } = progress
  if (!mailboxId) return undefined
  const mailbox = await exchange.readOne('Get-Mailbox', { Identity: mailboxId }, mailboxEntry, { signal })
  if (mailbox) return !mailbox.CustomAttribute15 || mailbox.CustomAttribute15 === requestId ? mailbox : undefined
  return createSince && isYoung(createSince) ? 'not-yet' : undefined
}

/** Our own mailbox of an earlier run, `free` when nobody is shown who holds the address; throws when somebody else does. */
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
  if (isOurs(mailbox, input)) return mailbox
  // Another run of ours may be making it just now, and have kept the moment after this one began.
  if (input.progress.createSince === undefined && isAlike(mailbox, input, new Date())) return 'not-yet'
  throw nameTaken(address)
}

/** Clocks of two places may differ by so much. Milliseconds. */
const skew = 30_000

function isOurs(mailbox: MailboxEntry, input: MailboxStepInput): boolean {
  const { CustomAttribute15: stamp } = mailbox
  if (stamp) return stamp === input.requestId
  const { createSince } = input.progress
  return createSince !== undefined && isAlike(mailbox, input, new Date(createSince))
}

/** Whether it is as we would make it and no older than that; its Name may be the object id that Exchange puts there. */
function isAlike(mailbox: MailboxEntry, { kind, address, details }: MailboxStepInput, since: Date): boolean {
  return (
    !mailbox.CustomAttribute15 &&
    plainOf(mailbox.DisplayName ?? '') === plainOf(details.displayName) &&
    mailbox.PrimarySmtpAddress?.toLowerCase() === address.toLowerCase() &&
    mailbox.RecipientTypeDetails === recipientTypes[kind] &&
    utcOf(mailbox.WhenCreatedUTC ?? '') >= since.getTime() - skew
  )
}

/** Exchange writes UTC with or without saying so. NaN, which nothing is later than, for what is no time. */
const utcOf = (time: string): number => Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)

/** What was made shows everywhere within this time (facts 4.4). Milliseconds. */
const shownWithin = 5 * 60_000
const isYoung = (since: string): boolean => Date.now() - Date.parse(since) <= shownWithin

/** An additional address that somebody has by now: found before there is a mailbox that would have to go without it. */
async function refuseTakenAlias(
  { exchange }: MailboxServices,
  { aliasAddress, signal }: MailboxStepInput,
): Promise<void> {
  if (aliasAddress === '') return
  const filter = { Filter: reachedBy(aliasAddress) }
  if ((await exchange.read('Get-Recipient', filter, z.unknown(), { signal })).length > 0) throw aliasTaken(aliasAddress)
}

/** Our mark, after which the step is done; until it can be set the mailbox is remembered by its ids. */
async function stamp(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
  mailbox: MailboxEntry,
): Promise<MailboxResult> {
  const { requestId, signal } = input
  const { Guid, ExternalDirectoryObjectId, UserPrincipalName } = mailbox
  const made = { mailboxId: Guid, userId: ExternalDirectoryObjectId, userPrincipalName: UserPrincipalName }
  const result = await whenThere(input, async () => {
    if (mailbox.CustomAttribute15 !== requestId)
      await exchange.write('Set-Mailbox', { Identity: Guid, CustomAttribute15: requestId }, { signal })
    return { done: true, made }
  })
  return { ...result, made }
}

/** Somebody else has the address or the name: a person has to choose another. */
const nameTaken = (address: string): TenantError =>
  new TenantError(
    'name-taken',
    `${address} cannot be used: another mailbox, group or person has this address or its name.`,
    { retryable: false },
  )
