import { afterEach, describe, expect, test } from 'vitest'
import {
  type SiteKind,
  type SiteProgress,
  type SiteStepInput,
  siteKinds,
  siteSteps,
  TenantError,
} from '../../src/core/index.ts'
import { approversGroup, confidential, dana, kim, omar } from '../support/microsoft365.ts'
import { runStep, runSteps, siteInput, startTenant, withTenant } from '../support/simulated-tenant.ts'

const contoso = withTenant()
afterEach(() => contoso.healthy())

const everything = (kind: SiteKind): SiteStepInput => siteInput({ kind, owners: [dana, omar], labelId: confidential })
/** Every write that a site with two further owners and a label needs, with its count. */
const writes: { readonly [K in SiteKind]: readonly (readonly [operation: string, count: number])[] } = {
  teamSite: [
    ['graph.groups.upsert', 2],
    ['graph.groups.members.add', 2],
    ['graph.groups.owners.add', 2],
    ['sharepoint.tenant.site.update', 1],
    ['graph.groups.update', 1],
  ],
  communicationSite: [
    ['sharepoint.site.create', 1],
    ['sharepoint.owners.add', 2],
    ['sharepoint.tenant.site.update', 1],
    ['graph.groups.upsert', 1],
    ['graph.groups.update', 1],
  ],
}
/** Runs all steps like the provisioning job: repeats a step with the stored progress after a retryable error. */
async function persist(input: SiteStepInput): Promise<SiteProgress> {
  let progress = input.progress
  for (const step of siteSteps) {
    const run = async (triesLeft: number): Promise<SiteProgress> => {
      try {
        return await runStep(contoso.tenant, step, { ...input, progress })
      } catch (error) {
        if (error instanceof TenantError && error.retryable && triesLeft > 0) return run(triesLeft - 1)
        throw error
      }
    }
    progress = await run(5)
  }
  return progress
}
const callsOf = async (operation: string, containing: string) =>
  (await contoso.calls()).filter((call) => call.operation === operation && JSON.stringify(call).includes(containing))

describe.each(siteKinds)('a %s', (kind) => {
  test('is completed by its steps, and the linked group is found by the request id', async () => {
    const input = everything(kind)
    await contoso.forgetCalls()
    const { progress } = await runSteps(contoso.tenant, siteSteps, input)
    const refused = (await contoso.calls()).filter(({ status }) => status >= 400 && status !== 404)
    expect(refused).toEqual([])
    const url = `${contoso.simulator.url}/sites/${input.alias}`
    expect(progress).toMatchObject({ url, securityGroupName: `SPO-${input.alias}` })
    expect(progress.siteId).toMatch(/^127\.0\.0\.1,[\da-f-]{36},[\da-f-]{36}$/)
    expect(progress.groupId === undefined).toBe(kind === 'communicationSite')
    const found = await contoso.directory.findProvisionedGroup(input.requestId)
    const { securityGroupId: id, securityGroupName: displayName, siteId } = progress
    expect(found).toEqual({ id, displayName, siteId, url })
  })

  test('is created once when every step runs twice, with and without the stored progress', async () => {
    const input = everything(kind)
    let progress = input.progress
    for (const step of siteSteps) {
      const first = await runStep(contoso.tenant, step, { ...input, progress })
      // As after a crash between the call and the store: the step does not know its first run.
      expect(await runStep(contoso.tenant, step, { ...input, progress })).toEqual(first)
      expect(await runStep(contoso.tenant, step, { ...input, progress: first })).toEqual(first)
      progress = first
    }
    const creations = kind === 'teamSite' ? 2 : 1
    expect(await callsOf('graph.groups.upsert', input.alias)).toHaveLength(creations)
    expect(await callsOf('sharepoint.site.create', input.alias)).toHaveLength(2 - creations)
    expect(await callsOf('graph.groups.update', input.requestId)).toHaveLength(1)
    expect(await callsOf('sharepoint.tenant.site.update', progress.siteId?.split(',')[1] ?? 'none')).toHaveLength(1)
  })

  test.each(['resetAfterCommit', 'failBeforeCommit'])(
    'is created once although every write meets %s',
    async (fault) => {
      const input = everything(kind)
      await contoso.forgetCalls()
      for (const [operation, count] of writes[kind]) await contoso.fault({ operation, kind: fault, count })
      const progress = await persist(input)
      const url = `${contoso.simulator.url}/sites/${input.alias}`
      expect(progress.url).toBe(url)
      expect(await contoso.directory.findProvisionedGroup(input.requestId)).toMatchObject({
        id: progress.securityGroupId,
        url,
      })
      const calls = await contoso.calls()
      for (const [operation, count] of writes[kind]) {
        const own = calls.filter((call) => call.operation === operation)
        expect(own.filter((call) => call.fault === fault)).toHaveLength(count)
        // A completed write whose answer was lost is found by a check. Any other write succeeds in the second attempt.
        expect(own).toHaveLength(fault === 'resetAfterCommit' ? count : count * 2)
      }
    },
  )

  test('is refused as taken if another group or site has the address', async () => {
    const { alias, displayName } = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], siteInput({ kind }))
    expect(await contoso.directory.isSiteAddressFree(alias)).toBe(false)
    const other = siteInput({ kind, alias, displayName, requester: dana })
    await expect(contoso.tenant.siteSteps['create-site'](other)).rejects.toMatchObject({
      code: 'name-taken',
      retryable: false,
    })
  })

  test('has the requested owners and label', async () => {
    const input = everything(kind)
    const { progress } = await runSteps(contoso.tenant, siteSteps, input)
    const page = await (await fetch(progress.url ?? '')).text()
    for (const text of [kim.displayName, dana.displayName, omar.displayName, 'Confidential'])
      expect(page).toContain(text)
  })

  test('passes or fails the ready check for each requested value', async () => {
    const input = everything(kind)
    const bare = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], input)
    expect(await contoso.tenant.siteSteps['ready-check'](bare)).toMatchObject({
      done: true,
      made: {},
      checks: [
        { name: 'siteOpens', ok: true, detail: '' },
        { name: 'owners', ok: false, detail: 'Dana Fox and Omar Haddad are missing' },
        { name: 'label', ok: false, detail: 'it is not applied' },
      ],
    })
    const whole = await runSteps(contoso.tenant, ['add-owners', 'apply-label'], bare)
    expect(await contoso.tenant.siteSteps['ready-check'](whole)).toMatchObject({
      checks: [{ ok: true }, { ok: true }, { ok: true }],
    })
    expect(await contoso.tenant.siteSteps['ready-check']({ ...whole, labelId: '' })).toMatchObject({
      checks: [{ name: 'siteOpens' }, { name: 'owners' }],
    })
  })

  test('waits as long as a throttling service requires', async () => {
    const operation = kind === 'teamSite' ? 'graph.groups.upsert' : 'sharepoint.site.create'
    await contoso.fault({ operation, kind: 'status429', retryAfter: 23 })
    await expect(contoso.tenant.siteSteps['create-site'](siteInput({ kind }))).rejects.toMatchObject({
      retryable: true,
      retryAfterSeconds: 23,
    })
  })

  test('is awaited while it is being created', async () => {
    const slow = await startTenant({ siteReadySeconds: 1.5 })
    try {
      const input = await runSteps(slow.tenant, ['create-site'], siteInput({ kind }))
      expect(await slow.tenant.siteSteps['wait-for-site'](input)).toEqual({ done: false, retryAfterSeconds: 2 })
      expect(await runStep(slow.tenant, 'wait-for-site', input)).toHaveProperty('url')
    } finally {
      await slow.close()
    }
  })
})

