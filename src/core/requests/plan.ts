import type { Actor } from '../shared/access.ts'
import { unreadableSays } from '../shared/caller.ts'
import type { Account } from '../approvals/approval.ts'
import type { ApprovalStage, JudgedStage } from '../approvals/stage.ts'
import { asking } from '../approvals/approvers.ts'
import type { Fault } from '../shared/errors.ts'
import type { MailboxDetails } from '../resources/mailbox.ts'
import type { TokenValues } from '../templates/name-pattern.ts'
import type { Around } from '../naming/naming.ts'
import type { Ports, Settings } from '../shared/ports.ts'
import { isMailboxKind, type MailboxKind, type Person, type SiteKind } from '../resources/resource.ts'
import type { SiteDetails } from '../resources/site.ts'
import { mayUse, type Template } from '../templates/template.ts'
import type { Applied } from '../templates/property.ts'
import { fault } from '../shared/validation.ts'

interface Common {
  readonly template: Template
  readonly approvals: readonly ApprovalStage[]
  /** How the conditions of the template's policy were judged, where it has any. */
  readonly policy?: readonly JudgedStage[]
  /** Why it is wanted, when the body itself says so. */
  readonly reason: string
  /** The name that was typed, where the policy made another one of it. */
  readonly typedName?: string
  /** What the policy put around the address. */
  readonly around: Around
  /** Ids of owners who are guests, where the template allows them. */
  readonly guests?: readonly string[]
  /** What the template put into the request. */
  readonly applied: readonly Applied[]
  /** What the names could have had in them, and nothing is known of. */
  readonly emptyTokens: readonly string[]
  /** What is kept for the request until it ends: its addresses, and the names that nothing else may take meanwhile. */
  readonly names: readonly { readonly name: string; readonly pointer: string }[]
}
/** What a request for a site would be. */
export interface SitePlan extends Common {
  readonly kind: SiteKind
  readonly details: SiteDetails
  /** The requester first, then those named. */
  readonly owners: readonly Person[]
  /** Whom the answers to the template's own questions name by id. */
  readonly people?: readonly Person[]
  readonly alias: string
  /** Those that it would have had, and that were held already. */
  readonly passedOver?: readonly string[]
  /** Where the site will be, as far as anybody can know before it is made. */
  readonly url: string
}
/** What a request for a mailbox would be. */
export interface MailboxPlan extends Common {
  readonly kind: MailboxKind
  readonly details: MailboxDetails
  /** Everybody whom the details name by id. */
  readonly people: readonly Person[]
  readonly address: string
  readonly aliasAddress: string
}
/** All that follows from what was asked, before anything is written. */
export type Plan = SitePlan | MailboxPlan
export const isForMailboxPlan = (plan: Plan): plan is MailboxPlan => isMailboxKind(plan.kind)

/** The names of a request by its template's policy, and what is wrong with them. */
export interface Named {
  readonly displayName: string
  /** What was typed, where that is another one. */
  readonly typedName?: string
  /** Of a site its alias, of a mailbox what stands before the `@`. */
  readonly name: string
  /** The address that was wanted: another one where that is taken. */
  readonly wanted: string
  readonly passedOver: readonly string[]
  readonly around: Around
  readonly emptyTokens: readonly string[]
  /** What the tokens stand for, the counter's number too. */
  readonly values: TokenValues
  readonly faults: readonly Fault[]
}

/** What can be said of a request that is refused, as far as it could be read. */
export interface Glimpse {
  readonly details: Readonly<Record<string, unknown>>
  readonly owners: readonly Person[]
  /** What the template put into the request. */
  readonly applied: readonly Applied[]
  /** None where there is nothing to make them of. */
  readonly names?: Named | undefined
  /** Of a mailbox. */
  readonly domain?: string
  readonly aliasAddress?: string
}
export type Evaluation =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly glimpse?: Glimpse }
export const refused = (...faults: readonly Fault[]): Evaluation => ({ ok: false, faults })

/** Who asks for what: the id that the request has or will have. */
export interface Inquiry {
  readonly ports: Ports
  readonly settings: Settings
  readonly actor: Actor
  readonly requestId: string
  /** A request that failed and that this one takes the place of: what it keeps is free for this one. */
  readonly replaces?: string | undefined
  /** Whether numbers are taken for good, not only looked at. */
  readonly isSubmission: boolean
  /** Whether as much as can be said is wanted of a request that is refused. */
  readonly isPreview?: true
  /** The template, where it was looked at already: then nobody asks again who may use it. */
  readonly template?: Template
  /** Others keep taking the names that we derive, so the next one is made of the request's id. */
  readonly crowded: boolean
}

/** A template that this person may use, or nothing: who may not use it does not learn that it exists. */
export async function usableTemplate(ports: Ports, actor: Actor, templateId: string): Promise<Template | undefined> {
  const template = await ports.templates.find(actor.tenantId, templateId)
  if (!template) return undefined
  const [usable] = await usableOf(ports, actor, [template])
  return usable
}

/** Those of the templates that this person may use. An application is in no group. */
export async function usableOf(ports: Ports, actor: Actor, templates: readonly Template[]): Promise<Template[]> {
  const byGroup = templates.some(({ audience }) => audience !== null && audience.groups.length > 0)
  const inGroups = byGroup && actor.clientId === undefined
  const groups = inGroups ? await asking(() => ports.directory.groupsOf(actor.id)) : new Set<string>()
  return templates.filter((one) => mayUse(one, actor, groups))
}

export const unknownTemplate = (): Fault =>
  fault(
    '/templateId',
    'unknown-template',
    'There is no such template, or you may not use it. GET /templates/v1/ lists those you may.',
  )

/** A name that was asked for is never cut: another one would come of it. */
export const tooLong = (pointer: string, { longest }: { readonly longest?: number | undefined }): Fault[] =>
  longest === undefined
    ? []
    : [
        fault(
          pointer,
          'too-long',
          `${pointer.slice(1)} may have at most ${longest} characters with this template.`,
          String(longest),
        ),
      ]

/** The people behind ids that a body names, each at its pointer; whom the directory does not know is a fault there. */
export async function peopleNamed(
  ports: Ports,
  named: readonly { readonly id: string; readonly pointer: string; readonly as: string }[],
): Promise<{ people: Person[]; accounts: Account[]; faults: Fault[] }> {
  const found = await Promise.all(named.map(({ id }) => ports.directory.person(id)))
  const faults = named.flatMap(({ id, pointer, as }, index) => {
    const { displayName, unread } = found[index] ?? {}
    if (displayName === undefined)
      return [fault(pointer, 'unknown-person', `${as} ${id} is not a person of this organisation.`)]
    return unread ? [fault(pointer, 'unreadable-person', unreadableSays(displayName, unread), displayName)] : []
  })
  const byId = new Map(
    found.flatMap((known) => {
      if (!known) return []
      const { id, displayName, userPrincipalName } = known
      return [[id, { id, displayName, userPrincipalName }] as const]
    }),
  )
  return { people: [...byId.values()], accounts: found.filter((one) => one !== undefined), faults }
}
