import {
  because,
  type CheckName,
  type Draft,
  type MailboxPlan,
  type MailboxStep,
  problemOf,
  type RequestForMailbox,
  type RequestStep,
  snapshot,
} from '../../src/core/index.ts'
import { at, checksFailed, dana, kim, omar, requestId, sam, stageOf, templateOf, tenantId } from './card-world.ts'

/** The mailboxes that card samples show: a room in Zürich, customer support, a projector. */
export const meetingRoom = templateOf({
  id: 'e1f2a3b4-2d3c-4e5f-9a8b-7c6d5e4f3a55',
  version: 1,
  kind: 'roomMailbox',
  name: 'Meeting room',
  description: 'A room that people book with an invitation',
  naming: { prefix: 'room-', suffix: '' },
})
export const supportMailbox = templateOf({
  id: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
  version: 2,
  kind: 'sharedMailbox',
  name: 'Team mailbox',
  description: 'One address that several people read',
  fields: [{ key: 'costCentre', type: 'text', label: 'Cost centre', required: true, placeholder: '4711' }],
  approval: { stages: [{ approvers: [{ user: dana.id }, { user: omar.id }] }] },
})
export const poolEquipment = templateOf({
  id: '6b8d0f2c-4e6a-4b8d-8f2c-4e6a8b0d2f66',
  version: 1,
  kind: 'equipmentMailbox',
  name: 'Pool equipment',
  fields: [
    {
      key: 'equipmentType',
      type: 'choice',
      label: 'What is it?',
      required: true,
      choices: [
        { title: 'Projector', value: 'projector' },
        { title: 'Car', value: 'car' },
      ],
    },
  ],
})

export const roomAnswers: Draft['values'] = {
  displayName: 'Aurora (Zürich, floor 3)',
  name: 'zrh-aurora',
  officeLocation: 'Zürich HQ, floor 3',
  'metadata.seats': '12',
  isWheelChairAccessible: 'true',
  'roomMailboxMetadata.hasConferencePhone': 'false',
  'roomMailboxMetadata.hasWhiteboard': 'true',
  'roomMailboxMetadata.hasVideoConferencing': 'true',
  'permissions.FullAccess': `${dana.id},${omar.id}`,
  'permissions.SendAs': kim.id,
  city: 'Zürich',
  country: 'Switzerland',
  capacity: '50000',
  hideFromGAL: 'false',
}

const room: RequestForMailbox['details'] = {
  name: 'zrh-aurora',
  displayName: 'Aurora (Zürich, floor 3)',
  officeLocation: 'Zürich HQ, floor 3',
  isWheelChairAccessible: true,
  roomMailboxMetadata: { hasConferencePhone: false, hasWhiteboard: true, hasVideoConferencing: true },
  permissions: { [dana.id]: 'FullAccess', [omar.id]: 'FullAccess', [kim.id]: 'SendAs' },
  metadata: { seats: '12' },
  city: 'Zürich',
  country: 'Switzerland',
  capacity: 50_000,
  hideFromGAL: false,
}
const support: RequestForMailbox['details'] = {
  name: 'support',
  displayName: 'Customer support *north*',
  alias: 'help',
  permissions: { [kim.id]: 'FullAccess', [dana.id]: 'FullAccess', [omar.id]: 'SendAs' },
  metadata: { costCentre: '4711' },
  primaryOwner: dana.id,
  automaticReply: 'Thank you. We answer within one working day.',
  autoMapping: true,
  hideFromGAL: false,
}
const stepsOfRoom: readonly MailboxStep[] = [
  'create-mailbox',
  'block-sign-in',
  'apply-settings',
  'apply-contact',
  'apply-place',
  'apply-booking',
  'grant-access',
  'ready-check',
]

export function mailboxStepsUntil(done: number, current: Partial<RequestStep> = {}): RequestStep[] {
  return stepsOfRoom.map((name, index) => {
    const time = at(`09:${String(3 + index).padStart(2, '0')}`)
    if (index < done) return { name, status: 'done', attempts: 1, startedAt: time, finishedAt: time }
    return { name, status: 'pending', attempts: 0, ...(index === done && current) }
  })
}

export function mailboxOf(more: Partial<RequestForMailbox> = {}): RequestForMailbox {
  return {
    v: 1,
    requestId,
    number: 1041,
    tenantId,
    kind: 'roomMailbox',
    template: snapshot(meetingRoom),
    status: 'queued',
    requester: kim,
    channel: 'chat',
    details: room,
    people: [dana, omar, kim],
    address: 'room-zrh-aurora@contoso.example',
    aliasAddress: '',
    reason: '',
    approvals: [],
    steps: mailboxStepsUntil(0),
    checks: [],
    progress: {},
    resource: null,
    problem: null,
    followUp: { state: 'none' },
    submittedAt: at('09:02'),
    updatedAt: at('09:02'),
    queuedAt: at('09:02'),
    startedAt: null,
    finishedAt: null,
    cancelledBy: null,
    cancelComment: '',
    version: 1,
    ...more,
  }
}

