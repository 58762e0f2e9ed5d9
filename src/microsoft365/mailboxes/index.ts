/**
 * Creates mailboxes: core's steps for shared, room and equipment mailboxes, and the table of where each field goes in
 * Exchange (`fields.ts`). A step that runs twice creates one mailbox. Imports `wire` and `directory`.
 */
import { z } from 'zod'
import type { MailboxStepInput, Tenant } from '../../core/index.ts'
import { isRefusal, needed, type WritingCmdlet } from '../wire/index.ts'
import { grantAccess } from './access.ts'
import { createMailbox } from './create.ts'
import { parametersFor, placeParts } from './fields.ts'
import {
  aliasTaken,
  done,
  type MailboxAction,
  type MailboxResult,
  type MailboxServices,
  notYetVisible,
  whenVisible,
} from './mailbox-step.ts'
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

/** Blocks the sign-in of the mailbox's account (Microsoft's advice for all three kinds). */
async function blockSignIn({ graph }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const isBlocked = await graph.blockSignIn(needed(input.progress, 'userId'), input.signal)
  return isBlocked ? done : notYetVisible(input)
}

/** Writes the contact details. A repeated run writes the same values. */
function applyContact({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const parameters = parametersFor('Set-User', input)
  if (Object.keys(parameters).length === 0) return Promise.resolve(done)
  return whenVisible(input, async () => {
    const Identity = needed(input.progress, 'mailboxId')
    await exchange.write('Set-User', { ...parameters, Identity }, { signal: input.signal })
    return done
  })
}

/** Writes address and equipment in separate calls, so that a refused address does not block the equipment. */
function applyPlace({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  return whenVisible(input, async () => {
    const Identity = needed(input.progress, 'mailboxId')
    for (const parameters of placeParts(input))
      await exchange.write('Set-Place', { ...parameters, Identity }, { signal: input.signal })
    return done
  })
}

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
      if (!isRefusal(error, 'already-exists')) throw error
      throw aliasTaken(aliasAddress, error)
    }
    return done
  })
}

function applyBooking({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const { progress, signal } = input
  return whenVisible(input, async () => {
    const Identity = needed(progress, 'mailboxId')
    await exchange.write('Set-CalendarProcessing', { Identity, AutomateProcessing: 'AutoAccept' }, { signal })
    return done
  })
}

function applyAutomaticReply({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const cmdlet = 'Set-MailboxAutoReplyConfiguration' satisfies WritingCmdlet
  const { progress, signal } = input
  return whenVisible(input, async () => {
    const Identity = needed(progress, 'mailboxId')
    // The mailbox's own server must run this cmdlet.
    const anchor = needed(progress, 'userPrincipalName')
    await exchange.write(cmdlet, { ...parametersFor(cmdlet, input), Identity }, { signal, anchor })
    return done
  })
}
