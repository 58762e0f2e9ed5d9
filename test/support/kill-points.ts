import type { JourneyKind } from './journey.ts'

/** The parts of a journey in their order, at which a kill can be aimed. */
export const parts = ['Send', 'Approve', 'work', 'end'] as const
export type Part = (typeof parts)[number]

/**
 * One call to the tenant, with its step. `nth` (from 1) is its number within the step; `again` means a repeat of a call
 * that the step has already made for the request.
 */
export interface TenantCall {
  readonly step: string
  readonly operation: string
  readonly nth?: number
  readonly again?: boolean
}
/**
 * When the kill hits: before the tenant received the call; after its effect; or before, and the dead process's call
 * arrives late.
 */
export type TenantMode = 'before' | 'after' | 'late'

/** A card on its way to a chat or in it: the call of the connector, and its result. */
export interface CardCall {
  readonly method: 'POST' | 'PUT'
  /** `hold`: the card arrived without an acknowledgement; `lose`: it never arrived. */
  readonly how: 'hold' | 'lose'
  readonly says: RegExp
}

/** The position of the service at its death, as far as it is visible from outside. */
export type Place =
  | { readonly at: 'tenant'; readonly mode: TenantMode; readonly call: TenantCall }
  /** While Send checks whether the address is free. */
  | { readonly at: 'lookUp' }
  /** During the directory poll, with the webhook disabled. */
  | { readonly at: 'poll' }
  | { readonly at: 'card'; readonly card: CardCall }
  /** Just after the click's answer. */
  | { readonly at: 'answered' }
  /** Between two jobs: the tenant is not ready and the job was postponed. */
  | { readonly at: 'putOff' }
  /** `hold`: the webhook does not arrive; `deafen`: it arrives without an acknowledgement. */
  | { readonly at: 'webhook'; readonly mode: 'hold' | 'deafen' }

/** A position of a journey at which the service is killed. */
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

/** The points besides the tenant's calls. Mailboxes have another address look-up, and no directory poll. */
const others: readonly (Omit<KillPoint, 'kind'> & { readonly sitesOnly?: true })[] = [
  { part: 'Send', name: 'while Send looks up the address', place: { at: 'lookUp' }, sitesOnly: true },
  { part: 'Send', name: 'before Send was answered', place: card('PUT', 'hold', /Waiting for approval/) },
  { part: 'Send', name: 'right after Send was answered', place: { at: 'answered' } },
  {
    part: 'Send',
    name: 'while the approval card is sent, which arrives',
    place: card('POST', 'hold', question),
  },
  {
    part: 'Send',
    name: 'while the approval card is sent, which is lost',
    place: card('POST', 'lose', question),
  },
  { part: 'Approve', name: 'before Approve was answered', place: card('PUT', 'hold', /Approved by you/) },
  { part: 'Approve', name: 'right after Approve was answered', place: { at: 'answered' } },
  { part: 'work', name: 'while the job waits for the tenant', place: { at: 'putOff' } },
  {
    part: 'end',
    name: 'between the last step and the delivery of the webhook',
    place: { at: 'webhook', mode: 'hold' },
  },
  {
    part: 'end',
    name: 'after the webhook was received, before its acknowledgement',
    place: { at: 'webhook', mode: 'deafen' },
  },
  {
    part: 'end',
    name: 'during the directory poll, with webhooks disabled',
    place: { at: 'poll' },
    sitesOnly: true,
  },
  {
    part: 'end',
    name: 'while the status card is updated',
    place: card('PUT', 'hold', /Open site|@contoso\.example.*All checks passed|Finished, see below/),
  },
  {
    part: 'end',
    name: 'while the follow-up card is sent, which arrives',
    place: card('POST', 'hold', followUp),
  },
  {
    part: 'end',
    name: 'while the follow-up card is sent, which is lost',
    place: card('POST', 'lose', followUp),
  },
]

const isWrite = ({ operation }: TenantCall): boolean =>
  /\.(upsert|add|update|create|(new|set|add)-\w+)$/.test(operation)
const phrases: { readonly [M in TenantMode]: string } = {
  before: 'before the tenant received',
  after: 'after the tenant executed',
  late: 'with a late',
}

function atTenant(kind: JourneyKind, call: TenantCall): KillPoint[] {
  const modes: readonly TenantMode[] = isWrite(call) ? ['before', 'after', 'late'] : ['before']
  const number = call.nth === undefined ? (call.again ? ' (again)' : '') : ` (number ${call.nth})`
  return modes.map((mode) => ({
    kind,
    part: 'work',
    name: `in ${call.step}, ${phrases[mode]} ${call.operation}${number}`,
    place: { at: 'tenant', mode, call },
  }))
}

/** Returns every kill point of this kind of journey; those of the provisioning job are in order. */
export const pointsOf = (kind: JourneyKind): KillPoint[] => [
  ...tenantCalls[kind].flatMap((call) => atTenant(kind, call)),
  ...others.filter(({ sitesOnly }) => !(sitesOnly && kind === 'room')).map((point) => ({ ...point, kind })),
]

/** The most critical points, for every run. */
export const hardest: { readonly [K in JourneyKind]: readonly string[] } = {
  team: [
    'right after Send was answered',
    'while the approval card is sent, which arrives',
    'in create-site, after the tenant executed graph.groups.upsert',
    'between the last step and the delivery of the webhook',
  ],
  communication: [
    'while the approval card is sent, which is lost',
    'in create-site, after the tenant executed sharepoint.site.create',
    'while the follow-up card is sent, which arrives',
  ],
  room: [
    'in create-mailbox, after the tenant executed exchange.new-mailbox',
    'in grant-access, after the tenant executed exchange.add-mailboxpermission',
  ],
}

/** Every call of the steps of a site or a room, in order. A test compares the list with the real calls. */
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
    // The first call finds that Exchange does not know the mailbox yet; a later one stamps it.
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
