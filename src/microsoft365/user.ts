import type { z } from 'zod'
import type { Account, Profile, UnreadProperty } from '../core/index.ts'
import type { UserEntry, workplaceEntry } from './graph.ts'

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

/** The same by the tokens of names; what is not known is left out. */
export function asProfile(entry: Partial<z.output<typeof workplaceEntry>>): Profile {
  const { department, city, country, companyName: company, officeLocation: office } = entry
  const told = Object.entries({ department, city, country, company, office }).filter(([, value]) => value)
  return Object.fromEntries(told)
}
