import { z } from 'zod'
import type { Account, Profile, UnreadProperty } from '../core/index.ts'

/** A person as Microsoft Graph tells of them. */
export const userEntry = z.object({
  id: z.uuid(),
  displayName: z.string().nullish(),
  userPrincipalName: z.string(),
  accountEnabled: z.boolean().nullish(),
  userType: z.string().nullish(),
  mail: z.string().nullish().catch(null),
})
export type UserEntry = z.output<typeof userEntry>
/**
 * The properties of a person that are read. `accountEnabled` and `userType` come only on `$select`, and as null, or not at all,
 * where a permission does not reach: User.ReadBasic.All gives names and addresses only (Microsoft Graph, "user resource type").
 */
export const userFields = 'id,displayName,userPrincipalName,accountEnabled,userType,mail'

export const toAccount = (user: UserEntry): Account => {
  const unread = unreadOf(user)
  return {
    id: user.id,
    displayName: user.displayName || user.userPrincipalName,
    userPrincipalName: user.userPrincipalName,
    ...(user.accountEnabled === false && { isBlocked: true }),
    ...(user.userType && !isMember(user) && { isGuest: true }),
    ...(unread.length > 0 && { unread }),
  }
}
export const asAccount = (user: UserEntry | undefined): Account | undefined => user && toAccount(user)

/**
 * Entra ID always knows whether an account is enabled, so a missing `accountEnabled` was not readable. `userType` is also null
 * for accounts that nobody has classified, very old or synchronised ones; nothing proves that such an account is a member.
 */
export const unreadOf = ({
  accountEnabled,
  userType,
}: Pick<UserEntry, 'accountEnabled' | 'userType'>): UnreadProperty[] => [
  ...(typeof accountEnabled === 'boolean' ? [] : (['accountEnabled'] as const)),
  ...(userType ? [] : (['userType'] as const)),
]

/** Whether the directory says that an account is a member: nothing else than that word counts. */
export const isMember = ({ userType }: Pick<UserEntry, 'userType'>): boolean => userType?.toLowerCase() === 'member'

const known = z.string().nullish()
/** Where somebody works (Microsoft Graph, user resource). */
export const workplaceEntry = z.object({
  department: known,
  city: known,
  country: known,
  companyName: known,
  officeLocation: known,
})

/** The same by the tokens of names; what is not known is left out. */
export function asProfile(entry: Partial<z.output<typeof workplaceEntry>>): Profile {
  const { department, city, country, companyName: company, officeLocation: office } = entry
  const told = Object.entries({ department, city, country, company, office }).filter(([, value]) => value)
  return Object.fromEntries(told)
}
