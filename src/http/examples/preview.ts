import { dana, omar } from './apollo.ts'

const projectSite = '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11'
const minerva = {
  kind: 'teamSite',
  templateId: projectSite,
  templateVersion: 1,
  names: {
    displayName: 'Minerva',
    free: true,
    final: true,
    alias: 'minerva',
    url: 'https://contoso.sharepoint.com/sites/minerva',
  },
  approvals: [{ stage: 1, rule: 'any', approvers: [dana, omar] }],
  defaults: [{ field: 'labelId', value: '33333333-cccc-4ccc-8ccc-000000000002', why: 'default' }],
  warnings: [],
  similar: { value: [], more: 0 },
} as const

/** What requests would be, before anybody sends them. */
export const previewRequestExamples = {
  site: {
    summary: 'A site as it would be made, and who would be asked',
    body: {
      displayName: 'Minerva',
      templateId: projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    },
    status: 200,
    answer: { valid: true, ...minerva, errors: [] },
  },
  refused: {
    summary: 'All that would be refused, beside what can be said already',
    body: {
      displayName: 'Minerva',
      templateId: projectSite,
      owners: ['11111111-aaaa-4aaa-8aaa-000000000099'],
      metadata: { costCentre: '47', audience: 'internal' },
    },
    status: 200,
    answer: {
      valid: false,
      ...minerva,
      errors: [
        {
          pointer: '#/metadata/costCentre',
          code: 'pattern',
          detail: 'A cost centre has four digits, such as 4711.',
        },
        {
          pointer: '#/owners/0',
          code: 'unknown-person',
          detail: 'Owner 11111111-aaaa-4aaa-8aaa-000000000099 is not a person of this organisation.',
        },
      ],
    },
  },
  simulated: {
    summary: 'What it would be if somebody else asked, for an admin',
    query: { as: omar.id },
    body: {
      name: 'lost-property',
      displayName: 'Lost property',
      templateId: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
    },
    status: 200,
    answer: {
      valid: true,
      kind: 'sharedMailbox',
      templateId: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
      templateVersion: 1,
      names: { displayName: 'Lost property', free: true, final: true, address: 'shared-lost-property@contoso.example' },
      approvals: [],
      defaults: [],
      warnings: [
        {
          code: 'nobody-can-open',
          field: 'permissions',
          detail: 'Nobody can open this mailbox. Give somebody FullAccess.',
        },
      ],
      similar: { value: [], more: 0 },
      errors: [],
      simulated: { person: omar, access: { mayUse: true, because: 'everybody', groups: [] }, quota: {} },
    },
  },
} as const
