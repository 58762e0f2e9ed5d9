import { z } from 'zod'
import type { Graph } from './graph.ts'

/** Directory roles of Entra ID by their template ids, which are the same in every tenant. */
const roleNames = {
  '62e90394-69f5-4237-9190-012177145e10': 'Global Administrator',
  'e8611ab8-c189-46e8-94e1-60213ab1f814': 'Privileged Role Administrator',
  '158c047a-c907-4556-b7ef-446551a6b5f7': 'Cloud Application Administrator',
  '9b895d92-2cd3-44c7-9d02-a6ac2d5ea5c3': 'Application Administrator',
  'fdd7a751-b60b-444a-984c-02652fe8fa1c': 'Groups Administrator',
  '69091246-20e8-4a56-aa4d-066075b2a7a8': 'Teams Administrator',
} as const
export type AnyRole = (typeof roleNames)[keyof typeof roleNames]

/** The role that allows everything. */
const highest: AnyRole = 'Global Administrator'

/** Roles that may create registrations and grant consent to delegated permissions. */
export const applicationRoles: readonly AnyRole[] = ['Cloud Application Administrator', 'Application Administrator']
/** Roles that may grant application permissions of Microsoft's services and assign directory roles. */
export const privilegedRoles: readonly AnyRole[] = ['Privileged Role Administrator']

const answer = z.object({ value: z.array(z.object({ roleTemplateId: z.string() })) })

/**
 * Reads the active directory roles of the signed-in person, including roles by groups; undefined if the tenant refuses.
 * A transitive membership with a cast is an advanced query, which needs the header and the count.
 */
export async function readRoles(graph: Graph): Promise<ReadonlySet<string> | undefined> {
  const path = '/me/transitiveMemberOf/microsoft.graph.directoryRole?$select=roleTemplateId&$count=true'
  const found = await graph.get(path, answer, { refused: true, headers: { ConsistencyLevel: 'eventual' } })
  return found && new Set(found.value.map(({ roleTemplateId }) => roleTemplateId))
}

/** Whether one of these roles is among `allowed`, or is the highest role. Unknown roles count as sufficient. */
export function isAllowed(held: ReadonlySet<string> | undefined, allowed: readonly AnyRole[]): boolean {
  if (held === undefined || allowed.length === 0) return true
  return Object.entries(roleNames).some(([id, name]) => held.has(id) && (name === highest || allowed.includes(name)))
}

/** Formats roles as people read them: `Global Administrator, or Teams Administrator`. */
export const named = (allowed: readonly AnyRole[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format([...allowed, highest])