test('the group is found by the request id only when the directory shows it', async () => {
  const slow = await startTenant({ directorySeconds: 1.5 })
  try {
    const input = await runSteps(
      slow.tenant,
      siteSteps.filter((step) => step !== 'apply-label'),
      siteInput(),
    )
    expect(await slow.directory.findProvisionedGroup(input.requestId)).toBeUndefined()
    await expect.poll(() => slow.directory.findProvisionedGroup(input.requestId), { timeout: 60_000 }).toBeDefined()
  } finally {
    await slow.close()
  }
})

test('an owner who has left the directory stops the request; the error names the owner', async () => {
  const gone = { ...dana, id: '99999999-aaaa-4aaa-8aaa-000000000001', displayName: 'Somebody Gone' }
  const input = await runSteps(contoso.tenant, ['create-site'], siteInput({ owners: [gone] }))
  const failure = await contoso.tenant.siteSteps['add-owners'](input).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'owner-not-found', retryable: false })
  expect(String(failure)).toContain('Somebody Gone')
})

test('a communication site is refused as taken when a group takes the address', async () => {
  const { alias } = await runSteps(contoso.tenant, ['create-site'], siteInput())
  expect(await contoso.directory.isSiteAddressFree(alias)).toBe(false)
  const input = siteInput({ kind: 'communicationSite', alias })
  await expect(contoso.tenant.siteSteps['create-site'](input)).rejects.toMatchObject({ code: 'name-taken' })
})

test('SharePoint accepts our certificate where it refuses a secret', async () => {
  const { url, tenantId } = contoso.simulator
  const form = { grant_type: 'client_credentials', client_id: kim.id, client_secret: 'x', scope: `${url}/.default` }
  const body = new URLSearchParams(form)
  const answer = await (await fetch(`${url}/${tenantId}/oauth2/v2.0/token`, { method: 'POST', body })).json()
  const authorization = `Bearer ${Reflect.get(Object(answer), 'access_token')}`
  const status = `${url}/_api/SPSiteManager/status?url='${url}/sites/x'`
  expect((await fetch(status, { headers: { authorization } })).status).toBe(401)
  expect(await contoso.directory.isSiteAddressFree('nobody-has-this')).toBe(true)
})

describe('the directory', () => {
  test('finds people, their managers and groups, including nested groups', async () => {
    const { directory } = contoso
    expect(await directory.person(kim.id)).toEqual(kim)
    expect(await directory.person('99999999-aaaa-4aaa-8aaa-000000000001')).toBeUndefined()
    expect(await directory.manager(kim.id)).toEqual(dana)
    const approvers = await directory.membersOf(approversGroup)
    expect(approvers.map(({ id }) => id).sort()).toEqual([dana.id, omar.id])
    expect(await directory.groupsOf(dana.id)).toContain(approversGroup)
    expect(await directory.groupsOf(kim.id)).not.toContain(approversGroup)
  })

  test('never mistakes one group for another because of a quote in a name', async () => {
    expect(await contoso.directory.isSiteAddressFree("x' or mailNickname ne '")).toBe(true)
  })
})
