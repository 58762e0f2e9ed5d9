import { z } from 'zod'
import type { Person } from '../core/index.ts'

/** A person as Microsoft Graph tells of them. */
export const userEntry = z.object({
  id: z.uuid(),
  displayName: z.string().nullish(),
  userPrincipalName: z.string(),
  userType: z.string().nullish(),
})
export type UserEntry = z.output<typeof userEntry>
/** What is asked of a person. */
export const userFields = 'id,displayName,userPrincipalName,userType'

export const toPerson = ({ id, displayName, userPrincipalName }: UserEntry): Person => ({
  id,
  displayName: displayName || userPrincipalName,
  userPrincipalName,
})

/** `userType` is Member, Guest or, of very old accounts, nothing (Microsoft Graph, "user resource type"). */
export const isGuest = (user: UserEntry | undefined): boolean => user?.userType?.toLowerCase() === 'guest'
