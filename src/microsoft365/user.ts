import { z } from 'zod'
import type { Account, Profile } from '../core/index.ts'

/** A person as Microsoft Graph tells of them. */
export const userEntry = z.object({
  id: z.uuid(),
  displayName: z.string().nullish(),
  userPrincipalName: z.string(),
  accountEnabled: z.boolean().nullish(),
  userType: z.string().nullish(),
})
export type UserEntry = z.output<typeof userEntry>
/** What is asked of a person. The last two come only on request, and as null where the permission does not reach. */
export const userFields = 'id,displayName,userPrincipalName,accountEnabled,userType'

export const toAccount = (user: UserEntry): Account => ({
  id: user.id,
  displayName: user.displayName || user.userPrincipalName,
  userPrincipalName: user.userPrincipalName,
  ...(user.accountEnabled === false && { isBlocked: true }),
  ...(isGuest(user) && { isGuest: true }),
})
export const asAccount = (user: UserEntry | undefined): Account | undefined => user && toAccount(user)

/** `userType` is Member, Guest or, of very old accounts, nothing (Microsoft Graph, "user resource type"). */
export const isGuest = ({ userType }: { readonly userType?: string | null | undefined }): boolean =>
  userType?.toLowerCase() === 'guest'

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
