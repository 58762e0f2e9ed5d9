/** Calls as the API document shows them, with what the service answers in local mode. A test makes each and compares. */

const id = '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11'

/** What both see of it: those who fill in its form, and those who look after it. */
const shownToAll = {
  id,
  version: 1,
  kind: 'teamSite',
  name: 'Project site',
  description: 'Files, lists and pages for one project team',
  icon: '🗂',
  localised: { de: { name: 'Projektseite', description: 'Dateien, Listen und Seiten für ein Projektteam' } },
  default: false,
  order: 10,
  fields: [
    {
      key: 'costCentre',
      type: 'text',
      label: 'Cost centre',
      help: '',
      placeholder: 'Four digits, such as 4711',
      required: true,
      choices: [],
      pattern: '\\d{4}',
      error: 'A cost centre has four digits, such as 4711.',
    },
    {
      key: 'audience',
      type: 'choice',
      label: 'Who works in it',
      help: 'Guests from outside need an approved partner',
      placeholder: '',
      required: true,
      choices: [
        { title: 'Only people in Contoso', value: 'internal' },
        { title: 'Contoso and named partners', value: 'partners' },
      ],
      error: '',
    },
  ],
  properties: {},
  labels: {
    allowed: [
      { id: '33333333-cccc-4ccc-8ccc-000000000001', name: 'Public' },
      { id: '33333333-cccc-4ccc-8ccc-000000000002', name: 'Internal' },
      { id: '33333333-cccc-4ccc-8ccc-000000000003', name: 'Confidential' },
    ],
    default: '33333333-cccc-4ccc-8ccc-000000000002',
  },
  limits: { ownersMinimum: 1, ownersMaximum: 20, externalOwners: true },
  naming: { prefix: '', suffix: '' },
  quota: {},
} as const

export const listTemplatesExamples = {
  usable: {
    summary: 'What the caller may use; the first of the list',
    status: 200,
    answer: { value: [{ ...shownToAll, approvalRequired: true }] },
  },
} as const

export const readTemplateExamples = {
  questions: {
    summary: 'What the form needs',
    params: { templateId: id },
    status: 200,
    answer: { ...shownToAll, approvalRequired: true },
  },
  policies: {
    summary: 'All of it, for an admin',
    params: { templateId: id },
    status: 200,
    answer: {
      ...shownToAll,
      active: true,
      audience: null,
      approval: {
        stages: [
          {
            approvers: [
              { user: '11111111-aaaa-4aaa-8aaa-000000000002' },
              { user: '11111111-aaaa-4aaa-8aaa-000000000003' },
            ],
            rule: 'any',
          },
        ],
      },
      webhook: null,
    },
  },
} as const
