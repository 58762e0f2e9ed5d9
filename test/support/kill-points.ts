import type { ConnectorFault } from './connector.ts'
import type { JourneyKind } from './journey.ts'
import type { Processes } from './processes.ts'

/** Whether the moment to kill the service has come; it is asked again and again. */
export type Come = (state: { answered: boolean }) => boolean | Promise<boolean>
/** A moment at which the service is killed. */
export interface KillPoint {
  readonly name: string
  /** The click that leads to it. */
  readonly after: 'Send' | 'Approve'
  /** Prepares the world around the service, for the journey of this name. */
  readonly arm: (world: Processes, name: string) => Promise<Come>
  /** What the service runs with until it is killed. */
  readonly variables?: Record<string, string>
  /** A card whose sending the kill interrupts: it `arrived` unheard, was `lost`, or is sent at about this moment. */
  readonly doubt?: { readonly card: 'question' | 'followUp'; readonly was: 'arrived' | 'lost' | 'perhaps' }
}

const question = /Your decision, please/
const followUp = /Your (site|room) is ready/

/** A card's way to or in a chat is where the service dies. */
function atConnector(
  name: string,
  after: KillPoint['after'],
  how: Pick<ConnectorFault, 'method' | 'how'>,
  says: RegExp,
  doubt?: KillPoint['doubt'],
): KillPoint {
  const arm: KillPoint['arm'] = async ({ connector }, about) => {
    const fault = connector.fail({
      ...how,
      count: 1,
      when: (activity) => {
        const text = JSON.stringify(activity)
        return text.includes(about) && says.test(text)
      },
    })
    return () => fault.count === 0
  }
  return { name, after, arm, ...(doubt && { doubt }) }
}

/** One call to the tenant; `skip` says which of several with the same name. */
export interface TenantPoint {
  readonly step: string
  readonly operation: string
  readonly skip?: number
}
const modes = {
  'before the tenant got': { kind: 'delay', seconds: 600 },
  'after the tenant did': { kind: 'holdAfterCommit' },
  'and late comes': { kind: 'delay', seconds: 4 },
} as const

export function atTenant(mode: keyof typeof modes, { step, operation, skip = 0 }: TenantPoint): KillPoint {
  return {
    name: `in ${step}, ${mode} ${operation}${skip > 0 ? ` (number ${skip + 1})` : ''}`,
    after: 'Approve',
    async arm(world) {
      const { id } = await world.fault({ operation, skip, ...modes[mode] })
      return async () => (await world.struck(id)) > 0
    },
  }
}

function atRelay(name: string, mode: 'hold' | 'deafen'): KillPoint {
  return {
    name,
    after: 'Approve',
    async arm({ relay }) {
      relay.set(mode)
      return () => relay.met() > 0
    },
    ...(mode === 'deafen' && { doubt: { card: 'followUp', was: 'perhaps' } }),
  }
}

const answered = (after: KillPoint['after']): KillPoint => ({
  name: `right after ${after} was answered`,
  after,
  arm: async () => (state) => state.answered,
  ...(after === 'Send' && { doubt: { card: 'question', was: 'perhaps' } }),
})

/** Somewhere within so many milliseconds from the click. */
export const atMoment = (milliseconds: number): KillPoint => ({
  name: `${milliseconds} ms after Approve`,
  after: 'Approve',
  async arm() {
    const moment = Date.now() + milliseconds
    return () => Date.now() >= moment
  },
  doubt: { card: 'followUp', was: 'perhaps' },
})

export const points = {
  lookUp: {
    name: 'while Send looks the address up',
    after: 'Send',
    async arm(world) {
      const { id } = await world.fault({ operation: 'graph.groups.list', kind: 'delay', seconds: 600 })
      return async () => (await world.struck(id)) > 0
    },
  },
  sendOnItsWay: atConnector(
    ...(['before Send was answered', 'Send', { method: 'PUT', how: 'hold' }, /Waiting for approval/] as const),
    { card: 'question', was: 'perhaps' },
  ),
  sendAnswered: answered('Send'),
  questionArrived: atConnector(
    'inside the sending of the approval card, which arrived',
    'Send',
    { method: 'POST', how: 'hold' },
    question,
    { card: 'question', was: 'arrived' },
  ),
  questionLost: atConnector(
    'inside the sending of the approval card, which was lost',
    'Send',
    { method: 'POST', how: 'lose' },
    question,
    { card: 'question', was: 'lost' },
  ),
  approveOnItsWay: atConnector(
    'before Approve was answered',
    'Approve',
    { method: 'PUT', how: 'hold' },
    /Approved by you/,
  ),
  approveAnswered: answered('Approve'),
  putOff: {
    name: 'while the work waits for the tenant',
    after: 'Approve',
    async arm(world) {
      const before = (await world.calls()).length
      const waits = ['graph.groups.site', 'sharepoint.web.get', 'exchange.new-mailbox']
      return async () => (await world.calls()).slice(before).some(({ operation }) => waits.includes(operation))
    },
  },
  webhookHeld: atRelay('between the last step and the delivery of the webhook', 'hold'),
  webhookDeaf: atRelay('after the webhook was received and before its sender knows', 'deafen'),
  look: {
    name: 'inside the look into the directory, with the webhook switched off',
    after: 'Approve',
    variables: { FOLLOW_UP_WEBHOOK: 'off' },
    async arm(world) {
      const { id } = await world.fault({ operation: 'graph.groups.list', kind: 'delay', seconds: 600 })
      return async () => (await world.struck(id)) > 0
    },
  },
  // The follow-up card is on its way at the same moment.
  statusUpdate: atConnector(
    'inside the update of the status card',
    'Approve',
    { method: 'PUT', how: 'hold' },
    /Open site|@contoso\.example.*All checks passed/,
    { card: 'followUp', was: 'perhaps' },
  ),
  followUpArrived: atConnector(
    'inside the sending of the follow-up card, which arrived',
    'Approve',
    { method: 'POST', how: 'hold' },
    followUp,
    { card: 'followUp', was: 'arrived' },
  ),
  followUpLost: atConnector(
    'inside the sending of the follow-up card, which was lost',
    'Approve',
    { method: 'POST', how: 'lose' },
    followUp,
    { card: 'followUp', was: 'lost' },
  ),
} as const satisfies Record<string, KillPoint>

