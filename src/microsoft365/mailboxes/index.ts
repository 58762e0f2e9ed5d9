/**
 * Creates mailboxes: core's steps for shared, room and equipment mailboxes, and the table of each field's destination
 * in Exchange (`fields.ts`). A step that runs twice creates one mailbox. Imports `wire` and `directory`.
 */
import { z } from 'zod'
import { because, type MailboxStepInput, type Tenant, TenantError } from '../../core/index.ts'
import { CmdletError, type CmdletParameters, isRefusal, needed, type WritingCmdlet } from '../wire/index.ts'
import { grantAccess } from './access.ts'
import {
  aliasTaken,
  createMailbox,
  done,
  type MailboxAction,
  type MailboxResult,
  type MailboxServices,
  notYetVisible,
  whenVisible,
} from './create.ts'
import { parametersFor, placeParts } from './fields.ts'
import { checkMailbox } from './ready-check.ts'

export { mailboxStepsOf } from './fields.ts'

/** Creates core's `mailboxSteps`. */
export function createMailboxSteps(services: MailboxServices): Tenant['mailboxSteps'] {
  const bind = (action: MailboxAction) => (input: MailboxStepInput) => action(services, input)
  return {
    'create-mailbox': bind(createMailbox),
    'block-sign-in': bind(blockSignIn),
    'apply-settings': bind(applySettings),
    'apply-contact': bind(applyContact),
    'apply-place': bind(applyPlace),
    'apply-booking': bind(applyBooking),
    'grant-access': bind((all, input) => whenVisible(input, () => grantAccess(all, input))),
    'apply-automatic-reply': bind(applyAutomaticReply),
    'ready-check': bind(checkMailbox),
  }
}

/** Blocks the sign-in of the mailbox's account, as Microsoft advises for all three kinds. */
async function blockSignIn({ graph }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const isBlocked = await graph.blockSignIn(needed(input.progress, 'userId'), input.signal)
  return isBlocked ? done : notYetVisible(input)
}

/** Runs a writing cmdlet on the new mailbox, once for each set of parameters. */
function write<C extends WritingCmdlet>(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
  cmdlet: C,
  calls: readonly Partial<CmdletParameters[C]>[],
  how: { readonly anchor?: string } = {},
): Promise<MailboxResult> {
  return whenVisible(input, async () => {
    const Identity = needed(input.progress, 'mailboxId')
    for (const parameters of calls)
      await exchange.write(cmdlet, { ...parameters, Identity } as CmdletParameters[C], { signal: input.signal, ...how })
    return done
  })
}

/** Writes the contact details. A repeated run writes the same values. */
function applyContact(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const parameters = parametersFor('Set-User', input)
  return write(services, input, 'Set-User', Object.keys(parameters).length === 0 ? [] : [parameters])
}

/** Writes address and equipment in separate calls, so that a refused address does not block the equipment. */
const applyPlace = (services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> =>
  write(services, input, 'Set-Place', placeParts(input))

const addresses = z.object({ EmailAddresses: z.array(z.string()).catch([]) })

async function applySettings({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const { progress, aliasAddress, signal } = input
  const { EmailAddresses, ...others } = parametersFor('Set-Mailbox', input)
  const Identity = needed(progress, 'mailboxId')
  const mailbox = EmailAddresses && (await exchange.readOne('Get-Mailbox', { Identity }, addresses, { signal }))
  if (EmailAddresses && !mailbox) return notYetVisible(input)
  const isThere = mailbox?.EmailAddresses.some((one) => one.toLowerCase() === `smtp:${aliasAddress.toLowerCase()}`)
  const parameters = { ...others, ...(EmailAddresses && !isThere && { EmailAddresses }) }
  if (Object.keys(parameters).length === 0) return done
  return whenVisible(input, async () => {
    try {
      await exchange.write('Set-Mailbox', { ...parameters, Identity }, { signal })
    } catch (error) {
      if (isRefusal(error, 'already-exists')) throw aliasTaken(aliasAddress, error)
      if (isQuotaRefusal(error)) throw needsLicence(input, error)
      throw error
    }
    return done
  })
}

/**
 * Returns whether Exchange refused a quota above the licence. It has no exception of its own:
 * `InvalidOperationException`.
 */
const isQuotaRefusal = (error: unknown): boolean =>
  error instanceof CmdletError && error.code === 'InvalidOperationException' && / license /.test(String(error.cause))

function needsLicence({ address, details }: MailboxStepInput, cause: unknown): TenantError {
  const gigabytes = Math.round((details.capacity ?? 0) / 102.4) / 10
  return new TenantError('capacity-needs-licence', because('licenceNeeded', { gigabytes, address }), {
    retryable: false,
    cause,
  })
}

const applyBooking = (services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> =>
  write(services, input, 'Set-CalendarProcessing', [{ AutomateProcessing: 'AutoAccept' }])

async function applyAutomaticReply(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const cmdlet = 'Set-MailboxAutoReplyConfiguration'
  // The server that has the mailbox must run this cmdlet.
  const anchor = needed(input.progress, 'userPrincipalName')
  return write(services, input, cmdlet, [parametersFor(cmdlet, input)], { anchor })
}