const missingDana = because('peopleMissing', { count: 1, people: { all: ['Dana Fox'] } })
const passed = (...names: CheckName[]) => names.map((name) => ({ name, ok: true, detail: '' }))
const made = {
  status: 'succeeded',
  steps: mailboxStepsUntil(8),
  progress: { mailboxId: 'm' },
  followUp: { state: 'announced', by: 'state', at: at('09:11') },
  finishedAt: at('09:11'),
  updatedAt: at('09:11'),
} as const
export const sharedOf = (more: Partial<RequestForMailbox> = {}): RequestForMailbox =>
  mailboxOf({
    number: 1043,
    kind: 'sharedMailbox',
    template: snapshot(supportMailbox),
    details: support,
    people: [kim, dana, omar],
    address: 'support@contoso.example',
    aliasAddress: 'help@contoso.example',
    reason: 'Customers write to five different people today.',
    ...more,
  })

/** One request for a mailbox in each situation whose card differs from a site's. */
export const mailboxes = {
  creating: mailboxOf({
    status: 'provisioning',
    steps: mailboxStepsUntil(4, { status: 'running', attempts: 1 }),
    updatedAt: at('09:06'),
  }),
  waiting: sharedOf({
    status: 'pendingApproval',
    approvals: [stageOf(1, [dana, omar])],
    steps: mailboxStepsUntil(0),
    queuedAt: null,
  }),
  ready: mailboxOf({
    ...made,
    resource: { address: 'room-zrh-aurora@contoso.example', mailboxId: 'm' },
    checks: passed(
      ...(['address', 'mailboxType', 'signInBlocked', 'capacity', 'visibility', 'contact'] as const),
      ...(['place', 'booking', 'fullAccess', 'sendAs'] as const),
    ),
  }),
  notVisibleYet: mailboxOf({
    ...made,
    resource: { address: 'room-zrh-aurora@contoso.example', mailboxId: 'm' },
    checks: [
      ...passed(
        'address',
        'mailboxType',
        'signInBlocked',
        'capacity',
        'visibility',
        'contact',
        'booking',
        'fullAccess',
      ),
      {
        name: 'place',
        ok: false,
        notVisibleYet: true,
        detail: '',
        reason: because('faults', {
          faults: {
            parts: [
              because('valueEmpty', { property: because('exchangeProperty', { property: 'Capacity' }), wanted: '12' }),
              because('valueEmpty', {
                property: because('exchangeProperty', { property: 'Tags' }),
                wanted: 'Whiteboard',
              }),
            ],
            between: ', ',
          },
        }),
      },
    ],
  }),
  sharedReady: sharedOf({
    ...made,
    resource: { address: 'support@contoso.example', mailboxId: 'm' },
    checks: passed('address', 'mailboxType', 'signInBlocked', 'alias', 'automaticReply', 'fullAccess', 'sendAs'),
  }),
  checkFailed: mailboxOf({
    status: 'failed',
    steps: mailboxStepsUntil(7, { status: 'failed', attempts: 1 }),
    checks: [
      ...passed('address', 'mailboxType', 'signInBlocked', 'capacity', 'place', 'fullAccess'),
      { name: 'sendAs', ok: false, detail: '', reason: missingDana },
      { name: 'visibility', ok: true, detail: '' },
    ],
    problem: checksFailed('sendAs', missingDana),
    updatedAt: at('09:12'),
  }),
  nameTaken: mailboxOf({
    status: 'failed',
    steps: mailboxStepsUntil(0, { status: 'failed', attempts: 1 }),
    problem: problemOf(
      'name-taken',
      because('takenButFree', {
        reason: because('mailboxAddressTaken', { address: 'room-zrh-aurora@contoso.example' }),
        address: 'room-zrh-aurora-2',
      }),
      { step: 'create-mailbox', suggestion: 'room-zrh-aurora-2' },
    ),
    updatedAt: at('09:03'),
  }),
  refused: mailboxOf({
    status: 'failed',
    steps: mailboxStepsUntil(6, { status: 'failed', attempts: 5 }),
    problem: problemOf(
      'ServerBusyException',
      because('serviceAnsweredCode', {
        ...{ service: 'Exchange Online', status: 400, error: 'ServerBusyException' },
        purpose: because('grantingFullAccess'),
      }),
      { step: 'grant-access' },
    ),
    updatedAt: at('09:09'),
  }),
  cancelled: mailboxOf({
    status: 'cancelled',
    steps: mailboxStepsUntil(6, { status: 'failed', attempts: 5 }),
    cancelledBy: sam,
    cancelComment: 'Exchange does not take it.',
    finishedAt: at('09:20'),
    updatedAt: at('09:20'),
  }),
} as const satisfies Record<string, RequestForMailbox>

export const mailboxPlanOf = (of: RequestForMailbox, more: Partial<MailboxPlan> = {}): MailboxPlan => ({
  kind: of.kind,
  template: of.kind === 'sharedMailbox' ? supportMailbox : meetingRoom,
  details: of.details,
  people: of.people,
  address: of.address,
  aliasAddress: of.aliasAddress,
  around: { prefix: '', suffix: '', separator: '-' },
  applied: [],
  emptyTokens: [],
  approvals: of.approvals,
  reason: of.reason,
  names: [{ name: of.address, pointer: '/name' }],
  ...more,
})
