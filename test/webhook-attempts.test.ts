import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import type { Delivery, Template } from '../src/core/index.ts'
import { deliverWebhookJob } from '../src/jobs/deliver-webhook.ts'
import { createStores, type Stores } from '../src/store/index.ts'
import { at, projectSite, tenantId } from './support/card-world.ts'
import { withDatabase } from './support/database.ts'

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

describe('a webhook that could never be sent', () => {
  const store = withDatabase('embedded')
  let stores: Stores
  beforeAll(() => {
    stores = createStores(store.database)
  })

  /** One attempt with a template as it is now; nothing is sent, and no further attempt is ordered. */
  async function attempt(url: string, more: { subscriber?: 'bot'; ownSecret?: string } = {}): Promise<Delivery> {
    const webhook = { url, secret, events: ['site.provisioned' as const] }
    const template: Template = { ...projectSite, id: randomUUID(), version: 1, webhook }
    await stores.templates.put(tenantId, template, 0)
    const delivery: Delivery = {
      ...{ deliveryId: randomUUID(), requestId: randomUUID(), tenantId, type: 'site.provisioned', url, body: '{}' },
      ...{ status: 'pending', attempts: 0, lastStatus: null, createdAt: at('09:00'), updatedAt: at('09:00') },
      subscriber: more.subscriber ?? { templateId: template.id },
    }
    await stores.deliveries.insert(delivery)
    const unexpected = async () => {
      throw new Error('nobody expected this to go out')
    }
    const job = deliverWebhookJob({
      ...{ ...stores, clock: { now: () => new Date() }, work: store.database, jobs: { enqueue: unexpected } },
      ...{ fetch: unexpected, ownSecret: more.ownSecret ?? secret, allowCidrs: ['10.1.0.0/16'] },
      log: { warn: () => undefined },
    })
    const payload = { v: 1, deliveryId: delivery.deliveryId, attempt: 0 }
    await job.run({ attempt: 1, lastAttempt: false, signal: AbortSignal.timeout(60_000) }, payload)
    return (await stores.deliveries.find(delivery.deliveryId)) ?? delivery
  }

  it('ends as failed, in words, when its address is not allowed any more', async () => {
    const lastStatus = expect.stringContaining('WEBHOOK_ALLOW_CIDRS')
    expect(await attempt('https://10.2.0.1/')).toMatchObject({ status: 'failed', attempts: 1, lastStatus })
    expect(await attempt('http://hooks.example/')).toMatchObject({ status: 'failed', attempts: 1, lastStatus })
  })

  it('ends as failed, in words that do not tell the secret, when its secret cannot sign', async () => {
    const bad = `whsec_${'='.repeat(32)}`
    const ended = await attempt('http://127.0.0.1/webhooks/provisioning', { subscriber: 'bot', ownSecret: bad })
    expect(ended).toMatchObject({ status: 'failed', attempts: 1, lastStatus: expect.stringContaining('cannot sign') })
    expect(ended.lastStatus).not.toContain('=')
  })
})

it('a file of templates may name no webhook that is not allowed', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'templates-'))
  const file = join(folder, 'templates.json')
  const webhook = { url: 'http://hooks.contoso.example/', secret }
  writeFileSync(file, JSON.stringify([{ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Club', webhook }]))
  const ports = { PORT: '0', SIMULATOR_PORT: '0', LOG_LEVEL: 'fatal' }
  const starting = createApp(readConfig({ ...ports, DATA_DIR: folder, TEMPLATES_FILE: file }))
  await expect(starting).rejects.toThrow(/TEMPLATES_FILE .+ is not right:\n.+https:\/\/.+\n.+\[0\]\.webhook\.url/)
})
