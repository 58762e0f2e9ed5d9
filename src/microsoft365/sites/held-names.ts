import { z } from 'zod'
import { because, type SiteStepInput, type StepResult, TenantError } from '../../core/index.ts'
import { type Graph, isRecent, query, quoted } from '../wire/index.ts'

type Input = Pick<SiteStepInput, 'requestId' | 'progress' | 'signal'>

/** Error for an address that another group or site has: the requester must choose another address. */
export const nameTaken = (alias: string): TenantError =>
  new TenantError('name-taken', because('siteAddressTaken', { address: alias }), { retryable: false })

/** Returns whether the tenant reported a moment ago that the name is taken without showing a holder. */
export const isHeld = ({ heldSince }: SiteStepInput['progress']): boolean =>
  heldSince !== undefined && isRecent(heldSince)

/**
 * Returns the result of a step whose name is taken by an object that is not visible. After a lost answer the object is
 * ours, so the step waits and creates nothing. Throws when the object is still not visible after minutes: a deleted group
 * or site may have the name.
 */
export function whileHeld(alias: string, { progress }: Pick<Input, 'progress'>): StepResult {
  const wait = { done: false, retryAfterSeconds: 5 } as const
  if (isHeld(progress)) return wait
  if (progress.heldSince !== undefined) throw nameTaken(alias)
  return { ...wait, made: { heldSince: new Date().toISOString() } }
}

const groupHolder = z.object({ mailEnabled: z.boolean().nullish(), uniqueName: z.string().nullish() })
const accountHolder = z.object({ mail: z.string().nullish() })
const purpose = because('checkingAddress')

/** Returns whether another group has the nickname. Security groups do not count: they may share one. */
export async function isHeldByGroup(graph: Graph, alias: string, { requestId, signal }: Input): Promise<boolean> {
  const groups = await graph.list(
    holders(graph, 'groups', alias, 'mailEnabled,uniqueName'),
    groupHolder,
    purpose,
    signal,
  )
  return groups.some(({ mailEnabled, uniqueName }) => mailEnabled !== false && uniqueName !== requestId)
}

/** Returns whether an account, such as that of a mailbox, has the mail address that a group would get. */
export async function isHeldByAccount(graph: Graph, alias: string, { signal }: Input): Promise<boolean> {
  const accounts = await graph.list(holders(graph, 'users', alias, 'mail'), accountHolder, purpose, signal)
  return accounts.some(({ mail }) => mail?.toLowerCase().startsWith(`${alias.toLowerCase()}@`))
}

/** Returns the address of the list of groups or users with a nickname. */
const holders = ({ root }: Graph, path: 'groups' | 'users', alias: string, $select: string): string =>
  `${root}/${path}${query({ $filter: `mailNickname eq ${quoted(alias)}`, $select })}`
