import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { reasonText } from '../../src/cards/index.ts'
import type { Delivery } from '../../src/core/index.ts'
import { deliverWebhookJob } from '../../src/jobs/webhooks/deliver.ts'
import { createWebhookPoster } from '../../src/jobs/webhooks/post.ts'
import { firstAttempt } from '../support/job-scope.ts'
import { secretOf, withWebhooks } from '../support/webhook-world.ts'

const secret = secretOf(5)

describe('a webhook that can never be sent', () => {
  const world = withWebhooks()

  /** Runs one attempt with the current template; without a name look-up and without a further attempt. */
  async function attempt(url: string, more: { own?: true; ownSecret?: string } = {}): Promise<Delivery> {
    const template = await world.template({ url, secret })
    const deliveryId = await world.deliver(more.own ? 'bot' : template, url)
    const unexpected = (what: string) => async () => {
      throw new Error(`nobody expected ${what}`)
    }
    const { database } = world.core
    const alerts: string[] = []
    const enqueue: typeof world.ports.jobs.enqueue = async (orders) =>
      void alerts.push(...orders.map(({ name }) => name))
    const post = createWebhookPoster({
      ...{ resolveHost: unexpected('a look-up'), assertOutside: database.assertOutside, allowCidrs: ['10.1.0.0/16'] },
      texts: { reason: reasonText },
    })
    const job = deliverWebhookJob({
      ...{
        ...world.ports,
        clock: { now: () => new Date() },
        work: database,
        jobs: { ...world.ports.jobs, enqueue },
        post,
      },
      ...{ ownSecret: more.ownSecret ?? secret, log: { warn: () => undefined, error: () => undefined } },
    })
    const payload = { v: 1, deliveryId, attempt: 0 }
    await job.run(firstAttempt(AbortSignal.timeout(60_000)), payload)
    expect(alerts).toEqual(['notify-admins'])
    return world.find(deliveryId)
  }

  it('fails with an explanation when its address is not allowed any more', async () => {
    const lastStatus = expect.stringContaining('WEBHOOK_ALLOW_CIDRS')
    expect(await attempt('https://10.2.0.1/')).toMatchObject({ status: 'failed', attempts: 1, lastStatus })
    expect(await attempt('http://hooks.example/')).toMatchObject({ status: 'failed', attempts: 1, lastStatus })
  })

  it('fails with an explanation, without the secret, when its secret cannot sign', async () => {
    const bad = `whsec_${'='.repeat(32)}`
    const ended = await attempt('http://127.0.0.1/webhooks/provisioning', { own: true, ownSecret: bad })
    expect(ended).toMatchObject({ status: 'failed', attempts: 1, lastStatus: expect.stringContaining('cannot sign') })
    expect(ended.lastStatus).not.toContain('=')
  })
})

it('a file of templates with a webhook that is not allowed is refused', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'templates-'))
  const file = join(folder, 'templates.json')
  const webhook = { url: 'http://hooks.contoso.example/', secret }
  writeFileSync(file, JSON.stringify([{ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Club', webhook }]))
  const reading = () => readConfig({ TEMPLATES_FILE: file })
  expect(reading).toThrow(/TEMPLATES_FILE .+ has these faults:\n.+\/0\/webhook\/url: .+https:\/\//)
})
