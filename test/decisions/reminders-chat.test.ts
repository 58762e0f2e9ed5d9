import { afterEach, describe, expect, it } from 'vitest'
import { actionsOf, textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const metadata = { costCentre: '4711', audience: 'internal' }

describe('reminders in the approvers’ chats', () => {
  const service = withService()
  afterEach(() => service.connector.healthy())

  async function submitSite(displayName: string): Promise<{ reference: string }> {
    const body = { displayName, templateId: templates.projectSite, metadata }
    const { body: answer } = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    const { body: request } = await service.rest('kim', 'GET', `/requests/v1/${String(answer['requestId'])}`)
    return { reference: String(request['reference']) }
  }
  const about = (who: 'dana' | 'omar', name: string) =>
    service[who].chat().filter(({ card }) => card && textOf(card).includes(name))

  it('replace the first card, can be decided like it, and show the decision', async () => {
    const { kim, dana, omar } = service
    for (const one of [dana, omar]) await one.installs()
    const { reference } = await submitSite('Reminded in chat')
    for (const one of [dana, omar]) await one.sees(/Reminded in chat/)
    const { card: nudged } = await kim.says(`nudge ${reference}`)
    expect(textOf(nudged)).toContain('Your last reminder:')
    const moved = () => dana.chat().filter(({ card }) => card && textOf(card).includes('Moved, see below'))
    const [reminder] = await until(() => {
      const found = about('dana', 'Reminded in chat')
      const areReminders = found.every(({ card }) => card && textOf(card).includes('Kim Lee reminds you'))
      return found.length === 1 && areReminders && moved().length === 1 ? found : undefined
    }, 'the reminder, and one line instead of the first card')
    if (!reminder) throw new Error('there is no reminder')
    expect(reminder.card?.['fallbackText']).toBe(`${reference} still waits for your decision.`)
    expect(moved().map(({ card }) => card?.['fallbackText'])).toEqual([`${reference}: moved, see below.`])
    // A refreshed reminder still gets updates.
    const again = await dana.clicks(reminder, 'Refresh', { comment: 'Hm.' })
    expect(JSON.stringify(again.card)).toContain('Hm.')
    const ofOmar = about('omar', 'Reminded in chat').at(-1)
    if (!ofOmar) throw new Error('Omar has no reminder')
    expect(textOf((await omar.clicks(ofOmar, 'Approve')).card ?? {})).toContain('Approved by you')
    for (const who of ['dana', 'omar'] as const)
      await until(() => {
        const found = about(who, 'Reminded in chat')
        const isOver = found.every(({ card }) => card && textOf(card).includes('Approved'))
        return (found.length === 1 && isOver) || undefined
      }, `the reminder of ${who} to say that it is approved`)
    for (const { card } of about('dana', 'Reminded in chat')) expect(actionsOf(card ?? {})).toEqual([])
  })
})
