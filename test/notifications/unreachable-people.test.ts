import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { allSent } from '../support/settled.ts'
import { opens } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const line = z.object({ action: z.string(), data: z.record(z.string(), z.unknown()).optional() })
const timeline = z.object({ value: z.array(line) })
const metadata = { costCentre: '4711', audience: 'internal' }

describe('a person whose chat rejects our cards', () => {
  const service = withService()
  afterEach(() => service.connector.healthy())

  async function ask(displayName: string, templateId: string = templates.projectSite): Promise<string> {
    const body = { displayName, templateId, ...(templateId === templates.projectSite && { metadata }) }
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    expect(answer.status).toBe(202)
    return String(answer.body['requestId'])
  }
  /** The timeline's entries about unreachable people. */
  const notTold = async (requestId: string) => {
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}/timeline`)
    const { value } = timeline.parse(body)
    return value.flatMap(({ action, data }) => (action === 'not-told' && data ? [data] : []))
  }
  const settled = () => allSent(service)
  const about = ({ chat }: { chat: TeamsUser['chat'] }, name: string) =>
    chat().filter(({ card }) => card && textOf(card).includes(name))
  const callsTo = ({ conversationId }: TeamsUser) =>
    service.connector.calls.filter((call) => call.conversationId === conversationId).length
  const refuses = (user: TeamsUser, how: number, code: string) =>
    service.connector.fail({
      ...{ method: 'POST', how, code, count: 1000 },
      when: ({ conversation }) => JSON.stringify(conversation).includes(user.conversationId),
    })

  it('gets no card again as an approver: the timeline has an entry, admins are notified once, others can decide', async () => {
    const { dana, omar, sam } = service
    for (const one of [dana, omar, sam]) await one.installs()
    await settled()
    refuses(dana, 403, 'ConversationBlockedByUser')
    const before = callsTo(dana)
    const requestId = await ask('Blocked by Dana')
    await sam.sees(/Blocked by Dana/)
    await settled()
    expect(callsTo(dana), 'one call').toBe(before + 1)
    const person = expect.objectContaining({ id: dana.id, displayName: 'Dana Fox' })
    expect(await notTold(requestId)).toEqual([
      { person, card: 'approval:1', why: 'ConversationBlockedByUser', stage: 1 },
    ])
    expect(about({ chat: () => sam.chat() }, 'Blocked by Dana')).toHaveLength(1)
    const approvalCard = await omar.sees(/Blocked by Dana/)
    expect((await omar.clicks(approvalCard, 'Approve', { comment: 'yes' })).status).toBe(200)
    const state = await service.app.database.query(`SELECT status FROM requests WHERE request_id = $1`, [requestId])
    expect(state.rows).not.toEqual([{ status: 'pendingApproval' }])
  })

  it('gets no more cards, and all missed cards when they write again', async () => {
    const { dana } = service
    const before = callsTo(dana)
    const requestId = await ask('While she is away')
    await until(async () => (await notTold(requestId))[0], 'the entry in the timeline')
    await settled()
    expect(callsTo(dana)).toBe(before)
    await dana.says('help')
    await dana.sees(/While she is away/)
    await settled()
    expect(about({ chat: () => dana.chat() }, 'While she is away')).toHaveLength(1)
    expect(await notTold(requestId), 'the entry remains').toHaveLength(1)
    const another = await ask('She is back')
    await dana.sees(/She is back/)
    expect(await notTold(another)).toEqual([])
  })

  it('gets their resource as a requester, and the card when the bot is in the chat again', async () => {
    const { kim } = service
    await kim.installs()
    await settled()
    refuses(kim, 404, 'ConversationNotFound')
    const requestId = await ask('Nobody at home', templates.openCommunity)
    const [entry] = await until(async () => {
      const entries = await notTold(requestId)
      return entries.length > 0 ? entries : undefined
    }, 'the entry in the timeline')
    expect(entry).toMatchObject({ person: { id: kim.id }, card: 'outcome:succeeded', why: 'ConversationNotFound' })
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}`)
    expect(body['status']).toBe('succeeded')
    service.connector.healthy()
    await kim.installs()
    await kim.sees(/Nobody at home/)
    await settled()
    expect(about({ chat: () => kim.chat() }, 'Nobody at home')).toHaveLength(1)
  })

  it('gets a failed card update when the closed chat is open again', async () => {
    const { kim, omar } = service
    const choose = await opens(kim, 'project')
    const review = await kim.clicks(choose, 'Review', {
      ...{ displayName: 'Out of date', reason: 'for a test', 'metadata.costCentre': '4711' },
      'metadata.audience': 'internal',
    })
    await kim.clicks({ id: choose.id, card: review.card }, 'Send')
    const approvalCard = await omar.sees(/Out of date/)
    await settled()
    service.connector.fail({
      ...{ method: 'PUT', how: 403, code: 'BotNotInConversationRoster', count: 1 },
      when: (activity) => JSON.stringify(activity).includes(kim.conversationId),
    })
    await omar.clicks(approvalCard, 'Reject', { comment: 'not now' })
    await until(async () => {
      const { rows } = await service.app.database.query('SELECT closed_why FROM conversations WHERE person_id = $1', [
        kim.id,
      ])
      return rows[0]?.['closed_why'] === 'BotNotInConversationRoster' || undefined
    }, 'the closed chat')
    await kim.installs()
    const card = await until(() => {
      const shown = service.connector.activity(choose.id)
      return shown?.card && /Finished, see below/.test(textOf(shown.card)) ? shown : undefined
    }, 'the updated status card')
    expect(card.updates).toBeGreaterThan(0)
  })
})
