/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

export const createMailboxExamples = {
  shared: {
    summary: 'A shared mailbox, with who may do what',
    body: {
      name: 'front-desk',
      displayName: 'Front desk',
      templateId: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
      permissions: {
        '11111111-aaaa-4aaa-8aaa-000000000001': 'FullAccess',
        '11111111-aaaa-4aaa-8aaa-000000000002': 'SendAs',
      },
      autoMapping: true,
      alias: 'hello',
      reason: 'One address for all questions',
    },
    status: 202,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      approvalRequired: false,
      status: 'queued',
    },
  },
  room: {
    summary: 'A room; what is asked for tells the kind',
    body: {
      name: 'zurich-2',
      displayName: 'Zürich, second floor',
      capacity: 1024,
      officeLocation: 'Second floor',
      isWheelChairAccessible: true,
      roomMailboxMetadata: { hasWhiteboard: true, hasVideoConferencing: true },
      metadata: { seats: 12 },
    },
    status: 202,
    answer: {
      requestId: '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11',
      tenantId: '0c0ffee0-1111-4111-8111-000000000365',
      approvalRequired: false,
      status: 'queued',
    },
  },
} as const
