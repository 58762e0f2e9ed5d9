import { firstDayCard, firstDayView } from '../../src/cards/operations/first-day.ts'
import { starterFormCard, starterFormView, startersCard, startersView } from '../../src/cards/templates/starters.ts'
import {
  because,
  judgeHealth,
  type StarterAnswers,
  type StarterKind,
  starterOf,
  type TemplateReport,
  template,
  templateFromStarter,
} from '../../src/core/index.ts'
import { lackingReason, permissions } from '../../src/microsoft365/wire/index.ts'
import { dana, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { approvers } from './card-template.ts'
import { factsOf } from './health-facts.ts'
import { faultSaying } from './refusal.ts'

const permissionsNamed = (...names: readonly string[]) => permissions.filter(({ name }) => names.includes(name))
const asSam = viewerOf(sam, { isAdmin: true })
const id = '7e57ed00-0000-4000-8000-0000000000f1'
const { displayName } = sam
const healthy = judgeHealth(factsOf(asSam.now))
const troubled = judgeHealth(
  factsOf(asSam.now, {
    botSecret: { endsAt: null },
    services: [
      { name: 'graph', milliseconds: 182 },
      {
        name: 'sharePoint',
        milliseconds: 210,
        trouble: 'permissionMissing',
        problem: lackingReason('SharePoint', permissionsNamed('Sites.FullControl.All')),
      },
      {
        name: 'exchange',
        milliseconds: 340,
        trouble: 'permissionMissing',
        problem: lackingReason('Exchange Online', permissionsNamed('Exchange Administrator')),
      },
    ],
  }),
)

function answersOf(kind: StarterKind, more: Partial<StarterAnswers> = {}): StarterAnswers {
  const { displayName: name, description, prefix } = starterOf(kind)
  const usual = { approvedBy: 'manager' as const, people: [], group: '', owners: 1, capacity: 51_200 }
  return { name, description, prefix, ...usual, ...more }
}
const reportOf = (kind: StarterKind, more: object, example: string): TemplateReport => ({
  template: template.parse(templateFromStarter({ kind, id, ...more })),
  ...{ open: 0, resources: 0, edits: [], names: { [dana.id]: 'Dana Fox', [approvers]: 'Site approvers' } },
  example: { typed: 'Apollo', displayName: 'Apollo', address: example },
})
const form = (variant: string, kind: StarterKind, more: Partial<Parameters<typeof starterFormView>[0]> = {}): Sample =>
  sample(variant, starterFormCard, () =>
    starterFormView({ kind, id, answers: answersOf(kind), faults: [], people: [], ...more }),
  )

export const firstDaySamples: readonly Sample[] = [
  sample('', firstDayCard, () => firstDayView({ displayName, health: healthy, templates: 0 }, asSam)),
  sample('missing', firstDayCard, () => firstDayView({ displayName, health: troubled, templates: 0 }, asSam)),
  sample('ready', firstDayCard, () => firstDayView({ displayName, health: healthy, templates: 5 }, asSam)),
  sample('', startersCard, () => startersView()),
  form('', 'teamSite'),
  form('preview', 'room', {
    report: reportOf('room', {}, 'room-apollo@contoso.example'),
  }),
  form('chosen', 'sharedMailbox', {
    answers: answersOf('sharedMailbox', { approvedBy: 'chosen', people: [dana.id], group: 'Site approvers' }),
    people: [dana],
    report: reportOf(
      'sharedMailbox',
      { approvers: [{ user: dana.id }, { group: approvers }] },
      'apollo@contoso.example',
    ),
  }),
  form('unprotected', 'teamSite', {
    answers: answersOf('teamSite', { approvedBy: 'nobody', owners: 2 }),
    report: reportOf('teamSite', { approvers: [], ownersMinimum: 2 }, 'https://contoso.sharepoint.com/sites/apollo'),
  }),
  form('returned', 'sharedMailbox', {
    answers: answersOf('sharedMailbox', { prefix: '-x', approvedBy: 'chosen', people: [dana.id], group: 'site' }),
    people: [dana],
    faults: [
      faultSaying('/name', 'name-taken', 'Shared mailbox is taken. Try another name.', 'Shared mailbox 2'),
      faultSaying('/prefix', 'invalid', 'naming.prefix does not have the right format.'),
      {
        ...{ pointer: '/group', code: 'invalid' },
        reason: because('groupUnclear', { typed: 'site', names: ['Site approvers', 'Site owners'] }),
      },
    ],
  }),
]
