import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { textOf } from '../support/cards.ts'
import type { ShownActivity } from '../support/connector.ts'
import { isShort, linkOf } from '../support/journey.ts'
import { siteView } from '../support/rest-caller.ts'
import { type Service, templates, withService } from '../support/service.ts'
import { jobsDone } from '../support/settled.ts'
import { opens } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'

const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const pollOnly = { FOLLOW_UP_WEBHOOK: 'off', FOLLOW_UP_EVERY_SECONDS: '1', FOLLOW_UP_STOP_SECONDS: '20' }

interface TimelineEntry {
  readonly action: string
  readonly at: string
  readonly data?: { readonly by?: string }
}

/** Requests a site without approval by REST, and returns its request id. */
async function ask(
  service: Service,
  who: 'kim' | 'sam',
  displayName: string,
  templateId: string = templates.workingGroup,
) {
  const { status, body } = await service.rest(who, 'POST', '/collab/v1/spo/', { displayName, templateId })
  expect(status).toBe(202)
  return String(body['requestId'])
}
async function statusOf(service: Service, requestId: string): Promise<string> {
  return String((await service.rest('sam', 'GET', `/requests/v1/${requestId}`)).body['status'])
}
async function timelineOf(service: Service, requestId: string): Promise<TimelineEntry[]> {
  return (await service.rest('sam', 'GET', `/requests/v1/${requestId}/timeline`)).body['value'] ?? []
}
const succeeded = (service: Service, requestId: string) =>
  until(async () => (await statusOf(service, requestId)) === 'succeeded' || undefined, 'the site to be made')
const announced = (service: Service, requestId: string) =>
  until(
    async () => (await timelineOf(service, requestId)).find(({ action }) => action === 'announced'),
    'the site to be announced',
  )

/** Returns the follow-up cards for a site with this name. */
const followUps = ({ connector }: Service, name: string): ShownActivity[] =>
  connector.sent.filter(({ card }) => card && /Your site is ready/.test(textOf(card)) && textOf(card).includes(name))
const firstFollowUp = (service: Service, name: string) =>
  until(() => followUps(service, name)[0], `the follow-up card of ${name}`)

/** Posts a webhook of the provisioning service, signed with this secret. */
function postWebhook(service: Service, requestId: string, secret: string, url?: string): Promise<Response> {
  const data = { reference: 'REQ-1', kind: 'teamSite', status: 'succeeded', displayName: 'A site', ...(url && { url }) }
  const at = new Date()
  const tenantId = service.app.endpoints.tenantId
  const body = JSON.stringify({ type: 'site.provisioned', timestamp: at.toISOString(), requestId, tenantId, data })
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_test',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_test', at, body),
  }
  return fetch(`${service.app.url}/webhooks/provisioning`, { method: 'POST', headers, body })
}

describe('with the poll alone,', () => {
  const service = withService({ ...pollOnly, FOLLOW_UP_FIRST_SECONDS: '5' })

  it('nobody is notified before the first poll; then one card has the URL of the security group', async () => {
    await service.kim.installs()
    const requestId = await ask(service, 'kim', 'Polled')
    await succeeded(service, requestId)
    const { body } = await service.rest('sam', 'GET', `/requests/v1/${requestId}`)
    const { url, siteId, securityGroupId } = siteView.parse(body).resource ?? {}
    // Another address than the one that we created: only the poll can know it.
    const moved = `${url}-moved`
    await changeGroup(service, securityGroupId ?? '', {
      requestId,
      extensionAttribute1: siteId,
      extensionAttribute3: moved,
    })
    expect(followUps(service, 'Polled')).toEqual([])
    expect(linkOf(await firstFollowUp(service, 'Polled'))).toBe(moved)
    const entries = await timelineOf(service, requestId)
    const at = (action: string) => Date.parse(entries.find((one) => one.action === action)?.at ?? '')
    expect(at('announced') - at('queued')).toBeGreaterThanOrEqual(5000)
    expect(entries.find(({ action }) => action === 'announced')?.data).toEqual({ by: 'poll' })
    await jobsDone(service, 'follow-up', 'notify')
    expect(followUps(service, 'Polled')).toHaveLength(1)
  })
})

