import { afterEach, expect, test } from 'vitest'
import { type HeldAddress, mailKey, siteKey } from '../../src/core/index.ts'
import { dana } from '../support/microsoft365.ts'
import { runSteps, siteInput, withTenant } from '../support/simulated-tenant.ts'
import { ask, tokenOf } from '../support/simulator.ts'

const contoso = withTenant()
afterEach(() => contoso.healthy())

async function inUse(): Promise<HeldAddress[]> {
  const all: HeldAddress[] = []
  for await (const page of contoso.directory.addressesInUse()) all.push(...page)
  return all
}
const keysInUse = async () => (await inUse()).map(({ key }) => key)
const account = (userId: string, state: string) =>
  ask('POST', `${contoso.simulator.url}/control/accounts`, { body: { userId, state } })

test('addresses in use are those of people, mailboxes, groups and sites, until their deletion', async () => {
  const { alias, progress } = await runSteps(contoso.tenant, ['create-site', 'wait-for-site'], siteInput())
  const own = [siteKey(alias), mailKey(`${alias}@contoso.example`)]
  const mailbox = mailKey('room-zrh-matterhorn@contoso.example')
  const before = await inUse()
  expect(before.map(({ key }) => key)).toEqual(
    expect.arrayContaining([mailKey(dana.userPrincipalName), mailbox, ...own]),
  )
  expect(
    before
      .filter(({ key }) => own.includes(key))
      .map(({ holder }) => holder)
      .toSorted(),
  ).toEqual([progress.groupId, progress.siteId].toSorted())
  await account(dana.id, 'deleted')
  await contoso.cmdlet('Remove-Mailbox', { Identity: 'room-zrh-matterhorn', Confirm: false })
  const token = await tokenOf(contoso.simulator)
  const group = `${contoso.simulator.url}/v1.0/groups/${progress.groupId}`
  expect((await ask('DELETE', group, { token })).status).toBe(204)
  const gone = [mailKey(dana.userPrincipalName), mailbox, ...own]
  expect((await keysInUse()).filter((key) => gone.includes(key))).toEqual([])
})

test('addresses in use omit sites when the tenant does not allow listing them', async () => {
  await contoso.fault({
    ...{ operation: 'graph.sites.getAllSites', kind: 'failBeforeCommit', status: 403, count: undefined },
  })
  const keys = await keysInUse()
  expect(keys.filter((key) => key.startsWith('site:'))).toEqual([])
  expect(keys.length).toBeGreaterThan(40)
})

test('a directory that does not answer stops the round with a retryable error', async () => {
  await contoso.fault({ operation: 'graph.groups.list', kind: 'failBeforeCommit', status: 503, count: undefined })
  await expect(inUse()).rejects.toMatchObject({ retryable: true })
})

test('a deleted person, mailbox or group is found with the time of deletion and keeps its address', async () => {
  await account(dana.id, 'deleted')
  const { alias, progress } = await runSteps(contoso.tenant, ['create-site'], siteInput())
  const token = await tokenOf(contoso.simulator)
  await ask('DELETE', `${contoso.simulator.url}/v1.0/groups/${progress.groupId}`, { token })
  const { directory } = contoso
  const found = [
    await directory.deletedMail(dana.userPrincipalName),
    await directory.deletedMail(`${alias}@contoso.example`),
    await directory.deletedSite(alias),
  ]
  for (const at of found) expect(at).toBeInstanceOf(Date)
  expect(await directory.isMailboxNameFree(dana.userPrincipalName)).toBe(false)
  expect(await directory.isMailboxNameFree(`${alias}@contoso.example`)).toBe(false)
  expect(await directory.isSiteAddressFree(alias)).toBe(false)
  expect(await directory.deletedMail("nobody'x@contoso.example")).toBeUndefined()
  expect(await directory.deletedSite('nobody')).toBeUndefined()
})
