import type { MailboxField, MailboxKind } from '../../src/core/index.ts'
import { actorOf, asMailbox, dana, kim, omar, type withCore } from './core.ts'
import { named, refusal } from './refusal.ts'

/** A valid value of each of the 32 fields except the template. */
export const goodValues = {
  name: 'aurora',
  displayName: 'Aurora',
  permissions: { [dana.id]: 'FullAccess', [omar.id]: 'SendAs', [kim.id]: 'None' },
  metadata: { costCentre: '4711' },
  capacity: 2048,
  state: 'Zürich',
  streetAddress: 'Bahnhofstrasse 1',
  officeLocation: 'Building 4',
  companyName: 'Contoso',
  postalCode: '8001',
  city: 'Zürich',
  country: 'Switzerland',
  businessPhones: ['+41 44 000 00 01'],
  phone: '+41 44 000 00 00',
  department: 'Facilities',
  primaryOwner: dana.id,
  secondaryOwner: omar.id,
  automaticReply: 'We answer tomorrow.',
  isAllowAutomaticReplyOverride: true,
  domain: 'contoso-labs.example',
  audioDeviceName: 'Speaker',
  displayDeviceName: 'Screen',
  videoDeviceName: 'Camera',
  tags: ['quiet'],
  isWheelChairAccessible: true,
  roomMailboxMetadata: { hasConferencePhone: true, hasWhiteboard: false, hasVideoConferencing: true },
  hideFromGAL: true,
  notes: 'Book by noon.',
  reason: 'Customers ask for it.',
  autoMapping: false,
  alias: 'help@contoso.example',
} as const satisfies Record<Exclude<MailboxField, 'templateId'>, unknown>

export const kinds: readonly MailboxKind[] = ['sharedMailbox', 'equipmentMailbox', 'roomMailbox']

/** Rule 3 of the API document as a second copy: the fields that each kind does not have, with values. */
export const notFor: Readonly<Record<MailboxKind, Readonly<Record<string, object>>>> = {
  sharedMailbox: {
    '/roomMailboxMetadata': { roomMailboxMetadata: { hasWhiteboard: true } },
    '/isWheelChairAccessible': { isWheelChairAccessible: true },
    '/officeLocation': { officeLocation: 'Building 4' },
    '/metadata/equipmentType': { metadata: { equipmentType: 'Projector' } },
  },
  equipmentMailbox: {
    '/autoMapping': { autoMapping: true },
    '/alias': { alias: 'other' },
    '/roomMailboxMetadata': { roomMailboxMetadata: { hasWhiteboard: true } },
    '/isWheelChairAccessible': { isWheelChairAccessible: true },
    '/officeLocation': { officeLocation: 'Building 4' },
  },
  roomMailbox: {
    '/autoMapping': { autoMapping: true },
    '/alias': { alias: 'other@contoso.example' },
    '/metadata/equipmentType': { metadata: { equipmentType: 'Projector' } },
  },
}
/** The fields of the table that only each kind has, with values. */
export const onlyFor: Readonly<Record<MailboxKind, object>> = {
  sharedMailbox: { autoMapping: true, alias: 'other' },
  equipmentMailbox: { metadata: { equipmentType: 'Projector' } },
  roomMailbox: { roomMailboxMetadata: {}, isWheelChairAccessible: true, officeLocation: 'Building 4' },
}
export const forAll = { capacity: 1024, automaticReply: 'Soon.', permissions: { [dana.id]: 'SendAs' } }

/** Requests of Kim for mailboxes: a good body of a new template, its request, and the faults of a bad body. */
export function mailboxesOf(core: ReturnType<typeof withCore>) {
  const submit = (body: unknown) => core.provisioning.submitMailbox(actorOf(kim), { body })
  let count = 0
  return {
    async good(more: object = {}, template: object = {}) {
      const { id: templateId } = await core.template({ kind: 'sharedMailbox', ...template })
      count += 1
      return { name: `box-${count}`, displayName: `Box ${count}`, templateId, ...more }
    },
    submitted: async (body: unknown) => asMailbox(await submit(body)),
    faults: async (body: unknown): Promise<string[]> => named((await refusal(() => submit(body))).faults),
  }
}
