import { MemoryStorage } from 'botbuilder'
import { describe, expect, it, vi } from 'vitest'
import { cardActions } from '../src/bot/actions/index.ts'
import { dialogSteps, isDialogVerb } from '../src/bot/dialog-steps.ts'
import { cardIn, clicking, saying } from './support/bot-activities.ts'
import { requested, startBot, withBotWorld } from './support/bot-world.ts'
import { projectSite } from './support/card-world.ts'
import { action, textOf } from './support/cards.ts'

describe('the description of the dialog', () => {
  it('takes every verb that its steps name, and each is a card action', () => {
    const verbs = Object.values(dialogSteps).flatMap((step): readonly string[] => step.verbs)
    for (const verb of verbs) expect([isDialogVerb(verb), cardActions.has(verb)], verb).toEqual([true, true])
    for (const verb of ['request.refresh', 'approval.approve', 'constructor'])
      expect(isDialogVerb(verb), verb).toBe(false)
  })
})

describe('what the bot keeps of a dialog', () => {
  const world = withBotWorld()

  it('is read by clicks on its steps only, and written only when it has moved', async () => {
    const storage = new MemoryStorage()
    const read = vi.spyOn(storage, 'read')
    const write = vi.spyOn(storage, 'write')
    const { turn } = startBot(world, storage)
    const counts = () => [read.mock.calls.length, write.mock.calls.length]
    const click = async (verb: string, data: object) => cardIn((await turn(clicking('kim', verb, data)))[0])
    for (const text of ['help', 'my requests', 'status']) await turn(saying('kim', text))
    await click('request.refresh', { requestId: projectSite.id })
    expect(counts()).toEqual([0, 0])
    const { requestId } = await requested(world, 'Not in a dialog')
    await click('request.cancel', { requestId })
    expect(counts(), 'no dialog before, none after').toEqual([1, 0])
    const form = await click('request.choose', { templateId: projectSite.id })
    expect(counts()).toEqual([2, 1])
    const { data } = action(form, 'Review')
    const faulty = await click('request.review', {
      ...data,
      displayName: '',
      'metadata.costCentre': '4711',
      'metadata.audience': 'internal',
      reason: 'So.',
    })
    expect(textOf(faulty)).toContain('One thing to fix')
    expect(counts(), 'still at the form').toEqual([3, 1])
    await click('request.cancel', { ...data })
    expect(counts(), 'the dialog has ended').toEqual([4, 2])
  })
})
