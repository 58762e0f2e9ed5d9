import { dana, kim, templateOf } from './card-world.ts'

/** A group that decides. */
export const approvers = '22222222-bbbb-4bbb-8bbb-000000000001'

/** A template with every setting. */
export const rich = templateOf({
  id: '7e57ed00-0000-4000-8000-000000000001',
  version: 3,
  kind: 'sharedMailbox',
  name: 'Service desk',
  description: 'One address of a team that answers colleagues',
  icon: '🎧',
  localised: { de: { name: 'Servicestelle' } },
  default: true,
  audience: { people: [kim.id], groups: [approvers] },
  fields: [
    {
      key: 'service',
      type: 'text',
      label: 'Service',
      required: true,
      pattern: '[A-Z]{3}',
      error: 'Three letters.',
      customAttribute: 1,
    },
    {
      key: 'hours',
      type: 'choice',
      label: 'Hours',
      choices: [
        { title: 'Office hours', value: 'office' },
        { title: 'Day and night', value: 'always' },
      ],
      default: 'office',
    },
    { key: 'messages', type: 'number', label: 'Messages a day', minimum: 1, maximum: 500 },
    { key: 'until', type: 'date', label: 'Needed until', minimum: 'today' },
    { key: 'public', type: 'toggle', label: 'Known to customers', default: false },
    { key: 'lead', type: 'person', label: 'Lead', required: true },
  ],
  properties: {
    city: { default: 'Zürich', required: true },
    hideFromGAL: { fixed: false, shown: false },
    notes: { shown: false },
  },
  naming: {
    displayName: { pattern: '{input} ({city})' },
    name: { pattern: '{city:3}-{input}-{counter:3}', allowed: 'a-z0-9-' },
    alias: { pattern: 'desk-{input}' },
    blockedWords: ['test', 'temp'],
  },
  limits: { capacityMaximum: 50_000, permissionsMaximum: 20, accessLevels: ['FullAccess'], externalOwners: false },
  labels: { allowed: [{ id: 'b2', name: 'Internal' }], default: 'b2' },
  approval: {
    stages: [
      { approvers: [{ manager: true }], remindAfterHours: 8, escalateAfterHours: 24, backup: [{ group: approvers }] },
      {
        approvers: [{ user: dana.id }, { user: kim.id }, { ownersOf: approvers }],
        rule: 'quorum',
        quorum: 2,
        when: [
          { field: 'capacity', above: 10_000 },
          { field: 'metadata.hours', oneOf: ['always'] },
          { externalOwners: true },
        ],
      },
    ],
    expiresAfterDays: 7,
  },
  webhook: {
    url: 'https://hooks.contoso.example/desks',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    events: ['mailbox.provisioned', 'request.failed'],
  },
  quota: { openPerPerson: 2, resources: 50 },
})
