import { z } from 'zod'
import { type AccessLevel, because, type MailboxStepInput, type Person, TenantError } from '../../core/index.ts'
import { type Names, namesOf, unknownToExchange } from '../directory/index.ts'
import { isRefusal, needed } from '../wire/index.ts'
import { done, type MailboxResult, type MailboxServices, notYetVisible } from './create.ts'
import { parametersFor } from './fields.ts'

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

/**
 * Returns the people who have an access level now, in lower case and by the names that Exchange shows: sign-in name,
 * address or object id. Empty while the mailbox is not visible.
 */
export async function holdersOf(
  { exchange }: MailboxServices,
  { progress, signal }: MailboxStepInput,
  level: Level,
): Promise<ReadonlySet<string>> {
  const Identity = needed(progress, 'mailboxId')
  const has = (all: readonly string[]) => all.includes(level)
  if (level === 'FullAccess') {
    const found = await exchange.read('Get-MailboxPermission', { Identity }, permission, { signal })
    const own = found.filter(({ AccessRights, Deny, IsInherited }) => has(AccessRights) && !Deny && !IsInherited)
    return new Set(own.map(({ User }) => User.toLowerCase()))
  }
  const found = await exchange.read('Get-RecipientPermission', { Identity }, trust, { signal })
  const own = found.filter(({ AccessRights, AccessControlType }) => has(AccessRights) && AccessControlType === 'Allow')
  return new Set(own.map(({ Trustee }) => Trustee.toLowerCase()))
}

/** Returns whether a person is among the holders, by any of the person's names. */
export const isAmong = (holders: ReadonlySet<string>, { names }: Names): boolean =>
  names.some((name) => holders.has(name))

/**
 * Grants the requested access by people's current sign-in names. This takes long for many people, so the job pauses
 * after `workSeconds`. A repeated run skips people who have their access.
 */
export async function grantAccess(services: MailboxServices, input: MailboxStepInput): Promise<MailboxResult> {
  const until = Date.now() + services.workSeconds * 1000
  const { access, signal } = input
  const known = await namesOf(
    services.graph,
    access.map(({ person }) => person),
    signal,
  )
  let isFirst = true
  for (const level of ['FullAccess', 'SendAs'] as const) {
    const people = access.filter((one) => one.level === level)
    if (people.length === 0) continue
    const present = await holdersOf(services, input, level)
    for (const { person } of people) {
      const names = known.get(person.id.toLowerCase())
      if (!names) throw personNotFound(person)
      if (isAmong(present, names)) continue
      if (!isFirst && Date.now() >= until) return { done: false, retryAfterSeconds: 1 }
      isFirst = false
      const result = await grant(services, input, level, { ...person, userPrincipalName: names.userPrincipalName })
      if (!result.done) return result
    }
  }
  return done
}

const personNotFound = ({ displayName }: Person): TenantError =>
  new TenantError('person-not-found', because('personLeft', { person: displayName }), { retryable: false })

async function grant(
  { exchange }: MailboxServices,
  input: MailboxStepInput,
  level: Level,
  person: Person,
): Promise<MailboxResult> {
  const { progress, signal } = input
  const { userPrincipalName, displayName } = person
  const Identity = needed(progress, 'mailboxId')
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
  // Exchange did not find the mailbox or the person.
  if ((await unknownToExchange(exchange, [person], signal)).length === 0) return notYetVisible(input)
  throw new TenantError('person-unknown-to-exchange', because('personWithoutMailbox', { person: displayName }), {
    retryable: false,
  })
}
