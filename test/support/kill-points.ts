import type { JourneyKind } from './journey.ts'

/** What a journey is at when a kill is aimed at it. Later parts come after earlier ones. */
export const parts = ['Send', 'Approve', 'work', 'end'] as const
export type Part = (typeof parts)[number]

/**
 * One call to the tenant, in the step that it belongs to. `nth` (from 1) says which of several within the step; `again`
 * whether it is another than the first that the step ever made for the request.
 */
export interface TenantCall {
  readonly step: string
  readonly operation: string
  readonly nth?: number
  readonly again?: boolean
}
/** Before the tenant got the call; after it did what it was asked; or before, and the dead process's call comes late. */
export type TenantMode = 'before' | 'after' | 'late'

/** A card's way to or in a chat: the call of the connector, and what becomes of it. */
export interface CardCall {
  readonly method: 'POST' | 'PUT'
  /** `hold`: it arrived and its sender does not hear so; `lose`: it never arrived. */
  readonly how: 'hold' | 'lose'
  readonly says: RegExp
}

/** Where the service is when it dies, as the outside can tell. */
export type Place =
  | { readonly at: 'tenant'; readonly mode: TenantMode; readonly call: TenantCall }
  /** While Send asks whether the address is free. */
  | { readonly at: 'lookUp' }
  /** Inside the look into the directory, with the webhook switched off. */
  | { readonly at: 'look' }
  | { readonly at: 'card'; readonly card: CardCall }
  /** The click's answer has just come. */
  | { readonly at: 'answered' }
  /** Between two jobs: the tenant is not ready and the work was put off. */
  | { readonly at: 'putOff' }
  /** `hold`: the webhook does not get through; `deafen`: it does, and its sender does not hear so. */
  | { readonly at: 'webhook'; readonly mode: 'hold' | 'deafen' }

/** A moment of a journey at which the service is killed. */
export interface KillPoint {
  readonly kind: JourneyKind
  readonly part: Part
  readonly name: string
  readonly place: Place
}

const question = /Your decision, please/
const followUp = /Your (site|room) is ready/
const card = (method: CardCall['method'], how: CardCall['how'], says: RegExp): Place => ({
  at: 'card',
  card: { method, how, says },
})

/** The points beside the tenant's calls. A mailbox is looked up elsewhere, and nobody looks for it in the directory. */
const others: readonly (Omit<KillPoint, 'kind'> & { readonly sitesOnly?: true })[] = [
  { part: 'Send', name: 'while Send looks the address up', place: { at: 'lookUp' }, sitesOnly: true },
  { part: 'Send', name: 'before Send was answered', place: card('PUT', 'hold', /Waiting for approval/) },
  { part: 'Send', name: 'right after Send was answered', place: { at: 'answered' } },
  {
    part: 'Send',
    name: 'inside the sending of the approval card, which arrived',
    place: card('POST', 'hold', question),
  },
  {
    part: 'Send',
    name: 'inside the sending of the approval card, which was lost',
    place: card('POST', 'lose', question),
  },
  { part: 'Approve', name: 'before Approve was answered', place: card('PUT', 'hold', /Approved by you/) },
  { part: 'Approve', name: 'right after Approve was answered', place: { at: 'answered' } },
  { part: 'work', name: 'while the work waits for the tenant', place: { at: 'putOff' } },
  {
    part: 'end',
    name: 'between the last step and the delivery of the webhook',
    place: { at: 'webhook', mode: 'hold' },
  },
  {
    part: 'end',
    name: 'after the webhook was received and before its sender knows',
    place: { at: 'webhook', mode: 'deafen' },
  },
  {
    part: 'end',
    name: 'inside the look into the directory, with the webhook switched off',
    place: { at: 'look' },
    sitesOnly: true,
  },
  {
    part: 'end',
    name: 'inside the update of the status card',
    place: card('PUT', 'hold', /Open site|@contoso\.example.*All checks passed/),
  },
  {
    part: 'end',
    name: 'inside the sending of the follow-up card, which arrived',
    place: card('POST', 'hold', followUp),
  },
  {
    part: 'end',
    name: 'inside the sending of the follow-up card, which was lost',
    place: card('POST', 'lose', followUp),
  },
]

const isWrite = ({ operation }: TenantCall): boolean =>
  /\.(upsert|add|update|create|(new|set|add)-\w+)$/.test(operation)
const words: { readonly [M in TenantMode]: string } = {
  before: 'before the tenant got',
  after: 'after the tenant did',
  late: 'and late comes',
}

function atTenant(kind: JourneyKind, call: TenantCall): KillPoint[] {
  const modes: readonly TenantMode[] = isWrite(call) ? ['before', 'after', 'late'] : ['before']
  const number = call.nth === undefined ? (call.again ? ' (again)' : '') : ` (number ${call.nth})`
  return modes.map((mode) => ({
    kind,
    part: 'work',
    name: `in ${call.step}, ${words[mode]} ${call.operation}${number}`,
    place: { at: 'tenant', mode, call },
  }))
}

