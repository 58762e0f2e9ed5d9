import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import { type Service, withService } from '../support/service.ts'
import { allSent } from '../support/settled.ts'
import { decisionAbout, readsAfter } from '../support/site-request.ts'
import { contosoTenant, people, TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const teamsAppId = '66666666-ffff-4fff-8fff-000000000001'
const rajesh = { id: '11111111-aaaa-4aaa-8aaa-000000000006', name: 'Rajesh Iyer' }
const astrid = { id: '11111111-aaaa-4aaa-8aaa-000000000008', name: 'Astrid Lindqvist' }
const line = z.object({ action: z.string(), data: z.record(z.string(), z.unknown()).optional() })
const stage = z.object({
  unreachable: z.array(z.object({ person: z.object({ id: z.string() }), why: z.string() })).default([]),
  standIns: z
    .array(z.object({ person: z.object({ id: z.string() }), insteadOf: z.array(z.string()), as: z.string() }))
    .default([]),
})
const shown = z.object({ status: z.string(), approvals: z.array(stage) })

/** Returns the chat of the bot with a person who has never written, as Graph and the connector know it. */
const chatIn = (service: Service, person: { id: string; name: string }) =>
  new TeamsUser(
    () => service.app.url,
    service.connector,
    person,
    `19:66666666-ffff-4fff-8fff-000000000002_${person.id}@unq.gbl.spaces`,
  )

/** Helpers of these tests for a service. */
function tools(service: Service) {
  const user = (person: { id: string; name: string }) => new TeamsUser(() => service.app.url, service.connector, person)
  /** Creates a template with this policy, and a request by Kim for it. Returns the request's id. */
  const ask = async (displayName: string, ...stages: object[]): Promise<string> => {
    const { core } = service.app
    const admin = await core.actor({ tenantId: contosoTenant, id: people.sam.id })
    const templateId = randomUUID()
    const body = { kind: 'teamSite', name: displayName, approval: { stages } }
    await core.putTemplate(admin, { id: templateId, body, expected: 0 })
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', { displayName, templateId })
    expect(answer.status).toBe(202)
    return String(answer.body['requestId'])
  }
  const read = async (requestId: string) =>
    shown.parse((await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body)
  const stageOf = async (requestId: string) => stage.parse((await read(requestId)).approvals[0])
  const approversOf = async (requestId: string) => {
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}/timeline`)
    return z.object({ value: z.array(line) }).parse(body).value
  }
  /** Waits until the stage lists unreachable approvers, and returns the stage. */
  const lost = (requestId: string, count = 1) =>
    until(async () => {
      const now = await stageOf(requestId)
      return now.unreachable.length >= count ? now : undefined
    }, 'that the stage says who cannot be told')
  const found = (requestId: string) =>
    until(async () => (await stageOf(requestId)).unreachable.length === 0 || undefined, 'that all can be told')
  const settled = () => allSent(service)
  const cardsAbout = (one: TeamsUser, name: string) =>
    one.chat().filter(({ card }) => card && textOf(card).includes(name)).length
  return { user, ask, read, stageOf, approversOf, lost, found, settled, cardsAbout }
}
const of = (...ids: string[]) => ({ approvers: ids.map((user) => ({ user })) })

describe('an approver without a chat with the bot, if the app may be installed,', () => {
  const service = withService({ TEAMS_APP_ID: teamsAppId })
  const { ask, read, stageOf, settled } = tools(service)
  const installs = () => service.calls('graph.installedApps.add')

  it('receives the app once, then the card, and decides', async () => {
    const { dana } = service
    const requestId = await ask('Never heard of Dana', of(dana.id))
    const [call] = await until(async () => {
      const calls = await installs()
      return calls.length > 0 ? calls : undefined
    }, 'the installation')
    expect(call).toMatchObject({ status: 201, path: `/v1.0/users/${dana.id}/teamwork/installedApps` })
    // Teams notifies the bot about the new chat, as about every chat.
    await dana.installs()
    const card = await decisionAbout(dana, 'Never heard of Dana')
    expect(readsAfter(await dana.clicks(card, 'Approve', { comment: 'Fine.' }))).toContain('Approved by you')
    expect((await read(requestId)).status).not.toBe('pendingApproval')
    expect((await stageOf(requestId)).unreachable).toEqual([])
    await settled()
    expect(await installs()).toHaveLength(1)
  })

  it('is not looked up when they have a chat, or when the message is not about an approval', async () => {
    const { kim, dana } = service
    const before = (await installs()).length
    const requestId = await ask('Dana has one', of(dana.id))
    const card = await decisionAbout(dana, 'Dana has one')
    await dana.clicks(card, 'Reject', { comment: 'No.' })
    await settled()
    expect((await read(requestId)).status).toBe('rejected')
    expect(kim.chat(), 'the requester has none, and none is made').toEqual([])
    expect(await installs()).toHaveLength(before)
  })

  it('receives the app when Graph answers again', async () => {
    const { omar } = service
    await service.fault({ operation: 'graph.installedApps.add', kind: 'failBeforeCommit', status: 503 })
    await ask('Graph is busy', of(omar.id))
    await until(
      async () => (await installs()).find(({ status, path }) => status === 201 && path.includes(omar.id)),
      'the second try',
    )
    await omar.installs()
    await decisionAbout(omar, 'Graph is busy')
  })
})

describe('a person whose chat only Microsoft 365 knows,', () => {
  const service = withService({ TEAMS_APP_ID: teamsAppId, ADMINS: people.sam.id }, () => ({ reachMinutes: 0.03 }))
  const { user, ask, read, stageOf, lost, settled } = tools(service)

  it('who has the app by a setup policy and has never written, receives the approval card and approves', async () => {
    await service.installedByPolicy(rajesh.id, teamsAppId)
    const chat = chatIn(service, rajesh)
    const requestId = await ask('By policy', of(rajesh.id))
    const card = await decisionAbout(chat, 'By policy')
    // The activity of a click identifies the chat by another id, as in Teams.
    const answer = await user(rajesh).clicks(card, 'Approve', { comment: 'Fine.' })
    expect(readsAfter(answer)).toContain('Approved by you')
    expect((await read(requestId)).status).not.toBe('pendingApproval')
    expect((await stageOf(requestId)).unreachable).toEqual([])
    const statuses = (await service.calls()).filter(({ operation }) => operation.startsWith('graph.installedApps.'))
    expect(statuses.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'graph.installedApps.add 409',
      'graph.installedApps.list 200',
      'graph.installedApps.chat 200',
      // The requester does not have the app, and does not receive it.
      ...statuses.slice(3).map(() => 'graph.installedApps.list 200'),
    ])
    await ask('Once more', of(rajesh.id))
    await decisionAbout(user(rajesh), 'Once more')
    expect(await service.calls('graph.installedApps.add')).toHaveLength(1)
  })

  it('who received the app from the service without Teams’ message to the bot, is found before other people are asked', async () => {
    const requestId = await ask('Lost message', of(astrid.id))
    await decisionAbout(chatIn(service, astrid), 'Lost message')
    expect(await stageOf(requestId)).toEqual({ unreachable: [], standIns: [] })
  })

  it('who was known before the loss of all chats, receives approver and admin cards again', async () => {
    const { dana, sam } = service
    for (const one of [dana, sam]) {
      await one.installs()
      await service.installedByPolicy(one.id, teamsAppId)
    }
    await settled()
    await service.app.database.query('DELETE FROM conversations')
    const requestId = await ask('After the loss', of(dana.id))
    await decisionAbout(chatIn(service, people.dana), 'After the loss')
    await service.app.core.system.notifyAdmins({ requestId, card: 'status' })
    await chatIn(service, people.sam).sees(/After the loss/)
    await dana.says('help')
    await decisionAbout(chatIn(service, people.dana), 'After the loss')
  })

  it('who has blocked the bot: the found chat is closed, and another person is asked at once', async () => {
    const { omar } = service
    await user(rajesh).installs()
    await service.installedByPolicy(omar.id, teamsAppId)
    const { conversationId } = chatIn(service, people.omar)
    service.connector.fail({
      ...{ method: 'POST', how: 403, code: 'ConversationBlockedByUser', count: 1000 },
      when: ({ conversation }) => JSON.stringify(conversation).includes(conversationId),
    })
    const requestId = await ask('Blocked before', { ...of(omar.id), backup: [{ user: rajesh.id }] })
    await decisionAbout(user(rajesh), 'Blocked before')
    expect((await lost(requestId)).unreachable).toMatchObject([
      { person: { id: omar.id }, why: 'ConversationBlockedByUser' },
    ])
  })
})

describe('an approver who cannot be reached', () => {
  const service = withService(
    { APPROVAL_REMINDER_HOURS: '0', APPROVAL_ESCALATION_HOURS: '0', ADMINS: people.sam.id },
    () => ({ reachMinutes: 0.02 }),
  )
  const { user, ask, read, approversOf, lost, found, settled, cardsAbout } = tools(service)
  const [manager, backup] = [() => user(rajesh), () => user(astrid)]

  it('in time: their manager is asked, the admins are notified once, the request shows it, and a chat resolves it', async () => {
    const { dana, sam } = service
    for (const one of [manager(), sam]) await one.installs()
    const requestId = await ask('Dana is nowhere', of(dana.id))
    const approvalCard = await decisionAbout(manager(), 'Dana is nowhere')
    const stage = await lost(requestId)
    expect(stage.unreachable).toEqual([{ person: expect.objectContaining({ id: dana.id }), why: 'NoChat' }])
    expect(stage.standIns).toEqual([
      { person: expect.objectContaining({ id: rajesh.id }), insteadOf: [dana.id], as: 'manager' },
    ])
    const lines = await approversOf(requestId)
    expect(lines.filter(({ action }) => action === 'not-told')).toHaveLength(1)
    expect(lines.filter(({ action }) => action === 'escalated')).toMatchObject([{ data: { why: 'unreachable' } }])
    await sam.sees(/Dana is nowhere/)
    await settled()
    expect(cardsAbout(sam, 'Dana is nowhere')).toBe(1)
    await dana.installs()
    await decisionAbout(dana, 'Dana is nowhere')
    await found(requestId)
    expect((await approversOf(requestId)).map(({ action }) => action)).toContain('reached')
    expect(readsAfter(await manager().clicks(approvalCard, 'Approve', { comment: 'For Dana.' }))).toContain(
      'Approved by you',
    )
    expect((await read(requestId)).status).not.toBe('pendingApproval')
  })

  it('in time: the reachable approver decides alone, and no other person is asked', async () => {
    const { dana, omar } = service
    await dana.installs()
    const requestId = await ask('Omar is nowhere', of(dana.id, omar.id))
    const { unreachable, standIns } = await lost(requestId)
    expect(unreachable.map(({ person }) => person.id)).toEqual([omar.id])
    expect(standIns).toEqual([])
    const card = await decisionAbout(dana, 'Omar is nowhere')
    expect(readsAfter(await dana.clicks(card, 'Approve'))).toContain('Approved by you')
  })

  it('in time: the policy’s backup is asked instead of the manager', async () => {
    const { omar } = service
    await backup().installs()
    const requestId = await ask('Backup of Omar', { ...of(omar.id), backup: [{ user: astrid.id }] })
    const card = await decisionAbout(backup(), 'Backup of Omar')
    expect((await lost(requestId)).standIns.map(({ person, as }) => [person.id, as])).toEqual([[astrid.id, 'backup']])
    expect(readsAfter(await backup().clicks(card, 'Reject', { comment: 'Not now.' }))).toContain('Rejected by you')
  })

  it('in time: the replacement has no chat either, so the admins are asked', async () => {
    const { sam } = service
    const matteo = '11111111-aaaa-4aaa-8aaa-000000000021'
    // Matteo's manager is Chiara; both have never met the bot.
    const requestId = await ask('Nobody of theirs', of(matteo))
    const card = await decisionAbout(sam, 'Nobody of theirs')
    const { unreachable, standIns } = await lost(requestId, 2)
    expect(unreachable).toHaveLength(2)
    expect(standIns.map(({ as }) => as)).toEqual(['manager', 'admin'])
    expect(readsAfter(await sam.clicks(card, 'Approve'))).toContain('Approved by you')
  })
})

describe('an approver whose chat refuses cards', () => {
  const service = withService({ ADMINS: people.sam.id })
  const { user, ask, lost, found, approversOf, settled, stageOf } = tools(service)
  const manager = () => user(rajesh)
  afterEach(() => service.connector.healthy())
  const refuses = (one: TeamsUser, code: string) =>
    service.connector.fail({
      ...{ method: 'POST', how: 403, code, count: 1000 },
      when: ({ conversation }) => JSON.stringify(conversation).includes(one.conversationId),
    })

  it.each(['ConversationBlockedByUser', 'MessageWritesBlocked', 'BotNotInConversationRoster'])(
    'by %s: another person is asked at once, and the approver receives the card after their return',
    async (code) => {
      const { dana } = service
      for (const one of [dana, manager()]) await one.installs()
      await settled()
      refuses(dana, code)
      const name = `At once ${code}`
      const requestId = await ask(name, of(dana.id))
      await decisionAbout(manager(), name)
      expect((await lost(requestId)).unreachable).toMatchObject([{ person: { id: dana.id }, why: code }])
      service.connector.healthy()
      await dana.installs()
      await decisionAbout(dana, name)
      await found(requestId)
    },
  )

  it('after a first card: the reminder detects it, and it ends when they write again', async () => {
    const { dana } = service
    const requestId = await ask('Blocked later', of(dana.id))
    await decisionAbout(dana, 'Blocked later')
    await settled()
    refuses(dana, 'ConversationBlockedByUser')
    const { core } = service.app
    const kim = await core.actor({ tenantId: contosoTenant, id: people.kim.id })
    await core.nudge(kim, { requestId })
    await decisionAbout(manager(), 'Blocked later')
    expect((await lost(requestId)).unreachable).toMatchObject([{ person: { id: dana.id } }])
    service.connector.healthy()
    await dana.says('help')
    await found(requestId)
    expect((await approversOf(requestId)).filter(({ action }) => action === 'reached')).toHaveLength(1)
    expect(
      (await stageOf(requestId)).standIns.map(({ person }) => person.id),
      'may decide on',
    ).toEqual([rajesh.id])
  })
})
