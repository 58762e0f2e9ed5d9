import { z } from 'zod'
import type { Account } from '../core/index.ts'

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
