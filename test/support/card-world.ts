import type { Viewer } from '../../src/cards/index.ts'
import {
  type ApprovalStage,
  because,
  type CheckName,
  type Decision,
  type Person,
  type Problem,
  problemOf,
  type Reason,
  type Template,
  template as templateSchema,
} from '../../src/core/index.ts'

/** The people and requests of the card samples: Kim Lee requests Project Aurora, Dana Fox and Omar Haddad decide. */
const personOf = (number: number, displayName: string): Person => ({
  id: `11111111-aaaa-4aaa-8aaa-${String(number).padStart(12, '0')}`,
  displayName,
  userPrincipalName: `${displayName.split(' ')[0]?.toLowerCase()}@contoso.example`,
})
export const kim = personOf(1, 'Kim Lee')
export const dana = personOf(2, 'Dana Fox')
export const omar = personOf(3, 'Omar Haddad')
export const priya = personOf(4, 'Priya Nair')
export const sam = personOf(5, 'Sam Roy')

export const siteRoot = 'https://contoso.sharepoint.com/sites/'
export const mailDomain = 'contoso.example'
export const requestId = '7d1c2b3a-4e5f-4a6b-8c7d-9e0f1a2b3c42'
export const tenantId = '72f988bf-86f1-4af0-91ab-2d7cd0110042'

export const viewerOf = ({ id }: Person, more: Partial<Viewer> = {}): Viewer => ({
  id,
  locale: 'en-GB',
  timeZone: 'Europe/Zurich',
  now: new Date('2026-11-20T10:45:00Z'),
  siteRoot,
  outlookRoot: 'https://outlook.office.com/',
  ...more,
})

/** Returns a time on the sample's day. 10:02 in Zurich is 09:02 in UTC. */
export const at = (time: string): string => `2026-11-20T${time}:00Z`

export const templateOf = (body: object): Template => templateSchema.parse(body)

export const projectSite = templateOf({
  id: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  version: 3,
  kind: 'teamSite',
  name: 'Project site',
  description: 'Files, lists and pages for one project team',
  fields: [
    {
      key: 'costCentre',
      type: 'text',
      label: 'Cost centre',
      required: true,
      placeholder: 'Four digits, such as 4711',
      pattern: '\\d{4}',
      error: 'A cost centre has four digits, such as 4711.',
    },
    {
      key: 'audience',
      type: 'choice',
      label: 'Who works in it',
      required: true,
      help: 'Guests can join only from approved partner companies',
      choices: [
        { title: 'Only people in Contoso', value: 'internal' },
        { title: 'Contoso and named partners', value: 'partners' },
      ],
    },
  ],
  labels: {
    allowed: [
      { id: 'b1', name: 'Public' },
      { id: 'b2', name: 'Internal' },
      { id: 'b3', name: 'Confidential' },
    ],
    default: 'b2',
  },
  approval: { stages: [{ approvers: [{ user: dana.id }, { user: omar.id }] }] },
})

/** A communication site template without approval, labels or own fields. */
export const openCommunity = templateOf({
  id: 'd9e8f7a6-1c2b-4d3e-a4f5-6b7c8d9e0f44',
  version: 1,
  kind: 'communicationSite',
  name: 'Open community',
  description: 'For clubs and interest groups',
})

export const stageOf = (stage: number, approvers: Person[], more: Partial<ApprovalStage> = {}): ApprovalStage => ({
  stage,
  rule: 'any',
  approvers,
  decisions: [],
  ...more,
})
export const approvedBy = (by: Person, time: string, comment?: string): Decision => ({
  by,
  decision: 'approved',
  at: at(time),
  ...(comment && { comment }),
})
export const rejectedBy = (by: Person, time: string, comment: string): Decision => ({
  by,
  decision: 'rejected',
  at: at(time),
  comment,
})

/** The problem of a request with one failed check. */
export const checksFailed = (check: CheckName, fault: Reason): Problem =>
  problemOf('ready-check', because('checksFailed', { faults: [because('checkFault', { check, fault })] }), {
    step: 'ready-check',
  })
