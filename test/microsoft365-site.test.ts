import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type RequestKind, type SiteStepInput, siteKinds, siteSteps } from '../src/core/index.ts'
import { confidential, dana, kim, omar } from './support/microsoft365.ts'
import { runStep, runSteps, siteInput, startTenant, type TestTenant } from './support/simulated-tenant.ts'

let contoso: TestTenant
beforeAll(async () => {
  contoso = await startTenant()
})
afterEach(() => contoso.healthy())
afterAll(() => contoso.close())

const everything = (kind: RequestKind): SiteStepInput =>
  siteInput({ kind, owners: [dana, omar], labelId: confidential })
const callsOf = async (operation: string, containing: string) =>
  (await contoso.calls()).filter((call) => call.operation === operation && JSON.stringify(call).includes(containing))

describe.each(siteKinds)('a %s', (kind) => {
  test('is made whole by its steps, and the linked group is found by the request id', async () => {
    const input = everything(kind)
    const { progress } = await runSteps(contoso.tenant, siteSteps, input)
    const url = `${contoso.simulator.url}/sites/${input.alias}`
    expect(progress).toMatchObject({ url, securityGroupName: `SPO-${input.alias}` })
    expect(progress.siteId).toMatch(/^127\.0\.0\.1,[\da-f-]{36},[\da-f-]{36}$/)
    expect(progress.groupId === undefined).toBe(kind === 'communicationSite')
    const found = await contoso.directory.findProvisionedGroup(input.requestId)
    const { securityGroupId: id, securityGroupName: displayName, siteId } = progress
    expect(found).toEqual({ id, displayName, siteId, url })
  })

  test('is made once when every step runs twice, with and without what it made', async () => {
    const input = everything(kind)
    let progress = input.progress
    for (const step of siteSteps) {
      const first = await runStep(contoso.tenant, step, { ...input, progress })
      // As after a crash between the call and the store: the step knows nothing of its own first run.
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

  test('is made once though every answer to a write is lost', async () => {
    const input = everything(kind)
    for (const operation of ['graph.groups.*', 'sharepoint.site.create', 'sharepoint.owners.add'])
      await contoso.fault({ operation, kind: 'resetAfterCommit', count: 1 })
    await contoso.fault({ operation: 'sharepoint.tenant.site.update', kind: 'resetAfterCommit' })
    await contoso.fault({ operation: 'graph.groups.upsert', kind: 'resetAfterCommit', count: 2 })
    await contoso.fault({ operation: 'graph.groups.update', kind: 'resetAfterCommit' })
    let progress = input.progress
    for (const step of siteSteps) {
      for (let attempt = 1; ; attempt += 1) {
        const result = await runStep(contoso.tenant, step, { ...input, progress }).catch((error: unknown) => error)
        if (!(result instanceof Error)) {
          progress = result as typeof progress
          break
        }
        expect(result).toMatchObject({ name: 'TenantError', retryable: true })
        expect(attempt).toBeLessThan(5)
      }
    }
    expect(progress.url).toBe(`${contoso.simulator.url}/sites/${input.alias}`)
    const made = await callsOf('graph.groups.upsert', `${input.requestId}-access`)
    expect(made.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    expect((await contoso.directory.findProvisionedGroup(input.requestId))?.id).toBe(progress.securityGroupId)
  })

  test('whose address somebody else holds is refused as taken', async () => {
    const { alias, displayName } = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], siteInput({ kind }))
    expect(await contoso.directory.isAddressFree(kind, alias)).toBe(false)
    const other = siteInput({ kind, alias, displayName, requester: dana })
    await expect(contoso.tenant.siteSteps['create-site'](other)).rejects.toMatchObject({
      code: 'name-taken',
      retryable: false,
    })
  })

  test('has the owners and the label that were asked for', async () => {
    const input = everything(kind)
    const { progress } = await runSteps(contoso.tenant, siteSteps, input)
    const page = await (await fetch(progress.url ?? '')).text()
    for (const text of [kim.displayName, dana.displayName, omar.displayName, 'Confidential'])
      expect(page).toContain(text)
  })

  test('that lacks an owner or its label fails the ready check in words', async () => {
    const input = everything(kind)
    const bare = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], input)
    const failure = await contoso.tenant.siteSteps['ready-check'](bare).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'ready-check', retryable: false })
    expect(String(failure)).toContain('not an owner: Dana Fox, Omar Haddad; the sensitivity label is not applied')
  })

  test('waits with the wish of a throttling service', async () => {
    const operation = kind === 'teamSite' ? 'graph.groups.upsert' : 'sharepoint.site.create'
    await contoso.fault({ operation, kind: 'status429', retryAfter: 23 })
    await expect(contoso.tenant.siteSteps['create-site'](siteInput({ kind }))).rejects.toMatchObject({
      retryable: true,
      retryAfterSeconds: 23,
    })
  })

  test('is waited for while it is being made', async () => {
    const slow = await startTenant({ siteReadySeconds: 0.5 })
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
  const slow = await startTenant({ directorySeconds: 0.5 })
  try {
    const input = await runSteps(
      slow.tenant,
      siteSteps.filter((step) => step !== 'apply-label'),
      siteInput(),
    )
    expect(await slow.directory.findProvisionedGroup(input.requestId)).toBeUndefined()
    await expect.poll(() => slow.directory.findProvisionedGroup(input.requestId), { timeout: 10_000 }).toBeDefined()
  } finally {
    await slow.close()
  }
})

test('an owner who has left the directory stops the request, by name', async () => {
  const gone = { ...dana, id: '99999999-aaaa-4aaa-8aaa-000000000001', displayName: 'Somebody Gone' }
  const input = await runSteps(contoso.tenant, ['create-site'], siteInput({ owners: [gone] }))
  const failure = await contoso.tenant.siteSteps['add-owners'](input).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'owner-not-found', retryable: false })
  expect(String(failure)).toContain('Somebody Gone')
})

test('a communication site that the address falls to by a group is refused as taken', async () => {
  const { alias } = await runSteps(contoso.tenant, ['create-site'], siteInput())
  expect(await contoso.directory.isAddressFree('communicationSite', alias)).toBe(false)
  const input = siteInput({ kind: 'communicationSite', alias })
  await expect(contoso.tenant.siteSteps['create-site'](input)).rejects.toMatchObject({ code: 'name-taken' })
})
