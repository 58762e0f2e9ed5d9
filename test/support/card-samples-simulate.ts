import {
  adminSimulateCard,
  adminSimulateChoiceCard,
  adminSimulateChoiceView,
  adminSimulateView,
} from '../../src/cards/requests/admin-simulate.ts'
import type { Simulation } from '../../src/core/index.ts'
import { foreseen } from './card-preview.ts'
import { dana, kim, openCommunity, projectSite, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'

const asSam = viewerOf(sam, { isAdmin: true })
const { approvals, warnings } = foreseen.outlook
const common: Pick<
  Simulation['preview'],
  'valid' | 'kind' | 'templateId' | 'templateVersion' | 'similar' | 'errors' | 'warnings'
> = {
  ...{ valid: true, kind: 'teamSite', templateId: projectSite.id, templateVersion: 1 },
  ...{ similar: { value: [], more: 0 }, errors: [], warnings: [] },
}
const person = { id: kim.id, displayName: kim.displayName, userPrincipalName: kim.userPrincipalName }

const allowed: Simulation = {
  template: {
    ...projectSite,
    icon: '🚀',
    limits: { ...projectSite.limits, ownersMinimum: 2, ownersMaximum: 5, externalOwners: false },
  },
  groupNames: { '22222222-bbbb-4bbb-8bbb-000000000001': 'Site *approvers*' },
  conditional: [2],
  nobodyApproves: false,
  preview: {
    ...common,
    names: {
      displayName: 'PRJ Example 0042',
      alias: 'prj-example-0042',
      url: 'https://contoso.sharepoint.com/sites/prj-example-0042',
      ...{ free: true, final: false },
    },
    approvals: [...approvals],
    defaults: [
      { field: 'labelId', value: 'b2', why: 'default' },
      { field: 'description', value: 'A place for *one* project', why: 'fixed' },
    ],
    outlook: { approvals, warnings: warnings.filter(({ code }) => code !== 'number-later') },
    simulated: {
      person,
      access: { mayUse: true, because: 'inGroup', groups: ['22222222-bbbb-4bbb-8bbb-000000000001'] },
      quota: {
        openRequests: { most: 10, left: 7 },
        openOfTemplate: { most: 2, left: 1 },
        resources: { most: 200, left: 12 },
      },
    },
  },
}
const outside: Simulation = {
  template: openCommunity,
  groupNames: {},
  conditional: [],
  nobodyApproves: false,
  preview: {
    ...common,
    names: null,
    approvals: [],
    defaults: [],
    outlook: { approvals: [], warnings: [] },
    simulated: { person, access: { mayUse: false, because: 'outside', groups: [] }, quota: {} },
  },
}
const templates = [projectSite, openCommunity]

export const simulateSamples: readonly Sample[] = [
  sample('', adminSimulateCard, () => adminSimulateView(allowed, asSam)),
  sample('outside', adminSimulateCard, () => adminSimulateView(outside, asSam)),
  sample('nobody', adminSimulateCard, () => adminSimulateView({ ...outside, nobodyApproves: true }, asSam)),
  sample('', adminSimulateChoiceCard, () =>
    adminSimulateChoiceView({ says: 'howTo', typed: { what: '', who: '' }, templates }, asSam),
  ),
  sample('template', adminSimulateChoiceCard, () =>
    adminSimulateChoiceView({ says: 'noTemplate', typed: { what: 'projekt', who: 'kim lee' }, templates }, asSam),
  ),
  sample('person', adminSimulateChoiceCard, () =>
    adminSimulateChoiceView(
      { says: 'whichPerson', typed: { what: 'Project site', who: 'k' }, people: [kim, dana] },
      asSam,
    ),
  ),
]
