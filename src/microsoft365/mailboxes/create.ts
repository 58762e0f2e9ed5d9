import { z } from 'zod'
import { because, type MailboxProgress, type MailboxStepInput, type StepResult, TenantError } from '../../core/index.ts'
import {
  addressFilter,
  type CmdletParameters,
  equal,
  exchangeService,
  isRecent,
  isRefusal,
  nameFilter,
  normalizeSpace,
  recipientTypes,
  type Services,
  unreadable,
} from '../wire/index.ts'
import { parametersFor } from './fields.ts'

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
type MailboxEntry = z.output<typeof mailboxEntry>

export const done = { done: true, made: {} } as const
/**
 * Result while a new mailbox is not visible. It appears within seconds, rarely minutes, so the first polls are
 * frequent.
 */
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
  new TenantError('alias-taken', because('aliasTaken', { address: aliasAddress }), {
    retryable: false,
    cause,
  })

/** A recipient that may hold a name. `Guid` identifies the recipient when it is a mailbox. */
const holder = z.object({ Guid: z.guid().optional().catch(undefined), RecipientTypeDetails: z.string().catch('') })

/**
 * Creates the mailbox and stamps it with the request's id (CustomAttribute15), so that later runs recognise it.
 * New-Mailbox accepts no key of the caller, and lists show a new mailbox only after a while. After a lost answer or
 * stamp, a mailbox without a stamp is therefore ours when it matches the request and is not older than our first
 * New-Mailbox. While Exchange reports "already exists" but lists no holder, the step waits and creates nothing.
 */
export async function createMailbox(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  // Taken before the first check: another run may create the mailbox at any moment.
  const checkedAt = new Date().toISOString()
  const { createSince, heldSince, triedAgain } = input.progress
  const ours =
    (await findStamped(services, input)) ?? (await findStored(services, input)) ?? (await findOurs(services, input))
  if (ours === 'not-yet') return notYetVisible(input)
  if (ours !== 'free') return stamp(services, input, ours)
  if (heldSince && isRecent(heldSince)) return notYetVisible(input)
  // The lists still show no holder: a deleted mailbox or an account may have the name. The step tries once more.
  if (heldSince && triedAgain) throw nameTaken(input.address)
  if (heldSince) return { done: false, retryAfterSeconds: 0, made: { heldSince: undefined, triedAgain: true } }
  await refuseTakenAlias(services, input)
  // Stored before the creation: a mailbox that is older is not ours.
  if (!createSince) return { done: false, retryAfterSeconds: 0, made: { createSince: checkedAt } }
  try {
    // The table's rows for `name`, `displayName` and `templateId` always provide the required parameters.
    const parameters = parametersFor('New-Mailbox', input) as CmdletParameters['New-Mailbox']
    const answer = await services.exchange.write('New-Mailbox', parameters, { signal: input.signal })
    const { data } = mailboxEntry.safeParse(answer)
    if (!data) throw unreadable(exchangeService, 'mailboxWithoutIds')
    return stamp(services, input, data)
  } catch (error) {
    if (!isRefusal(error, 'already-exists')) throw error
  }
  const existing = await findOurs(services, input)
  if (existing !== 'free' && existing !== 'not-yet') return stamp(services, input, existing)
  return { ...notYetVisible(input), made: { heldSince: new Date().toISOString() } }
}

async function findStamped({ exchange }: MailboxServices, { requestId, signal }: MailboxStepInput) {
  if (!z.uuid().safeParse(requestId).success) throw new TypeError('A request id is a UUID.')
  const filter = { Filter: equal('CustomAttribute15', requestId) }
  const [stamped] = await exchange.read('Get-Mailbox', filter, mailboxEntry, { signal })
  return stamped
}

/** Reads the mailbox with the id that an earlier run stored before it could stamp the mailbox. */
async function findStored(
  { exchange }: MailboxServices,
  { progress, requestId, signal }: MailboxStepInput,
): Promise<MailboxEntry | 'not-yet' | undefined> {
  const { mailboxId, createSince } = progress
  if (!mailboxId) return undefined
  const mailbox = await exchange.readOne('Get-Mailbox', { Identity: mailboxId }, mailboxEntry, { signal })
  if (mailbox) return !mailbox.CustomAttribute15 || mailbox.CustomAttribute15 === requestId ? mailbox : undefined
  return createSince && isRecent(createSince) ? 'not-yet' : undefined
}

