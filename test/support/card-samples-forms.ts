import { requestFormCard, requestFormView } from '../../src/cards/drafts/form-view.ts'
import { chooseTemplateCard, chooseTemplateView } from '../../src/cards/templates/choose-template.ts'
import { type FaultCode, inLocale, type NamePreview, type Template } from '../../src/core/index.ts'
import { requestForm, sketchOf } from './card-forms.ts'
import { dana, draftOf, openCommunity, projectSite, siteRoot, templateOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { faultSaying } from './refusal.ts'

/** A room template with all types of questions, properties of each kind, and limits. */
export const boardRoom = templateOf({
  id: 'a1b2c3d4-2d3c-4e5f-9a8b-7c6d5e4f3a77',
  version: 4,
  kind: 'roomMailbox',
  name: 'Board room',
  icon: '🏛️',
  description: 'A room of the board, with its own rules',
  localised: { de: { name: 'Ratssaal', description: 'Ein Raum der Leitung, mit eigenen Regeln' } },
  naming: {
    name: { pattern: 'room-{city:3}-{input}' },
    displayName: { pattern: '{city:upper:3} {input} (Board)' },
    blockedWords: ['payroll'],
  },
  properties: {
    city: { shown: true, required: true },
    country: { fixed: 'Switzerland' },
    companyName: { shown: false, fixed: 'Contoso AG' },
    'roomMailboxMetadata.hasWhiteboard': { fixed: true },
    officeLocation: { default: 'Zürich HQ, floor 3' },
    alias: { shown: false },
    ...Object.fromEntries(
      ['notes', 'businessPhones', 'streetAddress', 'postalCode', 'state', 'audioDeviceName'].map((id) => [
        id,
        { shown: false },
      ]),
    ),
    'permissions.SendAs': { shown: false },
  },
  limits: { capacityMaximum: 50_000, permissionsMaximum: 5 },
  fields: [
    {
      key: 'costCentre',
      type: 'text',
      label: 'Cost centre',
      required: true,
      pattern: '\\d{4}',
      error: 'A cost centre has four digits, such as 4711.',
      placeholder: '4711',
    },
    {
      key: 'building',
      type: 'choice',
      label: 'Building',
      default: 'north',
      choices: [
        { title: 'North', value: 'north' },
        { title: 'South', value: 'south' },
      ],
    },
    { key: 'screens', type: 'number', label: 'Screens', minimum: 0, maximum: 6, default: 1 },
    { key: 'opens', type: 'date', label: 'Usable from', minimum: 'today', maximum: '2027-12-31' },
    { key: 'catering', type: 'toggle', label: 'Catering comes here', default: true },
    {
      key: 'contact',
      type: 'person',
      label: 'Who keeps it in order',
      required: true,
      help: 'They get no access.',
    },
  ],
})
const typed = {
  displayName: 'Aurora',
  name: 'aurora',
  city: 'Zürich',
  'metadata.costCentre': '47',
  'metadata.building': 'south',
  'metadata.screens': '9',
  'metadata.opens': '2026-11-01',
  'metadata.catering': 'false',
  'metadata.contact': dana.id,
  capacity: '60000',
}
const opened = {
  officeLocation: 'Zürich HQ, floor 3',
  'metadata.building': 'north',
  'metadata.screens': '1',
  'metadata.catering': 'true',
}
const unknown: NamePreview = {
  displayName: '{city} … (Board)',
  address: 'room-{city}-…@contoso.example',
  status: 'sketch',
  isNumbered: false,
}
const known: NamePreview = {
  displayName: 'ZÜR Aurora (Board)',
  address: 'room-zur-aurora@contoso.example',
  status: 'likely',
  isNumbered: false,
}
const form = (variant: string, template: Template, options: Omit<Parameters<typeof requestForm>[0], 'template'>) =>
  sample(variant, requestFormCard, () => requestFormView(requestForm({ template, ...options })))
const checked = (variant: string, names: Partial<NamePreview>) =>
  form(`name-${variant}`, boardRoom, {
    names: { ...known, ...names },
    people: [dana],
    draft: draftOf(typed, { version: 2 }),
  })
const mistaken = (
  variant: string,
  template: Template,
  values: Record<string, string>,
  faults: [string, FaultCode, string?][],
) =>
  form(variant, template, {
    people: [dana],
    draft: draftOf(values, { version: 2 }),
    names: template === boardRoom ? known : sketchOf(template),
    faults: faults.map(([pointer, code, suggestion]) => faultSaying(pointer, code, 'What the core says.', suggestion)),
  })
const limited = templateOf({
  ...projectSite,
  limits: { ownersMinimum: 2, ownersMaximum: 3, externalOwners: false },
  naming: { alias: { pattern: 'prj-{counter:4}', allowed: '' }, displayName: { pattern: 'PRJ {input}' } },
  quota: { openPerPerson: 1 },
})

/**
 * Forms that follow their template: questions of all types, fixed values, faults of each kind, and names that are free,
 * taken or reserved.
 */
export const formSamples: readonly Sample[] = [
  form('every-type', boardRoom, { draft: draftOf(opened), names: unknown }),
  form('every-type-german', inLocale(boardRoom, 'de-CH'), { draft: draftOf(opened), names: unknown }),
  mistaken('every-mistake', boardRoom, typed, [
    ['/displayName', 'blocked-word', 'payroll'],
    ['/name', 'characters', '“ ” !'],
    ['/metadata/costCentre', 'pattern'],
    ['/metadata/screens', 'too-large', '6'],
    ['/metadata/opens', 'too-early', '2026-11-20'],
    ['/metadata/contact', 'unknown-person'],
    ['/capacity', 'too-large', '50000'],
    ['/permissions', 'too-many-people', '5'],
    ['/country', 'fixed', 'Switzerland'],
  ]),
  mistaken('limits', limited, { displayName: 'Aurora' }, [
    ['/owners', 'external-owner', 'Ann Guest'],
    ['', 'quota-reached'],
  ]),
  form('counted', limited, {
    draft: draftOf({ displayName: 'Aurora' }, { version: 2 }),
    names: { displayName: 'PRJ Aurora', address: `${siteRoot}prj-0042`, status: 'free', isNumbered: true },
  }),
  checked('free', { status: 'free' }),
  checked('silent', { status: 'silent' }),
  sample('icons', chooseTemplateCard, () =>
    chooseTemplateView(
      [inLocale(boardRoom, 'de'), openCommunity].map((one) => ({ ...one, approvalRequired: one.approval !== null })),
    ),
  ),
]
