import { z } from 'zod'
import { type MailboxStepInput, type Tenant, TenantError } from '../core/index.ts'
import type { WritingCmdlet } from './exchange-cmdlets.ts'
import { isRefusal } from './exchange-error.ts'
import { grantAccess } from './mailbox-access.ts'
import { checkMailbox } from './mailbox-check.ts'
import { createMailbox } from './mailbox-create.ts'
import {
  done,
  type MailboxAction,
  type MailboxResult,
  type MailboxServices,
  neededOf,
  notYet,
  whenThere,
} from './mailbox-facts.ts'
import { parametersFor } from './mailbox-fields.ts'

/** Core's `mailboxSteps` over Microsoft 365. */
export function createMailboxSteps(services: MailboxServices): Tenant['mailboxSteps'] {
  const bind = (action: MailboxAction) => (input: MailboxStepInput) => action(services, input)
  return {
    'create-mailbox': bind(createMailbox),
    'block-sign-in': bind(blockSignIn),
    'apply-settings': bind(applySettings),
    'apply-contact': bind(setBy('Set-User')),
    'apply-place': bind(setBy('Set-Place')),
    'apply-booking': bind(applyBooking),
    'grant-access': bind((all, input) => whenThere(input, () => grantAccess(all, input))),
    'apply-automatic-reply': bind(applyAutomaticReply),
    'ready-check': bind(checkMailbox),
  }
}

/** A mailbox that several people use has an account that nobody signs in with (Microsoft's advice for all three kinds). */
async function blockSignIn({ graph }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const isBlocked = await graph.blockSignIn(neededOf(input.progress, 'userId'), input.signal)
  return isBlocked ? done : notYet(input)
}

/** A step that is one cmdlet with what the table of fields gives it; what was set before is set again unchanged. */
function setBy(cmdlet: 'Set-User' | 'Set-Place'): MailboxAction {
  return ({ exchange }, input) => {
    const parameters = parametersFor(cmdlet, input)
    if (Object.keys(parameters).length === 0) return Promise.resolve(done)
    return whenThere(input, async () => {
      const Identity = neededOf(input.progress, 'mailboxId')
      await exchange.write(cmdlet, { ...parameters, Identity }, { signal: input.signal })
      return done
    })
  }
}

const addresses = z.object({ EmailAddresses: z.array(z.string()).catch([]) })

async function applySettings({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const { progress, aliasAddress, signal } = input
  const { EmailAddresses, ...others } = parametersFor('Set-Mailbox', input)
  const Identity = neededOf(progress, 'mailboxId')
  const mailbox = EmailAddresses && (await exchange.readOne('Get-Mailbox', { Identity }, addresses, { signal }))
  if (EmailAddresses && !mailbox) return notYet(input)
  const isThere = mailbox?.EmailAddresses.some((one) => one.toLowerCase() === `smtp:${aliasAddress.toLowerCase()}`)
  const parameters = { ...others, ...(EmailAddresses && !isThere && { EmailAddresses }) }
  if (Object.keys(parameters).length === 0) return done
  return whenThere(input, async () => {
    try {
      await exchange.write('Set-Mailbox', { ...parameters, Identity }, { signal })
    } catch (error) {
      if (!isRefusal(error, 'already-exists')) throw error
      const message = `The additional address ${aliasAddress} is held by somebody else.`
      throw new TenantError('alias-taken', message, { retryable: false, cause: error })
    }
    return done
  })
}

function applyBooking({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const { progress, signal } = input
  return whenThere(input, async () => {
    const Identity = neededOf(progress, 'mailboxId')
    await exchange.write('Set-CalendarProcessing', { Identity, AutomateProcessing: 'AutoAccept' }, { signal })
    return done
  })
}

function applyAutomaticReply({ exchange }: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const cmdlet = 'Set-MailboxAutoReplyConfiguration' satisfies WritingCmdlet
  const { progress, signal } = input
  return whenThere(input, async () => {
    const Identity = neededOf(progress, 'mailboxId')
    // The mailbox's own server has to run it.
    const anchor = neededOf(progress, 'userPrincipalName')
    await exchange.write(cmdlet, { ...parametersFor(cmdlet, input), Identity }, { signal, anchor })
    return done
  })
}