/** Finds our own mailbox of an earlier run. Returns `free` without a holder; throws when somebody else has the address. */
async function findOurs(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
): Promise<MailboxEntry | 'free' | 'not-yet'> {
  const { address, signal } = input
  const filter = nameFilter(address)
  const [first, ...more] = await exchange.read('Get-Recipient', { Filter: filter }, holder, { signal })
  if (!first) return 'free'
  const isOurType = first.RecipientTypeDetails === recipientTypes[input.kind]
  if (more.length > 0 || first.Guid === undefined || !isOurType) throw nameTaken(address)
  const mailbox = await exchange.readOne('Get-Mailbox', { Identity: first.Guid }, mailboxEntry, { signal })
  if (!mailbox) return 'not-yet'
  if (isOurs(mailbox, input)) return mailbox
  // Another of our runs may be creating this mailbox, and may have stored its time after this run started.
  if (input.progress.createSince === undefined && matchesRequest(mailbox, input, new Date())) return 'not-yet'
  throw nameTaken(address)
}

/** Tolerance between our clock and Exchange's. Milliseconds. */
const skew = 30_000

function isOurs(mailbox: MailboxEntry, input: MailboxStepInput): boolean {
  const { CustomAttribute15: stamp } = mailbox
  if (stamp) return stamp === input.requestId
  const { createSince } = input.progress
  return createSince !== undefined && matchesRequest(mailbox, input, new Date(createSince))
}

/**
 * Returns whether a mailbox matches the request and is not older than `since`. Ignores Name, which Exchange may
 * replace.
 */
function matchesRequest(mailbox: MailboxEntry, { kind, address, details }: MailboxStepInput, since: Date): boolean {
  return (
    !mailbox.CustomAttribute15 &&
    normalizeSpace(mailbox.DisplayName ?? '') === normalizeSpace(details.displayName) &&
    mailbox.PrimarySmtpAddress?.toLowerCase() === address.toLowerCase() &&
    mailbox.RecipientTypeDetails === recipientTypes[kind] &&
    utcOf(mailbox.WhenCreatedUTC ?? '') >= since.getTime() - skew
  )
}

/**
 * Parses a time of Exchange, which omits the UTC sign in some answers. Returns NaN for other texts: they are never
 * recent.
 */
const utcOf = (time: string): number => Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(time) ? time : `${time}Z`)

/** Throws when the additional address is in use. This check runs before the mailbox exists. */
async function refuseTakenAlias({ exchange }: MailboxServices, { aliasAddress, signal }: MailboxStepInput) {
  if (aliasAddress === '') return
  const filter = { Filter: addressFilter(aliasAddress) }
  if ((await exchange.read('Get-Recipient', filter, z.unknown(), { signal })).length > 0) throw aliasTaken(aliasAddress)
}

/** Stamps the mailbox, which completes the step. Until the stamp succeeds, the progress stores the mailbox's ids. */
async function stamp(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
  mailbox: MailboxEntry,
): Promise<MailboxResult> {
  const { requestId, signal } = input
  const { Guid, ExternalDirectoryObjectId, UserPrincipalName } = mailbox
  const made = { mailboxId: Guid, userId: ExternalDirectoryObjectId, userPrincipalName: UserPrincipalName }
  const result = await whenVisible(input, async () => {
    if (mailbox.CustomAttribute15 !== requestId)
      await exchange.write('Set-Mailbox', { Identity: Guid, CustomAttribute15: requestId }, { signal })
    return { done: true, made }
  })
  return { ...result, made }
}

/** Error for an address or name that is in use: a person has to choose another address. */
function nameTaken(address: string): TenantError {
  return new TenantError('name-taken', because('mailboxAddressTaken', { address }), { retryable: false })
}
