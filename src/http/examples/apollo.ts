/** The people of Contoso, and what a site that Kim asks for looks like before work on it has begun: what the examples tell of. */

export const kim = {
  id: '11111111-aaaa-4aaa-8aaa-000000000001',
  displayName: 'Kim Lee',
  userPrincipalName: 'kim@contoso.example',
} as const
export const dana = {
  id: '11111111-aaaa-4aaa-8aaa-000000000002',
  displayName: 'Dana Fox',
  userPrincipalName: 'dana@contoso.example',
} as const
export const omar = {
  id: '11111111-aaaa-4aaa-8aaa-000000000003',
  displayName: 'Omar Haddad',
  userPrincipalName: 'omar@contoso.example',
} as const
export const sam = {
  id: '11111111-aaaa-4aaa-8aaa-000000000004',
  displayName: 'Sam Roy',
  userPrincipalName: 'sam@contoso.example',
} as const

const pending = { status: 'pending', attempts: 0 } as const
export const notBegun = {
  steps: [
    { name: 'create-site', ...pending },
    { name: 'wait-for-site', ...pending },
    { name: 'apply-label', ...pending },
    { name: 'ready-check', ...pending },
    { name: 'link-group', ...pending },
  ],
  checks: [],
  problem: null,
  kind: 'teamSite',
  details: {
    displayName: 'Apollo',
    description: '',
    alias: 'apollo',
    owners: [kim.id],
    metadata: { audience: 'internal', costCentre: '4711' },
    labelId: '33333333-cccc-4ccc-8ccc-000000000002',
  },
  resource: null,
} as const

const hour = 3_600_000

/** When what is due of a stage whose turn came at this time, by the settings as they come. */
export function openedAt(at: string) {
  const after = (hours: number): string => new Date(Date.parse(at) + hours * hour).toISOString()
  return {
    openedAt: at,
    times: {
      reachBy: after(1 / 6),
      remindAt: after(24),
      escalateAt: after(72),
      warnAt: after(12 * 24),
      expiresAt: after(14 * 24),
    },
  }
}
