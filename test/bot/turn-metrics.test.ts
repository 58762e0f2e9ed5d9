import { ConversationState, MemoryStorage } from 'botbuilder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { Bot } from '../../src/bot/channel/bot.ts'
import type { IncomingActivity } from '../../src/bot/channel/guard.ts'
import { cardIn, clicking } from '../support/bot-activities.ts'
import { withBotWorld } from '../support/bot-world.ts'
import { openCommunity } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { templates, withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'
import { until } from '../support/until.ts'

describe('a completed turn', () => {
  const service = withService()
  const sql = (statement: string, values: unknown[] = []) => service.app.database.query(statement, values)
  const isDone = async (id: unknown) => {
    const { rows } = await sql('SELECT answer IS NOT NULL AS done FROM inbox WHERE activity_id = $1', [id])
    return rows[0]?.['done'] === true || undefined
  }

  it.each([
    ['a typed message', { type: 'message', text: 'help' }],
    ['an installation', { type: 'installationUpdate', action: 'add' }],
  ])('does not run again after a late repeated delivery: %s', async (_, content) => {
    const { kim, connector } = service
    const activity = kim.activity(content)
    await kim.post(activity)
    await until(() => isDone(activity['id']), 'the mark that the activity is done')
    const sent = connector.sent.length
    await sql(`UPDATE inbox SET received_at = received_at - interval '1 hour'`)
    expect((await kim.post(activity)).status).toBe(200)
    expect(connector.sent).toHaveLength(sent)
  })

  it('does not wait for a connector that does not answer the card update', async () => {
    const { kim, connector } = service
    const form = await opens(kim)
    const fault = connector.fail({ method: 'PUT', how: 'hold', count: 1 })
    const answer = await kim.invokes(form.id, 'request.choose', { templateId: templates.openCommunity })
    expect(textOf(answer.card ?? {})).toContain('Open community')
    expect(fault.count).toBe(0)
  })
})

describe('a clicked card that the connector never updates', () => {
  const world = withBotWorld()
  let connector: Connector
  beforeAll(async () => {
    connector = await startConnector()
  })
  afterAll(() => connector.close())

  it('is logged after the click was answered', async () => {
    const adapter = new GuardedAdapter(undefined)
    const bot = new Bot(world.services, new ConversationState(new MemoryStorage()))
    connector.fail({ method: 'PUT', how: 'hold', count: 1 })
    const data = { templateId: openCommunity.id }
    const click = clicking('kim', 'request.choose', data, { serviceUrl: connector.url, replyToId: 'a-card' })
    const answer = await adapter.hear(click as IncomingActivity, {}, (context) => bot.run(context))
    expect(textOf(cardIn({ type: 'invokeResponse', value: answer }))).toContain('Open community')
    expect(world.logged).toEqual([])
    await connector.close()
    const [line] = await until(() => (world.logged.length > 0 ? world.logged : undefined), 'a line in the log')
    expect(line).toMatch(/^a clicked card was answered but not updated: /)
    expect(world.logged).toHaveLength(1)
  })
})
