import { expect, it } from 'vitest'
import { asWritten, type HealthPart, TenantError } from '../../src/core/index.ts'
import { actorOf, kim, priya, tenantWith, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'

const run = { lastAttempt: true, signal: new AbortController().signal }
const refuse = async () => {
  throw new TenantError('refused', asWritten('SharePoint refuses the site.'), { retryable: false })
}

it.each(engines.map((engine) => [engine, withCore(engine)] as const))(
  'the health is red after five failures of one kind in a row, until a request of this kind succeeds, %s',
  async (_, core) => {
    let now = new Date('2026-11-02T10:00:00Z')
    const health = { name: 'graph', milliseconds: 5 } as const
    const ownHealth = {
      read: async () => ({
        ...{ databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, version: '1' },
        ...{ watchedAt: now, startedAt: now },
      }),
    }
    const provisioningWith = (isBroken: boolean) =>
      core.with({
        clock: { now: () => now },
        tenant: { ...tenantWith(isBroken ? { 'create-site': refuse } : {}), health: async () => [health] },
        ownHealth,
      })
    const template = await core.template()
    let count = 0
    const request = async (isBroken: boolean): Promise<string> => {
      const provisioning = provisioningWith(isBroken)
      count += 1
      const { requestId } = await provisioning.submitSite(actorOf(kim), {
        body: { displayName: `Aurora ${count}`, templateId: template.id },
      })
      now = new Date(now.getTime() + 3_600_000)
      await provisioning.system.provision(requestId, run)
      return requestId
    }
    const part = async (): Promise<HealthPart | undefined> => {
      const { parts } = await provisioningWith(false).readHealth(actorOf(priya, true), {})
      return parts.find(({ name }) => name === 'requests')
    }

    for (let turn = 0; turn < 4; turn += 1) await request(true)
    expect(await part()).toMatchObject({ state: 'green' })
    await request(true)
    expect(await part()).toMatchObject({ state: 'red', says: 'requestsFail', count: 5, kinds: ['teamSite'] })
    await request(false)
    expect(await part()).toMatchObject({ state: 'green' })
    // Failures of an earlier week do not count.
    for (let turn = 0; turn < 4; turn += 1) await request(true)
    now = new Date(now.getTime() + 8 * 86_400_000)
    await request(true)
    expect(await part()).toMatchObject({ state: 'green' })
  },
)
