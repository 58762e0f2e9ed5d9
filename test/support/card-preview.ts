import { because, type Outlook, type SitePlan } from '../../src/core/index.ts'
import { dana, omar, planOf, priya, projectSite, sam, stageOf } from './card-requests.ts'

const [field] = projectSite.fields
const approvals = [
  stageOf(1, [dana, omar]),
  stageOf(2, [omar, priya, sam], { rule: 'quorum', quorum: 2 }),
  stageOf(3, [sam], { resolvedTo: 'admins', resolvedFor: 'noManager' }),
]

/** A plan on which the template has its maximum effect, with all surprises. */
export const foreseen: { readonly plan: SitePlan; readonly outlook: Outlook } = {
  plan: planOf({
    details: { ...planOf().details, displayName: 'PRJ Project Aurora 0042' },
    typedName: 'Project Aurora',
    alias: 'prj-project-aurora-0042',
    url: 'https://contoso.sharepoint.com/sites/prj-project-aurora-0042',
    approvals,
    applied: [
      { field: 'labelId', value: 'b2', why: 'default' },
      { field: 'description', value: 'Plans', why: 'fixed' },
      ...(field ? [{ field: `metadata.${field.key}`, value: '4711', why: 'default' as const }] : []),
    ],
  }),
  outlook: {
    approvals,
    warnings: [
      { code: 'unknown-token', reason: because('tokenEmpty', { token: 'department' }) },
      { code: 'number-later', reason: because('numberLater') },
      { code: 'admins-instead', reason: because('adminsInstead', { stage: 3, why: 'noManager' }) },
      {
        code: 'delegated',
        reason: because('delegated', {
          ...{ stage: 1, name: 'Dana Fox', person: 'Omar Haddad', until: '2026-11-28T23:00:00.000Z' },
        }),
      },
    ],
  },
}
