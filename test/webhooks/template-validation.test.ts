import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { reasonText } from '../../src/cards/index.ts'
import { endpointOf, type Ports } from '../../src/core/index.ts'
import { createWebhookPoster } from '../../src/jobs/webhooks/post.ts'
import { actorOf, priya, tenantId, withCore } from '../support/core.ts'
import { named, refusal } from '../support/refusal.ts'
import { addressesToRefuse } from '../support/webhook-addresses.ts'
import { secretOf } from '../support/webhook-world.ts'

const admin = actorOf(priya, true)
const url = 'https://hooks.contoso.example/'

describe('saving a template', () => {
  const core = withCore()
  const save = (to: string, resolveHost: Ports['resolveHost'] = async () => []) => {
    const webhook = { url: to, secret: secretOf(1) }
    const body = { kind: 'teamSite', name: 'Club', webhook }
    return core.with({ resolveHost }).putTemplate(admin, { id: randomUUID(), body, expected: 0 })
  }

  it.each(addressesToRefuse)('refuses a webhook to %s', async (to) => {
    const { code, faults } = await refusal(() => save(to))
    expect([code, named(faults)[0]]).toEqual(['validation-failed', expect.stringMatching(/^\/webhook\/url /)])
  })

  it.each([
    ['one public and one private address', ['93.184.216.34', '10.0.0.1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['IPv4 behind a translator', ['64:ff9b::7f00:1']],
    ['a link-local address with its zone', ['fe80::1%eth0']],
    ['something that is no address', ['localhost']],
  ])('refuses a webhook to a name with %s', async (_, addresses) => {
    const { faults } = await refusal(() => save(url, async () => addresses))
    expect(named(faults)).toEqual(['/webhook/url invalid'])
  })

  it('accepts a public name, or a name without an address yet', async () => {
    expect((await save(url, async () => ['93.184.216.34'])).webhook?.url).toBe(url)
    expect((await save(url, () => Promise.reject(new Error('ENOTFOUND')))).webhook?.url).toBe(url)
  })

  it('does not allow connections to a name that becomes private later', async () => {
    const replies = [['93.184.216.34'], ['127.0.0.1']]
    const resolveHost = async () => replies.shift() ?? []
    await save(url, resolveHost)
    const post = createWebhookPoster({
      allowCidrs: [],
      resolveHost,
      texts: { reason: reasonText },
      assertOutside: core.database.assertOutside,
    })
    const { signal } = new AbortController()
    expect(await post({ url, headers: {}, body: '{}', anywhere: false, signal })).toMatchObject({ problem: 'refused' })
    expect(replies).toEqual([])
  })

  it('refuses a stale version, and then its receiver stays disabled', async () => {
    const { id, version } = await core.template({ webhook: { url, secret: secretOf(1) } })
    const fresh = endpointOf({ tenantId, subscriber: { templateId: id } }, url)
    const disabled = { ...fresh, disabledAt: new Date().toISOString(), reason: 'gone' as const }
    await core.database.transaction(async () => {
      expect(await core.ports.endpoints.lock(fresh)).toEqual(fresh)
      await core.ports.endpoints.update(disabled)
    })
    const write = (expected: number) => {
      const body = { kind: 'teamSite', name: 'Club', webhook: { url } }
      return core.provisioning.putTemplate(admin, { id, body, expected })
    }
    expect((await refusal(() => write(version + 1))).code).toBe('stale-version')
    expect(await core.ports.endpoints.find(fresh.endpointId)).toEqual(disabled)
    await write(version)
    expect(await core.ports.endpoints.find(fresh.endpointId)).toBeUndefined()
  })
})
