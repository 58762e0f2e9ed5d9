import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { judgedBy } from '../../src/core/approvals/approvers.ts'
import {
  explain,
  type MailboxKind,
  mailboxKinds,
  type ResourceKind,
  resourceKinds,
  template,
} from '../../src/core/index.ts'
import { type Condition, fieldTypes, judge } from '../../src/core/templates/approval-policy.ts'
import { actorOf, asMailbox, asSite, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const asKim = actorOf(kim)
const isMailbox = (kind: ResourceKind): kind is MailboxKind => mailboxKinds.some((one) => one === kind)

/** The tenant's defaults for fields that a request omits. A field without a row then has no value. */
const tenantValues = {
  ...{ capacity: 51_200, domain: 'contoso.example', hideFromGAL: false, autoMapping: true },
  ...{
    isAllowAutomaticReplyOverride: true,
    isWheelChairAccessible: false,
    businessPhones: [],
    tags: [],
    permissions: {},
  },
  'roomMailboxMetadata.hasWhiteboard': false,
  'roomMailboxMetadata.hasConferencePhone': false,
  'roomMailboxMetadata.hasVideoConferencing': false,
  'metadata.urgent': false,
} as const
const tenantValueOf = (kind: ResourceKind, field: string): unknown => {
  if (field === 'name' || (field === 'alias' && !isMailbox(kind))) return 'box'
  if (field === 'owners') return [kim]
  return Object.entries(tenantValues).find(([name]) => name === field)?.[1]
}
/** A condition about a value, not `given`, which is about the request alone. */
const conditionOn = (field: string, value: unknown): fc.Arbitrary<Condition> => {
  const texts = fc.constantFrom('box', 'other', 'contoso.example', String(value), true, false)
  const number = fc.oneof(fc.integer({ min: -1, max: 2 }), fc.integer({ min: 51_198, max: 51_202 }))
  return fc.oneof(
    number.map((above) => ({ field, above })),
    number.map((below) => ({ field, below })),
    fc.array(texts, { minLength: 1, maxLength: 3 }).map((oneOf) => ({ field, oneOf })),
    fc.array(texts, { minLength: 1, maxLength: 3 }).map((noneOf) => ({ field, noneOf })),
  )
}
const withValue = (field: string, value: unknown): object => {
  const [outer = '', key] = field.split('.')
  return key === undefined ? { [outer]: value } : { [outer]: { [key]: value } }
}

describe.each(resourceKinds)('omitting a field of a %s', (kind) => {
  const fields = [{ key: 'urgent', type: 'toggle', label: 'Urgent' }]
  const of = template.parse({ id: randomUUID(), version: 1, kind, name: 'T', fields })
  const facts = { applied: [], owners: [kim], name: 'box', domain: 'contoso.example', aliasAddress: '' }
  const names = [...Object.keys(fieldTypes(kind)), 'metadata.urgent']

  it.each(names)('%s: does not avoid an approval that the tenant’s default needs', (field) => {
    const value = tenantValueOf(kind, field)
    fc.assert(
      fc.property(conditionOn(field, value), (condition) => {
        const holds = (details: object) =>
          judge(condition, { ...judgedBy(of, { ...facts, details: { ...details } }), externalOwners: [] }).holds
        const [omitted, sent] = [holds({}), holds(value === undefined ? {} : withValue(field, value))]
        expect([omitted, sent]).toEqual([sent, sent])
      }),
    )
  })
})

describe('a request without a capacity', () => {
  const core = withCore()
  const large = { approvers: [{ user: dana.id }], when: [{ field: 'capacity', above: 20_000 }] }
  const larger = { approvers: [{ user: omar.id }], when: [{ field: 'capacity', above: 51_000 }] }
  const largest = { approvers: [{ user: priya.id }], when: [{ field: 'capacity', above: 51_200 }] }
  const bodyFor = async (more: object, kind: ResourceKind = 'sharedMailbox') => {
    const { id: templateId } = await core.template({ kind, approval: { stages: [large, larger, largest] }, ...more })
    return { templateId, name: `box-${templateId.slice(0, 8)}`, displayName: 'Box' }
  }
  const stagesOf = ({ approvals }: { approvals: readonly { approvers: readonly { id: string }[] }[] }) =>
    approvals.map(({ approvers }) => approvers[0]?.id)

  it.each(mailboxKinds)('is checked with the 50 GB of a %s', async (kind) => {
    const body = await bodyFor({}, kind)
    const preview = await core.provisioning.previewRequest(asKim, { body })
    const request = asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
    expect([stagesOf(preview), stagesOf(request)]).toEqual([
      [dana.id, omar.id],
      [dana.id, omar.id],
    ])
    // The service does not set the tenant's default.
    expect([request.details.capacity, preview.defaults]).toEqual([undefined, []])
  })

  it.each([
    [10_000, [], 10_000],
    [30_000, [dana.id], 30_000],
    [51_200, [dana.id, omar.id], undefined],
    [102_400, [dana.id, omar.id], undefined],
  ])('gets at most the maximum of its template: %i MB', async (capacityMaximum, stages, capacity) => {
    const body = await bodyFor({ limits: { capacityMaximum } })
    const preview = await core.provisioning.previewRequest(asKim, { body })
    const request = asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
    expect([stagesOf(preview), stagesOf(request)]).toEqual([stages, stages])
    expect(request.details.capacity).toBe(capacity)
    expect(preview.defaults).toEqual(
      capacity === undefined ? [] : [{ field: 'capacity', value: capacity, why: 'maximum' }],
    )
  })

  it('is checked with the default of its template, as if the request contained it', async () => {
    const properties = { capacity: { default: 30_000 } }
    const body = await bodyFor({ properties, limits: { capacityMaximum: 40_000 } })
    const request = asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
    expect([stagesOf(request), request.details.capacity]).toEqual([[dana.id], 30_000])
  })

  it('has the same approvers in chat, dry run, simulation, invalid preview and explanation', async () => {
    const body = await bodyFor({})
    const opened = await core.provisioning.openDraft(asKim, { templateId: body.templateId })
    if (opened.step !== 'details') throw new Error('no form')
    const { requestId, version } = opened.draft
    const values = { name: body.name, displayName: 'Box', reason: 'So.' }
    const reviewed = await core.provisioning.reviewDraft(asKim, { requestId, version, values })
    if (reviewed.step !== 'review') throw new Error(JSON.stringify(reviewed))
    const simulated = await core.provisioning.previewRequestAs(actorOf(priya, true), { personId: kim.id, body })
    const refused = await core.provisioning.previewRequest(asKim, { body: { ...body, country: 'Nowhere' } })
    expect(refused.valid).toBe(false)
    expect([reviewed.plan, simulated, refused].map(stagesOf)).toEqual(Array(3).fill([dana.id, omar.id]))
    const rows = [{ key: '1', body }]
    const [row] = await core.provisioning.checkBatch(asKim, { resource: 'mailbox', rows })
    expect(row).toMatchObject({ status: 'ok', approvalRequired: true })
    const request = await core.provisioning.submitMailbox(asKim, { body })
    const [first] = request.policy ?? []
    expect(first?.conditions).toEqual([{ condition: large.when[0], found: '51200', holds: true, usual: true }])
    expect(explain(request, [], new Date()).map(apiTexts.explanation)).toEqual(
      expect.arrayContaining([
        'Approval 1 is needed because of capacity: 51200, above 20000.',
        'The request leaves out capacity, so the default applies: 51200.',
      ]),
    )
  })

  it('meets `given` only with a value from the requester', async () => {
    const when = [{ field: 'capacity', given: true }]
    const approval = { stages: [{ approvers: [{ user: dana.id }], when }] }
    const body = await bodyFor({ approval, limits: { capacityMaximum: 10_000 } })
    expect((await core.provisioning.previewRequest(asKim, { body })).approvals).toEqual([])
    expect(
      (await core.provisioning.previewRequest(asKim, { body: { ...body, capacity: 500 } })).approvals,
    ).toHaveLength(1)
  })
})

describe('a mailbox created without a capacity', () => {
  const core = withCore()
  const contoso = withTenant()

  it.each([
    ['the maximum of its template, if the tenant’s default is larger', 10_000, '9.766 GB (10,485,760,000 bytes)'],
    ['the tenant’s default, if the template allows it', 51_200, '50 GB (53,687,091,200 bytes)'],
  ])('gets %s', async (_, capacityMaximum, quota) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', limits: { capacityMaximum } })
    const { tenant, directory } = contoso
    const provisioning = core.with({ tenant, directory })
    const name = `box-${templateId.slice(0, 8)}`
    const { requestId } = await provisioning.submitMailbox(asKim, { body: { templateId, name, displayName: 'Box' } })
    const run = { lastAttempt: true, signal: new AbortController().signal }
    await expect
      .poll(
        async () => {
          await provisioning.system.provision(requestId, run)
          return (await core.ports.requests.find(requestId))?.status
        },
        { timeout: 60_000 },
      )
      .toBe('succeeded')
    const [mailbox] = await contoso.found('Get-Mailbox', { Identity: `${name}@contoso.example` })
    expect(mailbox?.['ProhibitSendReceiveQuota']).toBe(quota)
  })
})

describe('a request without an address', () => {
  const core = withCore()

  it('is checked with its derived address', async () => {
    const when = [{ field: 'alias', oneOf: ['board'] }]
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: dana.id }], when }] } })
    const ask = async (more: object) =>
      asSite(await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Board', ...more } }))
    const first = await ask({})
    expect([first.alias, first.approvals.length]).toEqual(['board', 1])
    expect((await ask({ alias: 'else' })).approvals).toEqual([])
  })
})
