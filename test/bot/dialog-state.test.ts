import { MemoryStorage } from 'botbuilder'
import { describe, expect, it, vi } from 'vitest'
import { dialogSteps, isDialogVerb } from '../../src/bot/drafts/dialog-steps.ts'
import { cardActions } from '../../src/bot/registry.ts'
import { cardIn, clicking, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { kim, openCommunity, projectSite } from '../support/card-world.ts'
import { action, textOf } from '../support/cards.ts'
import { readSources } from '../support/sources.ts'

describe('the description of the dialog', () => {
  it('accepts every verb of its steps, each of which is a card action', () => {
    const verbs = Object.values(dialogSteps).flatMap((step): readonly string[] => step.verbs)
    for (const verb of verbs) expect([isDialogVerb(verb), cardActions.has(verb)], verb).toEqual([true, true])
    for (const verb of ['request.refresh', 'approval.approve', 'constructor'])
      expect(isDialogVerb(verb), verb).toBe(false)
  })
})

describe('the stack of dialogs', () => {
  it('is written by botbuilder only', () => {
    const writes = /\bstack\b(\.(length = |push|pop|shift|splice|unshift)|\[)|dialogStack/
    for (const { path, text } of readSources('src')) expect(writes.test(text), path).toBe(false)
  })
})

describe('the stored state of a dialog', () => {
  const world = withBotWorld()
  const stateKey = `msteams/conversations/personal-${kim.id}/`
  /** Starts a bot with a stored dialog stack for Kim's chat. `stack` reads the stored stack. */
  async function botWith(dialogStack: object[]) {
    const storage = new MemoryStorage()
    await storage.write({ [stateKey]: { dialog: { dialogStack }, eTag: '*' } })
    const stack = async (): Promise<unknown> => (await storage.read([stateKey]))[stateKey].dialog.dialogStack
    return { bot: startBot(world, storage), stack }
  }
  const open = { id: 'request', state: { v: 1, step: 'review', requestId: projectSite.id } }

  it.each([
    ['new', 'choose'],
    ['new site', 'choose'],
    ['new shared mailbox', 'choose'],
    ['new mailbox', 'choose'],
    ['new room', 'details'],
    ['new equipment', 'details'],
    ['new community', 'details'],
  ])('%s starts the dialog at the step %s, and ends an open one', async (command, step) => {
    for (const earlier of [[], [open], [open, { id: 'of-another-version', state: {} }]]) {
      const { bot, stack } = await botWith(earlier)
      const card = await bot.types('kim', command)
      const ids = step === 'details' ? { requestId: action(card, 'Review').data['requestId'] } : {}
      expect(await stack()).toEqual([{ id: 'request', state: { v: 1, step, ...ids } }])
    }
  })

  it('continues after another version has stored it', async () => {
    for (const state of [open.state, { v: 99, step: 'somewhere' }, {}]) {
      const { bot, stack } = await botWith([{ id: 'request', state }])
      const form = await bot.sends('kim', 'request.choose', { templateId: projectSite.id })
      const { requestId } = action(form, 'Review').data
      expect(await stack()).toEqual([{ id: 'request', state: { v: 1, step: 'details', requestId } }])
    }
  })

  it('contains one dialog after a command and clicks at the same time, each with its own answer', async () => {
    const { bot, stack } = await botWith([open])
    const choose = (template: { id: string }) => clicking('kim', 'request.choose', { templateId: template.id })
    await Promise.all([saying('kim', 'new'), choose(projectSite), choose(openCommunity)].map(bot.turn))
    expect(await stack()).toEqual([{ id: 'request', state: expect.objectContaining({ v: 1 }) }])
  })

  it('is read only for clicks on its steps, and written only after a change', async () => {
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
