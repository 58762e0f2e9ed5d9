import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import { withService } from '../support/service.ts'
import { decisionAbout, readsAfter } from '../support/site-request.ts'
import { contosoTenant, people, TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** Dana's manager in the sample organisation. */
const rajesh = { id: '11111111-aaaa-4aaa-8aaa-000000000006', name: 'Rajesh Iyer' }
const timeline = z.object({ value: z.array(z.object({ action: z.string() })) })

describe('approval timers with the queue and real cards', () => {
  const service = withService(
    {
      APPROVAL_REMINDER_HOURS: '0.0004',
      // 9 s: a reminder is sent only before the escalation, and the restart between them may be slow.
      APPROVAL_ESCALATION_HOURS: '0.0025',
      // 22 s: two restarts and the manager's card fit before it, also on a busy machine.
      APPROVAL_EXPIRY_DAYS: '0.00025',
    },
    () => ({ reachMinutes: 0.01 }),
  )
  const manager = () => new TeamsUser(() => service.app.url, service.connector, rajesh)
  const ask = async (displayName: string, approval: object): Promise<string> => {
    const { core } = service.app
    const admin = await core.actor({ tenantId: contosoTenant, id: people.sam.id })
    const templateId = randomUUID()
    await core.putTemplate(admin, {
      id: templateId,
      body: { kind: 'teamSite', name: displayName, approval },
      expected: 0,
    })
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', { displayName, templateId })
    expect(answer.status).toBe(202)
    return String(answer.body['requestId'])
  }
  const status = async (requestId: string) =>
    (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body['status']
  const actionsOf = async (requestId: string) => {
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}/timeline`)
    return timeline.parse(body).value.map(({ action }) => action)
  }
  const happened = (requestId: string, action: string) =>
    until(async () => ((await actionsOf(requestId)).includes(action) ? true : undefined), `that it is ${action}`)
  const cards = (user: TeamsUser, name: string) =>
    service.connector.sent.flatMap(({ conversationId, card }) =>
      conversationId === user.conversationId && card && textOf(card).includes(name) ? [textOf(card)] : [],
    )

  it('remind, ask the manager, warn both sides and expire the request, across restarts', async () => {
    const { kim, dana } = service
    for (const one of [kim, dana, manager()]) await one.installs()
    const requestId = await ask('Nobody decides', { stages: [{ approvers: [{ user: dana.id }] }] })
    await decisionAbout(dana, 'Nobody decides')
    await service.restart()
    await happened(requestId, 'reminded')
    await until(() => (cards(dana, 'Nobody decides').length >= 2 ? true : undefined), 'the reminder in the chat')
    await service.restart()
    await happened(requestId, 'escalated')
    await decisionAbout(manager(), 'Nobody decides')
    await happened(requestId, 'warned')
    await service.restart()
    await happened(requestId, 'expired')
    await kim.sees(/Nobody decides[\s\S]*Expired|Expired[\s\S]*Nobody decides/)
    expect(await status(requestId)).toBe('expired')
    const actions = ['pendingApproval', 'reminded', 'escalated', 'warned', 'expired']
    expect(await actionsOf(requestId)).toEqual(actions)
    // The approval, the reminder and the warning: one card each.
    expect(cards(dana, 'Nobody decides').length).toBe(3)
  })

  it('allow a decision on the reminder, also by the person who is asked instead', async () => {
    const { dana } = service
    const approval = { stages: [{ approvers: [{ user: dana.id }], escalateAfterHours: 0 }], expiresAfterDays: 1 }
    const requestId = await ask('On the reminder', approval)
    await happened(requestId, 'reminded')
    const reminder = await until(() => {
      const found = dana.chat().filter(({ card }) => card && textOf(card).includes('On the reminder'))
      const isReminder = cards(dana, 'On the reminder').length === 2 && found.length === 1
      return isReminder ? found[0] : undefined
    }, 'the reminder')
    if (!reminder?.card) throw new Error('a reminder without a card')
    const answer = await dana.clicks({ id: reminder.id, card: reminder.card }, 'Approve', { comment: '' })
    expect(readsAfter(answer)).toContain('Approved by you')
    const other = { stages: [{ approvers: [{ user: dana.id }], remindAfterHours: 0 }], expiresAfterDays: 1 }
    const second = await ask('Instead of Dana', other)
    const card = await decisionAbout(manager(), 'Instead of Dana')
    expect(readsAfter(await manager().clicks(card, 'Approve', { comment: 'For Dana.' }))).toContain('Approved by you')
    expect(await actionsOf(second)).toContain('escalated')
    expect(await status(second)).not.toBe('pendingApproval')
  })
})
