import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { template } from '../../src/core/index.ts'
import { clicking } from '../support/bot-activities.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { dana, kim, openCommunity, projectSite } from '../support/card-world.ts'
import { action, actionsOf, pressed, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { filled } from '../support/site-request.ts'
import { contosoTenant } from '../support/teams-user.ts'

const { band } = strings.drafts
const buttons = (card: Card): (string | undefined)[] => actionsOf(card).map(({ title }) => title)
const subject = (card: Card, title: string) => action(card, title).data as { requestId: string; version: number }
describe('a draft in chat', () => {
  const world = withBotWorld()
  const start = () => startBot(world)
  const bot = start
  const draftsOf = async (who: 'kim' | 'dana' = 'kim') => {
    const { id } = who === 'kim' ? kim : dana
    return world.provisioning.listDrafts(await world.provisioning.actor({ tenantId: contosoTenant, id }))
  }
  afterEach(async () => {
    for (const who of ['kim', 'dana'] as const)
      for (const { requestId } of await draftsOf(who)) await bot().sends(who, 'request.cancel', { requestId })
    expect(world.logged.splice(0)).toEqual([])
  })
  /** Opens the empty form of a template, whatever drafts exist. */
  const opens = (template = openCommunity) => bot().sends('kim', 'request.choose', { templateId: template.id })
  /** Clicks a button with inputs that the client accepts. */
  const presses = (card: Card, title: string, inputs: Record<string, string>) => {
    const { verb, data } = pressed(card, title, inputs)
    return start().sends('kim', verb, data)
  }
  const keeps = async (inputs: Record<string, string>, template = openCommunity) =>
    presses(await opens(template), 'Later', inputs)

  it('is saved with valid and invalid values, and continues with all of them', async () => {
    const wrong = { ...filled, displayName: 'Aurora', alias: 'no address!' }
    const kept = await keeps(wrong, projectSite)
    expect(textOf(kept)).toContain(band.kept)
    expect(textOf(kept)).toContain('Aurora')
    expect(buttons(kept)).toEqual(['Continue'])
    const form = await bot().clicks('kim', kept, 'Continue')
    expect(valuesOf(form)).toMatchObject(wrong)
    expect(textOf(form)).not.toContain('to fix')
  })

  it('is saved half-filled, and its names are checked, by a client that checks inputs', async () => {
    const half = { displayName: 'Aurora', 'metadata.costCentre': 'four' }
    const checked = await presses(await opens(projectSite), 'Check name', half)
    expect(textOf(checked)).toContain('It is free.')
    const kept = await presses(checked, 'Later', half)
    expect(textOf(kept)).toContain(band.kept)
    const again = await bot().clicks('kim', kept, 'Continue')
    expect(valuesOf(again)).toMatchObject(half)
    // The review reports the missing and wrong answers in the same card.
    const back = await presses(again, 'Review', half)
    expect(textOf(back)).toContain('Explain why you need it.')
    expect(textOf(back)).toContain('four digits')
    expect(valuesOf(back)).toMatchObject(half)
  })

  it('is offered by the commands that can open its template, and by no other', async () => {
    await keeps({ displayName: 'Choir' })
    for (const command of ['new', 'new site', 'new community', 'new open']) {
      const offer = await bot().types('kim', command)
      expect(textOf(offer), command).toContain(band.one)
      expect(textOf(offer), command).toContain('Choir')
      expect(buttons(offer), command).toEqual(['Continue', 'New', 'Discard'])
    }
    for (const command of ['new room', 'new mailbox', 'new project', 'new nonsense'])
      expect(textOf(await bot().types('kim', command)), command).not.toContain('Choir')
    expect(await bot().says('dana', 'new site')).not.toContain('Choir')
  })

  it('stays when the person starts a new form: a single template opens, several are offered', async () => {
    await keeps({ displayName: 'Choir' })
    const empty = await bot().clicks('kim', await bot().types('kim', 'new community'), 'New')
    expect(valuesOf(empty)['displayName'] ?? '').toBe('')
    expect(textOf(empty)).toContain('Open community')
    const choose = await bot().clicks('kim', await bot().types('kim', 'new site'), 'New')
    expect(textOf(choose)).toContain('What kind of site?')
    expect((await draftsOf()).map(({ values }) => values['displayName'])).toEqual(['Choir'])
  })

  it('is offered as one of the newest three, each on its own row', async () => {
    for (const displayName of ['One', 'Two', 'Three', 'Four']) await keeps({ displayName })
    const offer = await bot().types('kim', 'new')
    expect(textOf(offer)).toContain(band.several)
    expect(textOf(offer)).toContain('1 older: type “my drafts”')
    expect(buttons(offer)).toEqual(['Continue Four', 'Continue Three', 'Continue Two', 'New'])
  })

  it('is not offered while its form is empty', async () => {
    await opens()
    const form = await bot().types('kim', 'new community')
    await bot().clicks('kim', form, 'Review')
    expect(await bot().says('kim', 'new community')).not.toContain(band.one)
  })

  it('is offered after its review, and shows the review again', async () => {
    const review = await bot().clicks('kim', await opens(), 'Review', { displayName: 'Reviewed' })
    expect(textOf(review)).toContain('Is this right?')
    const again = await bot().clicks('kim', await bot().types('kim', 'new'), 'Continue')
    expect(textOf(again)).toContain('Is this right?')
    expect(textOf(await bot().clicks('kim', again, 'Create'))).toMatch(/REQ-\d+/)
  })

  it('is listed by my drafts, which shows a friendly text to people without drafts', async () => {
    expect(await bot().says('kim', 'my drafts')).toContain(strings.notice.noDrafts.what)
    await keeps({ displayName: 'Choir' })
    await keeps({ ...filled, displayName: 'Aurora' }, projectSite)
    const list = await bot().types('kim', 'Drafts')
    expect(textOf(list)).toContain(band.list)
    expect(buttons(list)).toEqual(['Continue Aurora', 'Discard', 'Continue Choir', 'Discard', 'New'])
    expect(await bot().says('dana', 'my drafts')).toContain(strings.notice.noDrafts.what)
  })

  it('is on a page of my drafts, where each draft can be continued or discarded', async () => {
    for (let number = 1; number <= 7; number += 1) await keeps({ displayName: `Draft ${number}` })
    const list = await bot().types('kim', 'my drafts')
    expect(textOf(list)).toContain('1–5 of 7')
    expect(textOf(list)).not.toContain('Draft 2')
    const rest = await bot().clicks('kim', list, 'Next')
    expect(textOf(rest)).toContain('6–7 of 7')
    expect(buttons(rest)).toEqual(['Continue Draft 2', 'Discard', 'Continue Draft 1', 'Discard', 'Previous', 'New'])
    expect(textOf(await bot().clicks('kim', rest, 'Previous'))).toContain('Draft 7')
    expect(valuesOf(await bot().clicks('kim', rest, 'Continue Draft 1'))['displayName']).toBe('Draft 1')
    await bot().clicks('kim', rest, 'Discard')
    const last = await bot().clicks('kim', list, 'Next')
    expect(textOf(last)).toContain('Draft 1')
    expect(textOf(last)).not.toContain('Draft 2')
    expect(buttons(last)).toEqual(['Continue Draft 1', 'Discard', 'Previous', 'New'])
  })

  it('is not offered after it is sent or discarded, and an old card shows its status', async () => {
    await keeps({ displayName: 'Sent' })
    const offer = await bot().types('kim', 'new')
    const review = await bot().clicks('kim', await bot().clicks('kim', offer, 'Continue'), 'Review')
    const sent = await bot().clicks('kim', review, 'Create')
    const [reference = 'none'] = /REQ-\d+/.exec(textOf(sent)) ?? []
    expect(await bot().says('kim', 'new')).not.toContain(band.one)
    expect(textOf(await bot().clicks('kim', offer, 'Continue'))).toContain(reference)

    await keeps({ displayName: 'Discarded' })
    const other = await bot().types('kim', 'new')
    expect(textOf(await bot().clicks('kim', other, 'Discard'))).toContain(strings.notice.discarded.what)
    expect(await bot().says('kim', 'new')).not.toContain(band.one)
    expect(textOf(await bot().clicks('kim', other, 'Continue'))).toContain(strings.notice.discarded.what)
  })

  it('returns with its answers by Undo after it was discarded, however often it is clicked', async () => {
    await keeps({ displayName: 'Undone' })
    const offer = await bot().types('kim', 'new')
    const discarded = await bot().clicks('kim', offer, 'Discard')
    expect(buttons(discarded)).toContain('Undo')
    for (const form of [await bot().clicks('kim', discarded, 'Undo'), await bot().clicks('kim', discarded, 'Undo')])
      expect(valuesOf(form)['displayName']).toBe('Undone')
    expect(await bot().says('kim', 'my drafts')).toContain('Undone')
  })

  it('returns by Undo with everything that was typed before Discard, and is then listed', async () => {
    const typed = { ...filled, displayName: 'Typed', alias: 'no address!' }
    const discarded = await presses(await opens(projectSite), 'Discard', typed)
    expect(textOf(discarded)).toContain(strings.notice.discarded.todo)
    expect(await draftsOf()).toEqual([])
    expect(valuesOf(await bot().clicks('kim', discarded, 'Undo'))).toMatchObject(typed)
    expect(await bot().says('kim', 'my drafts')).toContain('Typed')
  })

  it('is discarded by an outdated form and by a form of an earlier version, without their inputs', async () => {
    const outdated = await opens()
    await presses(outdated, 'Later', { displayName: 'Saved' })
    const { version, ...earlier } = subject(outdated, 'Discard')
    for (const data of [{ ...earlier, version }, earlier]) {
      const discarded = await bot().sends('kim', 'request.cancel', { ...data, displayName: 'Too late' })
      expect(textOf(discarded)).toContain(strings.notice.discarded.what)
      expect(valuesOf(await bot().clicks('kim', discarded, 'Undo'))).toMatchObject({ displayName: 'Saved' })
    }
  })

  it('is saved once after two clicks at the same time, and a click on an outdated form saves nothing', async () => {
    const form = await opens()
    const twice = await Promise.all([1, 2].map(() => presses(form, 'Later', { displayName: 'Twice' })))
    for (const card of twice) expect(textOf(card)).toContain(band.kept)
    expect(await draftsOf()).toMatchObject([{ version: 2, values: { displayName: 'Twice' } }])
    const stale = await presses(form, 'Later', { displayName: 'Too late' })
    expect(textOf(stale)).toContain(strings.form.stale)
    expect(valuesOf(stale)).toMatchObject({ displayName: 'Twice' })
  })

  it('is either saved or reviewed after both clicks at the same time', async () => {
    const form = await opens()
    const [kept, reviewed] = await Promise.all([
      presses(form, 'Later', { displayName: 'Kept' }),
      presses(form, 'Review', { displayName: 'Reviewed' }),
    ])
    const [draft] = await draftsOf()
    expect(draft?.version).toBe(2)
    const isKept = draft?.values['displayName'] === 'Kept'
    expect(textOf(isKept ? kept : reviewed)).toContain(isKept ? band.kept : 'Is this right?')
    expect(textOf(isKept ? reviewed : kept)).not.toContain(isKept ? 'Is this right?' : band.kept)
  })

  it('is not available to another person, whatever the click contains', async () => {
    const kept = await keeps({ displayName: 'Private' })
    const { requestId } = subject(kept, 'Continue')
    const before = await world.stores.drafts.find(requestId)
    const strange = await bot().sends('dana', 'request.continue', { requestId: randomUUID() })
    for (const verb of ['request.continue', 'request.keep']) {
      const answer = await bot().sends('dana', verb, { requestId, version: 2, displayName: 'Mine', personId: dana.id })
      expect(textOf(answer)).toBe(textOf(strange))
    }
    expect(await world.stores.drafts.find(requestId)).toEqual(before)
  })

  it('is not offered while its template is disabled, and an old card says so', async () => {
    const kept = await keeps({ displayName: 'Choir' })
    const put = (active: boolean, version: number) =>
      world.stores.templates.put(contosoTenant, { ...openCommunity, active, version }, version - 1)
    await put(false, openCommunity.version + 1)
    expect(await bot().says('kim', 'new')).not.toContain('Choir')
    expect(textOf(await bot().clicks('kim', kept, 'Continue'))).toContain(strings.notice.templateGone.what)
    await put(true, openCommunity.version + 2)
    expect(await bot().says('kim', 'new')).toContain('Choir')
  })

  it('can only be discarded while its template is not available, and counts in my requests', async () => {
    await keeps({ displayName: 'Choir' })
    await keeps({ ...filled, displayName: 'Aurora' }, projectSite)
    const forDana = { ...projectSite, audience: { groups: [], people: [dana.id] } }
    const put = async (changed: object) => {
      const { version = 0 } = (await world.stores.templates.find(contosoTenant, projectSite.id)) ?? {}
      const next = template.parse({ ...projectSite, ...changed, version: version + 1 })
      await world.stores.templates.put(contosoTenant, next, version)
    }
    for (const changed of [{ active: false }, forDana]) {
      await put(changed)
      const list = await bot().types('kim', 'my drafts')
      expect(textOf(list)).toContain(`Aurora\n${strings.drafts.unavailable}`)
      expect(buttons(list)).toEqual(['Discard', 'Continue Choir', 'Discard', 'New'])
      expect(await bot().says('kim', 'my requests')).toContain('2 drafts')
    }
    await bot().clicks('kim', await bot().types('kim', 'my drafts'), 'Discard')
    const list = await bot().types('kim', 'my drafts')
    expect(buttons(list)).toEqual(['Continue', 'New', 'Discard'])
    await bot().clicks('kim', list, 'Discard')
    expect(await bot().says('kim', 'my drafts')).toContain(strings.notice.noDrafts.what)
    await put({})
  })

  it('is listed alone with Discard only while its template is not available', async () => {
    await keeps({ displayName: 'Choir' })
    const { version = 0 } = (await world.stores.templates.find(contosoTenant, openCommunity.id)) ?? {}
    const put = (active: boolean, version: number) =>
      world.stores.templates.put(contosoTenant, { ...openCommunity, active, version }, version - 1)
    await put(false, version + 1)
    const list = await bot().types('kim', 'my drafts')
    expect(textOf(list)).toContain(`Choir\n${strings.drafts.unavailable}`)
    expect(buttons(list)).toEqual(['Discard', 'New'])
    const discarded = await bot().clicks('kim', list, 'Discard')
    expect(textOf(discarded)).toContain(strings.notice.discarded.what)
    await put(true, version + 2)
    expect(valuesOf(await bot().clicks('kim', discarded, 'Undo'))['displayName']).toBe('Choir')
  })

  it('keeps its form, with the typed text, while its template is disabled', async () => {
    const form = await opens()
    const { requestId } = subject(form, 'Review')
    const [before, current] = [
      await world.stores.drafts.find(requestId),
      await world.stores.templates.find(contosoTenant, openCommunity.id),
    ]
    const version = current?.version ?? 0
    const put = (active: boolean, version: number) =>
      world.stores.templates.put(contosoTenant, { ...openCommunity, active, version }, version - 1)
    await put(false, version + 1)
    const { data } = pressed(form, 'Review', { displayName: 'Typed' })
    for (const verb of ['request.review', 'request.check', 'request.keep', 'request.join']) {
      const [answer] = await bot().turn(clicking('kim', verb, data))
      expect(answer?.value.body, verb).toMatchObject({
        type: 'application/vnd.microsoft.activity.message',
        value: strings.toast.templateGone,
      })
    }
    expect(await world.stores.drafts.find(requestId)).toEqual(before)
    await put(true, version + 2)
    expect(textOf(await presses(form, 'Review', { displayName: 'Typed' }))).toContain('Is this right?')
  })

  it('is not sent if its template has changed since the review, and the new review says so', async () => {
    const review = await presses(await opens(), 'Review', { displayName: 'Reviewed' })
    const { version = 0 } = (await world.stores.templates.find(contosoTenant, openCommunity.id)) ?? {}
    const changed = { ...openCommunity, version: version + 1, naming: { alias: { pattern: 'club-{input}' } } }
    await world.stores.templates.put(contosoTenant, template.parse(changed), version)
    expect(textOf(review)).not.toContain(strings.review.warning.templateChanged)
    const again = await presses(review, 'Create', {})
    expect(textOf(again)).toContain(strings.review.warning.templateChanged)
    expect(textOf(again)).toContain('club-reviewed')
    await world.stores.templates.put(contosoTenant, { ...openCommunity, version: version + 2 }, version + 1)
  })

  it('is not opened by a click with the command of another card', async () => {
    const answer = await bot().sends('kim', 'request.choose', { of: 'admin queue' })
    expect(textOf(answer)).toContain(strings.notice.outdated.what)
  })
})