/** Every call that the steps of a site or a room make, in order; a test holds it against what is called. */
export const tenantCalls: { readonly [K in JourneyKind]: readonly TenantPoint[] } = {
  team: [
    { step: 'create-site', operation: 'graph.groups.getByUniqueName' },
    { step: 'create-site', operation: 'graph.groups.upsert' },
    { step: 'create-site', operation: 'graph.groups.getByUniqueName', skip: 1 },
    { step: 'wait-for-site', operation: 'graph.groups.site' },
    { step: 'wait-for-site', operation: 'sharepoint.web.get' },
    { step: 'add-owners', operation: 'graph.groups.members.list' },
    { step: 'add-owners', operation: 'graph.groups.members.add' },
    { step: 'add-owners', operation: 'graph.groups.owners.list' },
    { step: 'add-owners', operation: 'graph.groups.owners.add' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.get' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.update' },
    { step: 'ready-check', operation: 'sharepoint.web.get', skip: 1 },
    { step: 'ready-check', operation: 'graph.groups.owners.list', skip: 1 },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get', skip: 1 },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName', skip: 2 },
    { step: 'link-group', operation: 'graph.groups.upsert', skip: 1 },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName', skip: 3 },
    { step: 'link-group', operation: 'graph.groups.update' },
  ],
  communication: [
    { step: 'create-site', operation: 'sharepoint.site.status' },
    { step: 'create-site', operation: 'sharepoint.site.create' },
    { step: 'wait-for-site', operation: 'sharepoint.site.status', skip: 1 },
    { step: 'wait-for-site', operation: 'sharepoint.web.get' },
    { step: 'wait-for-site', operation: 'graph.sites.getByPath' },
    { step: 'add-owners', operation: 'sharepoint.owners.list' },
    { step: 'add-owners', operation: 'sharepoint.owners.add' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.get' },
    { step: 'apply-label', operation: 'sharepoint.tenant.site.update' },
    { step: 'ready-check', operation: 'sharepoint.web.get', skip: 1 },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get', skip: 1 },
    { step: 'ready-check', operation: 'sharepoint.owners.list', skip: 1 },
    { step: 'ready-check', operation: 'sharepoint.tenant.site.get', skip: 2 },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName' },
    { step: 'link-group', operation: 'graph.groups.upsert' },
    { step: 'link-group', operation: 'graph.groups.getByUniqueName', skip: 1 },
    { step: 'link-group', operation: 'graph.groups.update' },
  ],
  room: [
    { step: 'create-mailbox', operation: 'exchange.get-mailbox' },
    { step: 'create-mailbox', operation: 'exchange.get-recipient' },
    { step: 'create-mailbox', operation: 'exchange.get-mailbox', skip: 1 },
    { step: 'create-mailbox', operation: 'exchange.get-recipient', skip: 1 },
    { step: 'create-mailbox', operation: 'exchange.new-mailbox' },
    { step: 'create-mailbox', operation: 'exchange.set-mailbox' },
    // Which of the stamp and the settings the second one is depends on how soon Exchange knows the mailbox.
    { step: 'create-mailbox or apply-settings', operation: 'exchange.set-mailbox', skip: 1 },
    { step: 'block-sign-in', operation: 'graph.users.update' },
    { step: 'apply-contact', operation: 'exchange.set-user' },
    { step: 'apply-place', operation: 'exchange.set-place' },
    { step: 'apply-place', operation: 'exchange.set-place', skip: 1 },
    { step: 'apply-booking', operation: 'exchange.set-calendarprocessing' },
    { step: 'apply-automatic-reply', operation: 'exchange.set-mailboxautoreplyconfiguration' },
    { step: 'grant-access', operation: 'exchange.get-mailboxpermission' },
    { step: 'grant-access', operation: 'exchange.add-mailboxpermission' },
    { step: 'grant-access', operation: 'exchange.get-recipientpermission' },
    { step: 'grant-access', operation: 'exchange.add-recipientpermission' },
    { step: 'ready-check', operation: 'exchange.get-user' },
    { step: 'ready-check', operation: 'exchange.get-place' },
    { step: 'ready-check', operation: 'exchange.get-calendarprocessing' },
    { step: 'ready-check', operation: 'exchange.get-mailboxpermission', skip: 1 },
    { step: 'ready-check', operation: 'exchange.get-recipientpermission', skip: 1 },
    { step: 'ready-check', operation: 'exchange.get-mailboxautoreplyconfiguration' },
  ],
}
export const isWrite = ({ operation }: TenantPoint): boolean =>
  /\.(upsert|add|update|create|(new|set|add)-\w+)$/.test(operation)
