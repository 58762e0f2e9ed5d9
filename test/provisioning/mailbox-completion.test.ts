import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { webhookBody } from '../../src/core/index.ts'
import { actorOf, asMailbox, kim, tenantWith, withCore } from '../support/core.ts'

const asKim = actorOf(kim)
const { signal } = new AbortController()

describe('a created mailbox is announced', () => {
  const core = withCore()
  let count = 0
  const submitted = async () => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    count += 1
    const body = { name: `box-${count}`, displayName: `Box ${count}`, templateId }
    return asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  }
  const stored = async (requestId: string) => asMailbox(await core.provisioning.readRequest(asKim, { requestId }))
  const notificationsOf = async (requestId: string) =>
    (await core.orders(requestId)).filter(({ name }) => name.startsWith('notify')).map(({ name }) => name)
  const hook = 'https://quartermaster.contoso.example/webhooks/provisioning'
  const created = async () => {
    const { requestId } = await submitted()
    const provisioning = core.with({ tenant: tenantWith() }, { followUpWebhookUrl: hook })
    await provisioning.system.provision(requestId, { lastAttempt: false, signal })
    return { requestId, provisioning }
  }
  const announced = async (requestId: string) => (await stored(requestId)).followUp

  it('to our own webhook as mailbox.provisioned, with its address', async () => {
    const { requestId } = await created()
    const { rows } = await core.database.query<{ body: { url: string; body: string } }>(
      'SELECT body FROM deliveries WHERE request_id = $1',
      [requestId],
    )
    expect(rows.map(({ body }) => body.url)).toEqual([hook])
    const { address } = await stored(requestId)
    expect(webhookBody.parse(JSON.parse(rows[0]?.body.body ?? ''))).toMatchObject({
      ...{ type: 'mailbox.provisioned', requestId },
      data: { kind: 'sharedMailbox', status: 'succeeded', address, mailboxId: 'mailbox' },
    })
  })

  it('once, by the webhook, whatever address the webhook contains', async () => {
    const { requestId, provisioning } = await created()
    await provisioning.system.completeByWebhook(requestId, 'https://contoso.sharepoint.com/sites/x')
    const first = await announced(requestId)
    expect(first).toEqual({ state: 'announced', by: 'webhook', at: first.at })
    await provisioning.system.completeByWebhook(requestId, '')
    await provisioning.system.pollDirectory(requestId, 0)
    expect(await announced(requestId)).toEqual(first)
    expect(await notificationsOf(requestId)).toEqual(['notify'])
  })

  it('by its own state if no webhook arrives, without a call to the directory', async () => {
    const { requestId, provisioning } = await created()
    core.world.up = false
    await provisioning.system.pollDirectory(requestId, 0)
    core.world.up = true
    expect(await announced(requestId)).toMatchObject({ state: 'announced', by: 'state' })
    expect(await notificationsOf(requestId)).toEqual(['notify'])
  })

  it('only after its creation: polls continue, and after the fourth it is late', async () => {
    const { requestId } = await submitted()
    const polls = [0, 1, 2, 3]
    for (const poll of polls) await core.provisioning.system.pollDirectory(requestId, poll)
    expect((await announced(requestId)).state).toBe('late')
    const ordered = (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')
    expect(ordered.map(({ payload }) => payload['look'])).toEqual([...polls, 4])
    expect(await notificationsOf(requestId)).toEqual([])
    await core.provisioning.system.completeByWebhook(requestId, '')
    expect((await announced(requestId)).state).toBe('late')
  })

  it('to nobody if there is no such request', async () => {
    await core.provisioning.system.completeByWebhook(randomUUID(), '')
    await core.provisioning.system.pollDirectory(randomUUID(), 0)
  })
})
