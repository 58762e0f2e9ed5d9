import { describe, expect, it } from 'vitest'
import { textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout, filled, opens, reviews } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'

describe('the names of a form in chat, over HTTP', () => {
  const service = withService()
  /** Opens a form of the template without an approval. `clicks` presses a button of the latest card. */
  async function form(user: TeamsUser = service.kim) {
    const { id, card } = await opens(user, 'open')
    let latest: Card = card
    return async (title: string, inputs: Record<string, string> = {}): Promise<Card> => {
      latest = cardOf(await user.clicks({ id, card: latest }, title, inputs))
      return latest
    }
  }

  it('are shown in full on the review and on the approval card', async () => {
    const { kim, dana } = service
    await dana.installs()
    const long = `The ${'very '.repeat(40)}long name of a project`
    const review = await reviews(kim, { ...filled, displayName: long, alias: 'long-name' })
    expect(textOf(review.card).split('\n')).toContain(long)
    await kim.clicks(review, 'Send')
    const approval = await decisionAbout(dana, long)
    expect(textOf(approval.card).split('\n')).toContain(long)
  })

  it('need an address if no letter of the name can be part of one', async () => {
    const question = 'This name has no Latin letters. Enter an address.'
    const clicks = await form()
    const checked = await clicks('Check name', { displayName: '北極光' })
    expect(textOf(checked)).toContain(question)
    expect(textOf(checked)).not.toMatch(/site-[0-9a-f]{8}/)
    const returned = await clicks('Review', { displayName: '北極光' })
    expect(textOf(returned)).toContain(question)
    expect(textOf(returned)).toContain('One thing to fix')
    const review = await clicks('Review', { alias: 'polar-lights' })
    expect(textOf(review)).toContain('/sites/club-polar-lights')
    expect(textOf(review)).toContain('北極光')
  })

  it('name the person’s own request that has the address, to nobody else', async () => {
    const { kim, dana } = service
    const { reference } = await asksFor(kim, { displayName: 'Choir', alias: 'choir' }, 'open')
    const own = await form()
    const sentence = `Your request ${reference} has this address. Try club-choir-2.`
    expect(textOf(await own('Check name', { displayName: 'Second choir', alias: 'choir' }))).toContain(sentence)
    expect(textOf(await own('Review'))).toContain(sentence)
    // The request keeps its address after its site is ready.
    await kim.sees(/Your site is ready[\s\S]*Choir/)
    expect(textOf(await own('Check name'))).toContain(sentence)
    const other = await (await form(dana))('Check name', { displayName: 'Third choir', alias: 'choir' })
    expect(textOf(other)).toContain('This address is taken. Try club-choir-2.')
    expect(textOf(other)).not.toContain(reference)
  })

  it('say that the plain address is taken if the free address has a suffix', async () => {
    await asksFor(service.dana, { displayName: 'Orchestra' }, 'open')
    const checked = await (await form())('Check name', { displayName: 'Orchestra' })
    expect(textOf(checked)).toMatch(
      /Address: \S+\/sites\/club-orchestra-2\. It is free\. \S+\/sites\/club-orchestra is taken\./,
    )
    const plain = await (await form())('Check name', { displayName: 'Quartet' })
    expect(textOf(plain)).toMatch(/\/sites\/club-quartet\. It is free\.$/m)
  })

  it.each([
    ['büro-zürich', 'An address cannot contain ü. Try buro-zurich.'],
    ['Müßig (1)', 'An address cannot contain ü, ß, spaces, (, or ). Try mussig-1.'],
    ['漢字', 'An address cannot contain 漢 or 字. Use a–z, 0–9 and hyphens.'],
  ])('name the characters that no address can have: %s', async (alias, line) => {
    const clicks = await form()
    const returned = await clicks('Review', { displayName: 'Office', alias })
    expect(textOf(returned)).toContain(line)
    expect(valuesOf(returned)).toMatchObject({ alias })
    expect(textOf(await clicks('Check name'))).toContain(line)
  })
})
