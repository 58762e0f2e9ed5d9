import { afterEach, describe, expect, it } from 'vitest'
import { nodesOf } from '../support/card-rules.ts'
import { action, textOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { withService } from '../support/service.ts'
import { opens } from '../support/site-request.ts'

const campaign = {
  displayName: 'Team Marketing',
  'metadata.costCentre': '4711',
  'metadata.audience': 'internal',
  reason: 'The new campaign needs a place.',
}

describe('a review in chat', () => {
  const service = withService()
  afterEach(() => service.heal())

  async function review(template: string, values: Record<string, string>): Promise<{ id: string; card: Card }> {
    const { kim } = service
    const choose = await opens(kim, 'site')
    const form = await kim.clicks(choose, `Choose ${template}`)
    const shown = await kim.clicks({ id: choose.id, card: form.card }, 'Review', values)
    return { id: choose.id, card: shown.card ?? {} }
  }
  const links = (card: Card) =>
    nodesOf(card).flatMap(({ type, url }) => (type === 'Action.OpenUrl' ? [String(url)] : []))

  it('shows similar sites and people who can give access, and can still be sent', async () => {
    const { kim } = service
    const shown = await review('Project site', campaign)
    const text = textOf(shown.card)
    expect(text).toContain('2 similar sites exist')
    expect(text).toMatch(/Marketing\n.*\/sites\/marketing\nAsk Dana Fox for access\./)
    expect(text).toMatch(/Marketing EMEA\n.*\/sites\/marketing-emea\nYou can already open it\./)
    expect(links(shown.card).map((url) => new URL(url).pathname)).toEqual(['/sites/marketing', '/sites/marketing-emea'])
    const sent = await kim.clicks(shown, 'Send')
    expect(textOf(sent.card ?? {})).toContain('Waiting for approval')
    expect(textOf(sent.card ?? {})).not.toContain('similar')
  })

  it('hides sites whose names the person may not read', async () => {
    for (const displayName of ['Merger Watch', 'Reorganisation', 'Company News Drafts']) {
      const text = textOf((await review('Project site', { ...campaign, displayName })).card)
      expect(text).toContain('Is this right?')
      expect(text).not.toMatch(/\/sites\/(merger-watch|reorganisation|company-news-drafts)\n/)
      expect(text).not.toMatch(/Ask .* for access/)
    }
  })

  it('names own waiting requests with a similar name, and no requests of other people', async () => {
    const { kim } = service
    const named = (displayName: string) => review('Project site', { ...campaign, displayName })
    const first = await named('Kestrel observatory')
    expect(textOf(first.card)).not.toContain('already waits')
    await kim.clicks(first, 'Send')
    const text = textOf((await named('Observatory Kestrel')).card)
    expect(text).toMatch(/Your similar request REQ-\d+ \(Kestrel observatory\) already waits for approval\./)
    expect(textOf((await named('Falcon observatory')).card)).not.toContain('already waits')
  })

  it('shows similar rooms that the person can book', async () => {
    const { kim } = service
    const form = await kim.says('new room')
    const values = { displayName: 'Matterhorn Zürich', name: 'matterhorn-2', 'metadata.seats': '4' }
    const shown = await kim.clicks(form, 'Review', values)
    const text = textOf(shown.card ?? {})
    expect(text).toContain('A similar room exists')
    expect(text).toContain('room-zrh-matterhorn@contoso.example\nYou can already book it.')
  })

  it.each([
    ['is slow', { kind: 'delay', seconds: 5 }],
    ['fails', { kind: 'failBeforeCommit', status: 503 }],
  ])('shows no similar resources, and can still be sent, when the search of Microsoft 365 %s', async (_, fault) => {
    const { kim } = service
    await service.fault({ operation: 'graph.sites.search', count: 100, ...fault })
    const shown = await review('Working group', { displayName: 'Marketing' })
    const text = textOf(shown.card)
    expect(text).not.toMatch(/similar sites? exist/)
    expect(action(shown.card, 'Create').verb).toBe('request.submit')
    expect(textOf((await kim.clicks(shown, 'Create')).card ?? {})).toMatch(/Queued|Creating|Ready/)
  })
})
