import { z } from 'zod'
import { type AccessLevel, type MailboxStepInput, type Person, TenantError } from '../core/index.ts'
import { isRefusal } from './exchange-error.ts'
import { done, type MailboxResult, type MailboxServices, neededOf, notYet } from './mailbox-facts.ts'
import { parametersFor } from './mailbox-fields.ts'

type Level = Exclude<AccessLevel, 'None'>
const rights = z
  .array(z.string())
  .or(z.string().transform((one) => one.split(/,\s*/)))
  .catch([])
const denied = z.boolean().catch(false)
const permission = z.object({ User: z.string().catch(''), AccessRights: rights, Deny: denied, IsInherited: denied })
const trust = z.object({
  Trustee: z.string().catch(''),
  AccessRights: rights,
  AccessControlType: z.string().catch('Allow'),
})

/** Login names of who has an access now, in lower case; nobody while the mailbox is not there. */
export async function holdersOf(
  { exchange }: MailboxServices,
  { progress, signal }: MailboxStepInput,
  level: Level,
): Promise<ReadonlySet<string>> {
  const Identity = neededOf(progress, 'mailboxId')
  const has = (given: readonly string[]) => given.includes(level)
  if (level === 'FullAccess') {
    const found = await exchange.read('Get-MailboxPermission', { Identity }, permission, { signal })
    const own = found.filter(({ AccessRights, Deny, IsInherited }) => has(AccessRights) && !Deny && !IsInherited)
    return new Set(own.map(({ User }) => User.toLowerCase()))
  }
  const found = await exchange.read('Get-RecipientPermission', { Identity }, trust, { signal })
  const own = found.filter(({ AccessRights, AccessControlType }) => has(AccessRights) && AccessControlType === 'Allow')
  return new Set(own.map(({ Trustee }) => Trustee.toLowerCase()))
}

/** Gives everybody who was asked for their access, by the name that they sign in with now. */
export async function grantAccess(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  for (const level of ['FullAccess', 'SendAs'] as const) {
    const people = input.access.filter((one) => one.level === level)
    if (people.length === 0) continue
    const present = await holdersOf(services, input, level)
    for (const { person } of people) {
      const userPrincipalName = await nameNow(services, person)
      if (userPrincipalName === undefined) throw personNotFound(person)
      if (present.has(userPrincipalName.toLowerCase())) continue
      const result = await grant(services, input, level, { ...person, userPrincipalName })
      if (!result.done) return result
    }
  }
  return done
}

/** The name that somebody signs in with now: people are renamed, and the id that was asked for decides. */
export const nameNow = async ({ graph }: MailboxServices, { id }: Person): Promise<string | undefined> =>
  (await graph.user(id))?.userPrincipalName

const personNotFound = ({ displayName }: Person): TenantError =>
  new TenantError('person-not-found', `${displayName} is no longer in the directory.`, { retryable: false })

async function grant(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
  level: Level,
  { userPrincipalName, displayName }: Person,
): Promise<MailboxResult> {
  const { progress, signal } = input
  const Identity = neededOf(progress, 'mailboxId')
  try {
    if (level === 'FullAccess') {
      const { AutoMapping } = parametersFor('Add-MailboxPermission', input)
      const parameters = {
        Identity,
        User: userPrincipalName,
        AccessRights: ['FullAccess'],
        InheritanceType: 'All',
        ...(AutoMapping !== undefined && { AutoMapping }),
      } as const
      await exchange.write('Add-MailboxPermission', parameters, { signal })
    } else {
      const parameters = { Identity, Trustee: userPrincipalName, AccessRights: ['SendAs'], Confirm: false } as const
      await exchange.write('Add-RecipientPermission', parameters, { signal })
    }
    return done
  } catch (error) {
    if (!isRefusal(error, 'not-found')) throw error
  }
  // Not found is the mailbox or the person.
  const known = await exchange.readOne('Get-User', { Identity: userPrincipalName }, z.unknown(), { signal })
  if (known !== undefined) return notYet(input)
  const message = `Exchange Online does not know ${displayName}: only people with a mailbox can be given access.`
  throw new TenantError('person-unknown-to-exchange', message, { retryable: false })
}
