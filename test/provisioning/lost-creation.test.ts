import { afterEach, describe, expect, it } from 'vitest'
import {
  because,
  type RequestForSite,
  type SiteKind,
  type SiteStepInput,
  type Tenant,
  TenantError,
} from '../../src/core/index.ts'
import { actorOf, asSite, kim, priya, tenantWith, withCore } from '../support/core.ts'
import { runSteps, siteInput, withTenant } from '../support/simulated-tenant.ts'

/** Each row: the kind of site, the call that creates it, and how the tenant does not show the new object. */
const hidden: [SiteKind, string, object][] = [
  ['teamSite', 'graph.groups.upsert', { newGroupSeconds: 3600 }],
  ['communicationSite', 'sharepoint.site.create', { siteStatusShows: 'nothing' }],
  ['communicationSite', 'sharepoint.site.create', { siteStatusShows: 'noId' }],
]
const shown = { newGroupSeconds: 0, siteStatusShows: 'all' }
const waits = { done: false, retryAfterSeconds: 5 }
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

describe('a site whose creation lost its answer', () => {
  const core = withCore()
  const contoso = withTenant({ siteReadySeconds: 0 })
  afterEach(async () => {
    await contoso.healthy()
    await contoso.modes(shown)
    await contoso.forgetCalls()
  })
  const asKim = actorOf(kim)
  let number = 0
  const submitted = async (kind: SiteKind): Promise<string> => {
    const { id: templateId } = await core.template({ kind })
    number += 1
    const body = { displayName: `Lost creation ${number}`, description: 'Drawings.', templateId }
    return (await core.provisioning.submitSite(asKim, { body })).requestId
  }
  const stored = async (requestId: string): Promise<RequestForSite> =>
    asSite(await core.provisioning.readRequest(asKim, { requestId }))
  /** Runs the job once. It knows only what earlier runs have stored, as after a restart. */
  const provision = (requestId: string, tenant: Tenant = contoso.tenant) =>
    core.with({ tenant }).system.provision(requestId, { lastAttempt: false, signal: AbortSignal.timeout(60_000) })
  const create = (input: SiteStepInput) => contoso.tenant.siteSteps['create-site'](input)
  const callsOf = async (operation: string) =>
    (await contoso.calls()).filter((call) => call.operation === operation).map(({ fault, status }) => fault ?? status)

  it.each(hidden)('waits, as a %s, until the tenant shows it (%s, %o), and is created once', async (...row) => {
    const [kind, operation, mode] = row
    const requestId = await submitted(kind)
    await contoso.modes(mode)
    await contoso.fault({ operation, kind: 'resetAfterCommit' })
    await expect(provision(requestId)).rejects.toMatchObject({ retryable: true })
    await provision(requestId)
    const waiting = await stored(requestId)
    const heldSince = expect.any(String)
    expect([waiting.status, waiting.problem, waiting.progress]).toEqual(['provisioning', null, { heldSince }])
    const tries = await callsOf(operation)
    const polls = async () => (await core.orders(requestId)).filter(({ startAfter }) => startAfter).length
    const ordered = await polls()
    await provision(requestId)
    expect((await stored(requestId)).progress).toEqual(waiting.progress)
    expect(await polls(), 'the next poll').toBe(ordered + 1)
    expect(await callsOf(operation), 'a waiting step creates nothing').toEqual(tries)
    await contoso.modes(shown)
    await provision(requestId)
    expect(await stored(requestId)).toMatchObject({ status: 'succeeded', resource: { url: expect.any(String) } })
    const creations = (await callsOf(operation)).filter((one) => one === 'resetAfterCommit')
    expect(creations).toHaveLength(1)
  })

  it.each(hidden)('is refused as taken, as a %s, if nobody shows a holder for 5 minutes (%s, %o)', async (...row) => {
    const [kind, operation, mode] = row
    const other = await runSteps(contoso.tenant, ['create-site'], siteInput({ kind }))
    const { alias, displayName } = other
    const input = siteInput({ kind, alias, displayName })
    await contoso.modes(mode)
    await contoso.forgetCalls()
    expect(await create({ ...input, progress: { heldSince: ago(280) } })).toEqual(waits)
    expect(await callsOf(operation)).toEqual([])
    const late = create({ ...input, progress: { heldSince: ago(320) } })
    await expect(late).rejects.toMatchObject({ code: 'name-taken', retryable: false })
  })

  it('is refused as taken at once if a mailbox has the address of its group', async () => {
    const input = siteInput()
    const name = { Name: input.alias, Alias: input.alias, DisplayName: 'Front desk' }
    await contoso.cmdlet('New-Mailbox', { ...name, PrimarySmtpAddress: `${input.alias}@contoso.example`, Shared: true })
    await expect(create(input)).rejects.toMatchObject({ code: 'name-taken', retryable: false })
  })

  it('is linked once if the answer about its security group was lost and the group is not visible', async () => {
    const input = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], siteInput())
    const link = () => contoso.tenant.siteSteps['link-group'](input)
    await contoso.modes({ newGroupSeconds: 3600 })
    await contoso.fault({ operation: 'graph.groups.upsert', kind: 'resetAfterCommit' })
    await expect(link()).rejects.toMatchObject({ code: 'unreachable', retryable: true })
    await expect(link()).rejects.toMatchObject({ code: 'not-there-yet', retryable: true })
    await contoso.modes(shown)
    expect(await link()).toMatchObject({ done: true, made: { securityGroupId: expect.any(String) } })
  })

  it('waits again after a retry by an admin', async () => {
    const requestId = await submitted('teamSite')
    const heldSince = ago(320)
    await provision(
      requestId,
      tenantWith({ 'create-site': async () => ({ ...waits, done: false, made: { heldSince } }) }),
    )
    const taken = new TenantError('name-taken', because('siteAddressTaken', { address: 'x' }), { retryable: false })
    await provision(requestId, tenantWith({ 'create-site': () => Promise.reject(taken) }))
    expect(await stored(requestId)).toMatchObject({ status: 'failed', progress: { heldSince } })
    await core.provisioning.retryRequest(actorOf(priya, true), { requestId })
    expect((await stored(requestId)).progress).toEqual({})
  })
})
