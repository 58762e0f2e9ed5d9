import { afterEach, describe, expect, it } from 'vitest'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { openCommunity, projectSite } from '../support/card-world.ts'
import { action, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { filled } from '../support/site-request.ts'

describe('the names of a form in chat', () => {
  const world = withBotWorld()
  afterEach(() => {
    world.takenAddresses.clear()
    expect(world.logged.splice(0)).toEqual([])
  })
  const opens = (template = openCommunity, who: 'kim' | 'dana' = 'kim') =>
    startBot(world).sends(who, 'request.choose', { templateId: template.id })
  const clicks = (card: Card, title: string, inputs: Record<string, string> = {}, who: 'kim' | 'dana' = 'kim') =>
    startBot(world).clicks(who, card, title, inputs)
  const sends = async (inputs: Record<string, string>) => {
    const sent = await clicks(await clicks(await opens(), 'Review', inputs), 'Create')
    return /REQ-\d+/.exec(textOf(sent))?.[0] ?? 'none'
  }

  it('are shown in full on the review and on the approval card', async () => {
    const long = `The ${'very '.repeat(40)}long name of a project`
    const review = await clicks(await opens(projectSite), 'Review', {
      ...filled,
      displayName: long,
      alias: 'long-name',
    })
    expect(textOf(review).split('\n')).toContain(long)
    const sent = await clicks(review, 'Send')
    const approval = await startBot(world).types('dana', `status ${/REQ-\d+/.exec(textOf(sent))?.[0]}`)
    expect(action(approval, 'Approve').verb).toBe('approval.approve')
    expect(textOf(approval).split('\n')).toContain(long)
  })

  it('need an address if no letter of the name can be part of one', async () => {
    const question = 'This name has no Latin letters. Enter an address.'
    const form = await opens()
    const checked = await clicks(form, 'Check name', { displayName: '北極光' })
    expect(textOf(checked)).toContain(question)
    expect(textOf(checked)).not.toMatch(/site-[0-9a-f]{8}/)
    const returned = await clicks(checked, 'Review', { displayName: '北極光' })
    expect(textOf(returned)).toContain(question)
    expect(textOf(returned)).toContain('One thing to fix')
    const review = await clicks(returned, 'Review', { alias: 'polar-lights' })
    expect(textOf(review)).toContain('/sites/polar-lights')
    expect(textOf(review)).toContain('北極光')
  })

  it('name the person’s own request that has the address, to nobody else', async () => {
    const reference = await sends({ displayName: 'Choir', alias: 'choir' })
    const own = await clicks(await opens(), 'Check name', { displayName: 'Second choir', alias: 'choir' })
    expect(textOf(own)).toContain(`Your request ${reference} has this address. Try choir-2.`)
    expect(textOf(await clicks(own, 'Review'))).toContain(`Your request ${reference} has this address.`)
    const other = await clicks(
      await opens(openCommunity, 'dana'),
      'Check name',
      { displayName: 'Third choir', alias: 'choir' },
      'dana',
    )
    expect(textOf(other)).toContain('This address is taken. Try choir-2.')
    expect(textOf(other)).not.toContain(reference)
  })

  it('say that the plain address is taken if the free address has a suffix', async () => {
    world.takenAddresses.add('orchestra')
    const checked = await clicks(await opens(), 'Check name', { displayName: 'Orchestra' })
    expect(textOf(checked)).toMatch(/Address: \S+\/sites\/orchestra-2\. It is free\. \S+\/sites\/orchestra is taken\./)
    const plain = await clicks(await opens(), 'Check name', { displayName: 'Quartet' })
    expect(textOf(plain)).toMatch(/\/sites\/quartet\. It is free\.$/m)
  })

  it.each([
    ['büro-zürich', 'An address cannot contain ü. Try buro-zurich.'],
    ['Müßig (1)', 'An address cannot contain ü, ß, spaces, (, or ). Try mussig-1.'],
    ['漢字', 'An address cannot contain 漢 or 字. Use a–z, 0–9 and hyphens.'],
  ])('name the characters that no address can have: %s', async (alias, line) => {
    const returned = await clicks(await opens(), 'Review', { displayName: 'Office', alias })
    expect(textOf(returned)).toContain(line)
    expect(valuesOf(returned)).toMatchObject({ alias })
    expect(textOf(await clicks(returned, 'Check name'))).toContain(line)
  })
})