async function changeGroup(service: Service, groupId: string, change: object): Promise<void> {
  const { directoryUrl, directoryExtension } = service.app.endpoints
  const token = await tokenFor(directoryUrl, service.sam.id, 'https://graph.microsoft.com/.default')
  const response = await fetch(`${directoryUrl}/v1.0/groups/${groupId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ [directoryExtension]: change }),
  })
  expect(response.status).toBe(204)
}

describe('with the webhook alone,', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '36000', WEBHOOK_SECRET: webhookSecret })

  it('the card arrives with the webhook, and the timeline shows it', async () => {
    await service.kim.installs()
    const requestId = await ask(service, 'kim', 'Pushed')
    await firstFollowUp(service, 'Pushed')
    expect((await announced(service, requestId)).data).toEqual({ by: 'webhook' })
  })
})

describe('with poll and webhook,', () => {
  const service = withService({
    FOLLOW_UP_FIRST_SECONDS: '2',
    FOLLOW_UP_EVERY_SECONDS: '1',
    FOLLOW_UP_STOP_SECONDS: '5',
    WEBHOOK_SECRET: webhookSecret,
  })

  it('exactly one card arrives, whichever is first and however often the webhook is repeated', async () => {
    await service.kim.installs()
    const names = ['Both 1', 'Both 2', 'Both 3']
    const requestIds = await Promise.all(names.map((name) => ask(service, 'kim', name)))
    await Promise.all(requestIds.map((requestId) => succeeded(service, requestId)))
    const repeats = requestIds.flatMap((requestId) =>
      [1, 2, 3].map(() => postWebhook(service, requestId, webhookSecret)),
    )
    for (const answer of await Promise.all(repeats)) expect(answer.status).toBe(204)
    for (const name of names) await firstFollowUp(service, name)
    await jobsDone(service, 'follow-up', 'notify', 'deliver-webhook')
    expect(names.map((name) => followUps(service, name).length)).toEqual([1, 1, 1])
  })
})

describe('with a slow directory and no webhook,', () => {
  const service = withService({
    ...pollOnly,
    FOLLOW_UP_FIRST_SECONDS: '1',
    FOLLOW_UP_STOP_SECONDS: '3',
    SIMULATOR_DIRECTORY_SECONDS: '3600',
    WEBHOOK_SECRET: webhookSecret,
  })
  const chat = async (kim: TeamsUser, displayName: string) => {
    const choose = await opens(kim, 'working')
    const review = await kim.clicks(choose, 'Review', { displayName })
    await kim.clicks({ id: choose.id, card: review.card }, 'Create')
    return { cardId: choose.id, requestId: await requestNamed(service, displayName) }
  }

  it('the status card reports the delay, a forged webhook has no effect, and a signed one completes the request', async () => {
    const { connector, kim, app } = service
    const { cardId, requestId } = await chat(kim, 'Slow')
    const shown = () => textOf(connector.activity(cardId)?.card ?? {})
    await until(
      () => shown().includes('This is taking longer than usual') || undefined,
      'the sentence on the status card',
    )
    await succeeded(service, requestId)
    const before = await timelineOf(service, requestId)
    expect(before.map(({ action }) => action)).toContain('late')
    const stranger = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    expect((await postWebhook(service, requestId, stranger)).status).toBe(401)
    await jobsDone(service, 'notify', 'refresh-cards')
    expect(await timelineOf(service, requestId)).toEqual(before)
    expect([followUps(service, 'Slow'), linkOf(connector.activity(cardId))]).toEqual([[], undefined])
    expect(shown()).toContain('This is taking longer than usual')

    const url = `${app.endpoints.sharePointUrl}/sites/slow-by-webhook`
    expect((await postWebhook(service, requestId, webhookSecret, url)).status).toBe(204)
    expect(linkOf(await firstFollowUp(service, 'Slow'))).toBe(url)
    await until(() => isShort(connector.activity(cardId)), 'the status card to shrink to one line')
    expect((await announced(service, requestId)).data).toEqual({ by: 'webhook' })
    await jobsDone(service, 'notify', 'refresh-cards')
    expect(followUps(service, 'Slow')).toHaveLength(1)
  })

  it('an address outside the organisation is never announced, even with a valid signature', async () => {
    const { connector, kim } = service
    const { cardId, requestId } = await chat(kim, 'Elsewhere')
    await succeeded(service, requestId)
    await postWebhook(service, requestId, webhookSecret, 'https://evil.example/sites/elsewhere')
    expect(linkOf(await firstFollowUp(service, 'Elsewhere'))).toMatch(/\/sites\/wg-elsewhere$/)
    expect(linkOf(await firstFollowUp(service, 'Elsewhere'))).not.toContain('evil')
    await until(() => isShort(connector.activity(cardId)), 'the status card to shrink to one line')
    expect(JSON.stringify(connector.activity(cardId))).not.toContain('evil')
  })
})

async function requestNamed(service: Service, displayName: string): Promise<string> {
  const { body } = await service.rest('kim', 'GET', '/requests/v1/')
  const list = (body['value'] ?? []) as { requestId: string; details: { displayName: string } }[]
  return list.find(({ details }) => details.displayName === displayName)?.requestId ?? ''
}

describe('a person whose chat', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '2', FOLLOW_UP_EVERY_SECONDS: '1' })

  it('is known receives the card of a REST request there', async () => {
    await service.kim.installs()
    await ask(service, 'kim', 'By REST')
    const card = await firstFollowUp(service, 'By REST')
    expect(card.conversationId).toBe(service.kim.conversationId)
    expect(linkOf(card)).toMatch(/\/sites\/wg-by-rest$/)
  })

  it('becomes known later receives the card then, once', async () => {
    const requestId = await ask(service, 'sam', 'Before the chat')
    await announced(service, requestId)
    await jobsDone(service, 'notify', 'follow-up')
    expect(followUps(service, 'Before the chat')).toEqual([])
    await service.sam.installs()
    expect((await firstFollowUp(service, 'Before the chat')).conversationId).toBe(service.sam.conversationId)
    await service.sam.installs()
    await service.sam.says('help')
    await jobsDone(service, 'notify')
    expect(followUps(service, 'Before the chat')).toHaveLength(1)
  })

  it('becomes known later receives the waiting approval cards then, each once', async () => {
    const { kim, dana } = service
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, 'Choose Project site')
    const inputs = { displayName: 'Waits for Dana', 'metadata.costCentre': '4711', 'metadata.audience': 'internal' }
    const review = await kim.clicks({ id: choose.id, card: form.card }, 'Review', { ...inputs, reason: 'We need it.' })
    await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    await jobsDone(service, 'notify')
    expect(dana.chat()).toEqual([])
    await Promise.all([dana.installs(), dana.installs()])
    const approvalCard = await dana.sees(/Your decision, please/)
    expect(textOf(approvalCard.card)).toContain('Waits for Dana')
    await dana.installs()
    await jobsDone(service, 'notify')
    expect(dana.chat().filter(({ card }) => card && textOf(card).includes('Waits for Dana'))).toHaveLength(1)
    expect(textOf((await dana.clicks(approvalCard, 'Approve', { comment: '' })).card ?? {})).toContain(
      'Approved by you',
    )
  })
})
