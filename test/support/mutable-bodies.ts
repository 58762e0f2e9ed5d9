import { randomUUID } from 'node:crypto'
import type { JsonObject } from './mutations.ts'
import { labels } from './service.ts'
import { people } from './teams-user.ts'

/** The secret that signs the webhooks of these tests. */
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
/** Templates of these tests. */
export const ids = {
  site: '5eed0000-0000-4000-8000-000000000001',
  sharedMailbox: '5eed0000-0000-4000-8000-000000000002',
  equipmentMailbox: '5eed0000-0000-4000-8000-000000000003',
  roomMailbox: '5eed0000-0000-4000-8000-000000000004',
  written: '5eed0000-0000-4000-8000-000000000005',
}

/** Creates a site body with every field and a unique name. */
export const site = (count: number): JsonObject => ({
  displayName: `Mutation ${count}`,
  description: 'What came of a good body',
  templateId: ids.site,
  alias: `mutation-${count}-${randomUUID().slice(0, 8)}`,
  owners: [people.omar.id],
  metadata: { costCentre: '4711', audience: 'internal', seats: 12, quiet: true },
  labelId: labels.internal,
})

/** Creates a shared mailbox, equipment or room in turn, with every field of its kind. */
export function mailbox(count: number): JsonObject {
  const kind = (['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const)[count % 3] ?? 'roomMailbox'
  const name = `mutation-${count}-${randomUUID().slice(0, 8)}`
  const own: JsonObject = {
    sharedMailbox: { autoMapping: true, alias: `${name}-too@contoso.example` },
    equipmentMailbox: { metadata: { equipmentType: 'Projector' } },
    roomMailbox: {
      ...{ isWheelChairAccessible: true, officeLocation: 'Building 4', metadata: { seats: 12 } },
      roomMailboxMetadata: { hasConferencePhone: true, hasWhiteboard: false, hasVideoConferencing: true },
    },
  }[kind]
  return {
    ...{
      name,
      displayName: `Mutation ${count}`,
      templateId: ids[kind],
      permissions: { [people.dana.id]: 'FullAccess' },
    },
    ...{ metadata: { costCentre: '4711' }, capacity: 2048, state: 'Zürich', streetAddress: 'Bahnhofstrasse 1' },
    ...{ companyName: 'Contoso', postalCode: '8001', city: 'Zürich', country: 'Switzerland' },
    ...{ businessPhones: ['+41 44 000 00 01'], phone: '+41 44 000 00 00', department: 'Facilities' },
    ...{ primaryOwner: people.dana.id, secondaryOwner: people.omar.id, automaticReply: 'We answer tomorrow.' },
    ...{ isAllowAutomaticReplyOverride: true, domain: 'contoso.example', tags: ['quiet'], hideFromGAL: true },
    ...{ notes: 'Book by noon.', reason: 'Customers ask for it.', ...own },
  }
}

/** Creates a template with every setting. */
export function goodTemplate(): JsonObject {
  return {
    ...{ kind: 'teamSite', name: 'Club', description: 'For clubs', active: false, default: false, order: 7 },
    audience: { people: [people.kim.id], groups: ['22222222-bbbb-4bbb-8bbb-000000000001'] },
    fields: [
      { key: 'purpose', type: 'text', label: 'Purpose', required: true, pattern: '[a-z]{1,9}', error: 'Letters only.' },
      {
        key: 'size',
        type: 'choice',
        label: 'Size',
        choices: [
          { title: 'Small', value: 's' },
          { title: 'Big', value: 'b' },
        ],
      },
    ],
    naming: { prefix: 'club-', suffix: '-x' },
    limits: { ownersMinimum: 1, ownersMaximum: 5 },
    labels: { allowed: [{ id: labels.internal, name: 'Internal' }], default: labels.internal },
    approval: {
      stages: [
        {
          approvers: [{ user: people.dana.id }, { user: people.omar.id }, { manager: true }],
          rule: 'quorum',
          quorum: 2,
        },
        { approvers: [{ group: '22222222-bbbb-4bbb-8bbb-000000000001' }, { manager: true }], rule: 'any' },
      ],
    },
    // An IP address, because a name would be looked up.
    webhook: { url: 'https://93.184.216.34/hook', secret, events: ['site.provisioned', 'request.failed'] },
  }
}

/**
 * Returns other fields that a refusal of this field may name: an approver is a user, a group or a manager; a default is
 * one of the allowed values; a minimum is below its maximum.
 */
export function tiedInTemplate(pointer: string): readonly string[] {
  const approver = /^\/approval\/stages\/\d+\/approvers\/\d+/.exec(pointer)?.[0]
  const stage = /^(\/approval\/stages\/\d+)\/(rule|quorum)$/.exec(pointer)?.[1]
  if (approver) return [approver]
  if (stage) return [`${stage}/rule`, `${stage}/quorum`]
  return ['/labels', '/limits'].filter((group) => pointer.startsWith(group))
}

/** Creates the service's own webhook for a request. */
export const webhook = (requestId: string): JsonObject => ({
  ...{ type: 'site.provisioned', timestamp: new Date().toISOString(), requestId },
  tenantId: '0c0ffee0-1111-4111-8111-000000000365',
  data: {
    reference: 'REQ-1001',
    kind: 'teamSite',
    status: 'succeeded',
    displayName: 'Mutation',
    url: 'https://contoso.example/x',
  },
})