/** Every point at which a journey of this kind is killed, those of the work in the order in which they come. */
export const pointsOf = (kind: JourneyKind): KillPoint[] => [
  ...tenantCalls[kind].flatMap((call) => atTenant(kind, call)),
  ...others.filter(({ sitesOnly }) => !(sitesOnly && kind === 'room')).map((point) => ({ ...point, kind })),
]

/** The hardest to survive, for every run. */
export const hardest: { readonly [K in JourneyKind]: readonly string[] } = {
  team: [
    'right after Send was answered',
    'inside the sending of the approval card, which arrived',
    'in create-site, after the tenant did graph.groups.upsert',
    'between the last step and the delivery of the webhook',
  ],
  communication: [
    'inside the sending of the approval card, which was lost',
    'in create-site, after the tenant did sharepoint.site.create',
    'inside the sending of the follow-up card, which arrived',
  ],
  room: [
    'in create-mailbox, after the tenant did exchange.new-mailbox',
    'in grant-access, after the tenant did exchange.add-mailboxpermission',
  ],
}

/** Every call that the steps of a site or a room make, in order; a test holds it against what is called. */
export const tenantCalls: { readonly [K in JourneyKind]: readonly TenantCall[] } = {
  team: [
    { step: 'create-site', operation: 'graph.groups.getByUniqueName' },
    { step: 'create-site', operation: 'graph.groups.upsert' },
    { step: 'create-site', operation: 'graph.groups.getByUniqueName', nth: 2 },
    { step: 'wait-for-site', operation: 'graph.groups.site' },
    { step: 'wait-for-site', operation: 'sharepoint.web.get' },
    { step: 'add-owners', operation: 'graph.groups.members.list' },
    { step: 'add-owners', operation: 'graph.groups.members.add' },
    { step: 'add-owners', operation: 'graph.groups.owners.list' },
    { step: 'add-owners', operation: 'graph.groups.owners.add' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.get' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.update' },
    { step: 'ready-check', operation: 'sharepoint.web.get' },
    { step: 'ready-check', operation: 'graph.groups.owners.list' },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get' },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName' },
    { step: 'link-group', operation: 'graph.groups.upsert' },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName', nth: 2 },
    { step: 'link-group', operation: 'graph.groups.update' },
  ],
  communication: [
    { step: 'create-site', operation: 'sharepoint.site.status' },
    { step: 'create-site', operation: 'sharepoint.site.create' },
    { step: 'wait-for-site', operation: 'sharepoint.site.status' },
    { step: 'wait-for-site', operation: 'sharepoint.web.get' },
    { step: 'wait-for-site', operation: 'graph.sites.getByPath' },
    { step: 'add-owners', operation: 'sharepoint.owners.list' },
    { step: 'add-owners', operation: 'sharepoint.owners.add' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.get' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.update' },
    { step: 'ready-check', operation: 'sharepoint.web.get' },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get' },
    { step: 'ready-check', operation: 'sharepoint.owners.list' },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get', nth: 2 },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName' },
    { step: 'link-group', operation: 'graph.groups.upsert' },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName', nth: 2 },
    { step: 'link-group', operation: 'graph.groups.update' },
  ],
  room: [
    { step: 'create-mailbox', operation: 'exchange.get-mailbox' },
    { step: 'create-mailbox', operation: 'exchange.get-recipient' },
    { step: 'create-mailbox', operation: 'exchange.get-mailbox', nth: 2 },
    { step: 'create-mailbox', operation: 'exchange.get-recipient', nth: 2 },
    { step: 'create-mailbox', operation: 'exchange.new-mailbox' },
    // The first one finds that Exchange does not know the mailbox yet; a later one stamps it.
    { step: 'create-mailbox', operation: 'exchange.set-mailbox', again: false },
    { step: 'create-mailbox', operation: 'exchange.set-mailbox', again: true },
    { step: 'block-sign-in', operation: 'graph.users.update' },
    { step: 'apply-settings', operation: 'exchange.set-mailbox' },
    { step: 'apply-contact', operation: 'exchange.set-user' },
    { step: 'apply-place', operation: 'exchange.set-place' },
    { step: 'apply-place', operation: 'exchange.set-place', nth: 2 },
    { step: 'apply-booking', operation: 'exchange.set-calendarprocessing' },
    { step: 'apply-automatic-reply', operation: 'exchange.set-mailboxautoreplyconfiguration' },
    { step: 'grant-access', operation: 'exchange.get-mailboxpermission' },
    { step: 'grant-access', operation: 'exchange.add-mailboxpermission' },
    { step: 'grant-access', operation: 'exchange.get-recipientpermission' },
    { step: 'grant-access', operation: 'exchange.add-recipientpermission' },
    { step: 'ready-check', operation: 'exchange.get-user' },
    { step: 'ready-check', operation: 'exchange.get-place' },
    { step: 'ready-check', operation: 'exchange.get-calendarprocessing' },
    { step: 'ready-check', operation: 'exchange.get-mailboxpermission' },
    { step: 'ready-check', operation: 'exchange.get-recipientpermission' },
    { step: 'ready-check', operation: 'exchange.get-mailboxautoreplyconfiguration' },
  ],
}
