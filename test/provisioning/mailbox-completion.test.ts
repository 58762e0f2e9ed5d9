import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { webhookBody } from '../../src/core/index.ts'
import { actorOf, asMailbox, kim, tenantWith, withCore } from '../support/core.ts'

const asKim = actorOf(kim)
const { signal } = new AbortController()

describe('a mailbox that is made is told of', () => {
  const core = withCore()
  let count = 0
  const asked = async () => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    count += 1
    const body = { name: `box-${count}`, displayName: `Box ${count}`, templateId }
    return asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
  }
  const stored = async (requestId: string) => asMailbox(await core.provisioning.readRequest(asKim, { requestId }))
  const tellsOf = async (requestId: string) =>
    (await core.orders(requestId)).filter(({ name }) => name.startsWith('notify')).map(({ name }) => name)
  const hook = 'https://quartermaster.contoso.example/webhooks/provisioning'
  const made = async () => {
    const { requestId } = await asked()
    const provisioning = core.with({ tenant: tenantWith() }, { followUpWebhookUrl: hook })
    await provisioning.system.provision(requestId, { lastAttempt: false, signal })
    return { requestId, provisioning }
  }
  const announced = async (requestId: string) => (await stored(requestId)).followUp

  it('to our own subscription as mailbox.provisioned, with its address', async () => {
    const { requestId } = await made()
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

  it('by the webhook, once, and by no address that it carries', async () => {
    const { requestId, provisioning } = await made()
    await provisioning.system.completeByWebhook(requestId, 'https://contoso.sharepoint.com/sites/x')
    const first = await announced(requestId)
    expect(first).toEqual({ state: 'announced', by: 'webhook', at: first.at })
    await provisioning.system.completeByWebhook(requestId, '')
    await provisioning.system.pollDirectory(requestId, 0)
    expect(await announced(requestId)).toEqual(first)
    expect(await tellsOf(requestId)).toEqual(['notify'])
  })

  it('by its own state when no webhook arrives: the directory is not asked', async () => {
    const { requestId, provisioning } = await made()
    core.world.up = false
    await provisioning.system.pollDirectory(requestId, 0)
    core.world.up = true
    expect(await announced(requestId)).toMatchObject({ state: 'announced', by: 'state' })
    expect(await tellsOf(requestId)).toEqual(['notify'])
  })

  it('not before it is: looks go on, and the fourth says that it is late', async () => {
    const { requestId } = await asked()
    const looks = [0, 1, 2, 3]
    for (const look of looks) await core.provisioning.system.pollDirectory(requestId, look)
    expect((await announced(requestId)).state).toBe('late')
    const ordered = (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')
    expect(ordered.map(({ payload }) => payload['look'])).toEqual([...looks, 4])
    expect(await tellsOf(requestId)).toEqual([])
    await core.provisioning.system.completeByWebhook(requestId, '')
    expect((await announced(requestId)).state).toBe('late')
  })

  it('nobody, when there is no such request', async () => {
    await core.provisioning.system.completeByWebhook(randomUUID(), '')
    await core.provisioning.system.pollDirectory(randomUUID(), 0)
  })
})
