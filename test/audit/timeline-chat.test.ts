import { afterEach, describe, expect, it } from 'vitest'
import { timelineView } from '../../src/cards/requests/timeline.ts'
import { auditActions } from '../../src/core/index.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { dana, kim, omar, viewerOf } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { lineOf, longTimeline } from '../support/card-samples-timeline.ts'
import { action, textOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { cards } from '../support/english-cards.ts'

const asKim = viewerOf(kim)
const isShown = (card: Card): unknown => nodesOf(card).find(({ id }) => id === 'timeline')?.['isVisible']

describe('the timeline of a request', () => {
  it.each(auditActions)('has a text for %s by any actor', (what) => {
    for (const actor of [dana, { kind: 'system' as const }, { ...dana, displayName: '' }]) {
      for (const data of [
        {},
        { to: [dana], person: dana, people: [dana], from: [dana], insteadOf: [dana] },
        { to: 7 },
      ]) {
        const entries = [lineOf('pendingApproval', kim), lineOf(what, actor, { data })]
        const { rows } = timelineView({ entries, isOpen: true }, { ...asKim, isAdmin: true })
        expect(rows).toHaveLength(what === 'refused' ? 1 : 2)
        for (const { text } of rows) expect(text).toMatch(/^[^{}]{10,}$/)
      }
    }
  })

  it('names the delegates and the absent person', () => {
    const textFor = (standIns: object[]) => {
      const entries = [lineOf('delegated', kim, { data: { stage: 1, standIns } })]
      return timelineView({ entries, isOpen: true }, asKim).rows[0]?.text
    }
    expect(textFor([{ person: omar, insteadOf: dana }])).toBe('Omar Haddad can also decide for Dana Fox')
    expect(textFor([])).toBe('The delegates for this request changed')
  })

  it('names unreachable people only to admins', () => {
    const entries = [lineOf('pendingApproval', kim), lineOf('not-told', dana), lineOf('reached', dana)]
    expect(timelineView({ entries, isOpen: true }, asKim).rows).toHaveLength(1)
    expect(timelineView({ entries, isOpen: true }, { ...asKim, isAdmin: true }).rows).toHaveLength(3)
  })

  it('leaves out steps, which the progress shows, and actions of later versions', () => {
    const steps = [lineOf('step:create-site', kim), { ...lineOf('late', kim), action: 'teleported' }]
    expect(timelineView({ entries: steps, isOpen: true }, asKim).rows).toEqual([])
  })

  it('shows the last eight entries, the oldest first, and the number of earlier entries', () => {
    const { rows, earlier } = timelineView({ entries: longTimeline, isOpen: true }, { ...asKim, isAdmin: true })
    expect([rows.length, earlier]).toEqual([8, '2 earlier entries'])
    expect(rows[0]?.text).toBe('I also asked Sam Roy to decide')
    expect(rows.at(-1)?.text).toBe('The request failed')
  })
})

describe('status in chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    expect(world.logged.splice(0)).toEqual([])
  })

  it('has the timeline behind a button that unfolds it in the card', async () => {
    const { types, sends } = startBot(world)
    const { reference, requestId } = await requested(world, 'Told of')
    await sends('dana', 'approval.reject', { requestId, comment: 'We have one *already*.' })
    const card = await types('kim', `status ${reference}`)
    expect(action(card, 'Timeline ▾')['type']).toBe('Action.ToggleVisibility')
    expect(isShown(card)).toBe(false)
    expect(textOf(card)).toContain('Kim Lee requested this')
    expect(textOf(card)).toContain('Dana Fox rejected the request')
    expect(textOf(card)).toContain('“We have one *already*.”')
    expect(isShown(await sends('kim', 'request.refresh', { requestId }))).toBe(false)
  })

  it('loads the timeline by the same button of a sent card, which unfolds in place', async () => {
    const { sends } = startBot(world)
    const { requestId } = await requested(world, 'Delivered')
    const request = await world.stores.requests.find(requestId)
    if (!request) throw new Error('the request is gone')
    const delivered = cards.requestStatus(request, asKim) as Card
    expect(action(delivered, 'Timeline ▾')).toMatchObject({ verb: 'request.timeline', data: { requestId } })
    expect(isShown(delivered)).toBeUndefined()
    const unfolded = await sends('kim', 'request.timeline', { requestId })
    expect(isShown(unfolded)).toBe(true)
    expect(textOf(unfolded)).toContain('Kim Lee requested this')
  })

  it('does not show the timeline of somebody else’s request', async () => {
    const { sends } = startBot(world)
    const { requestId } = await requested(world, 'Not Omar’s', { approval: false })
    expect(textOf(await sends('omar', 'request.timeline', { requestId }))).toContain('This request does not exist')
  })
})
