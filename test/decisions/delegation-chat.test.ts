import { afterEach, describe, expect, it } from 'vitest'
import { dayIn } from '../../src/core/index.ts'
import { cardIn, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

const zone = 'Europe/Zurich'
const inDays = (days: number): string => dayIn(new Date(Date.now() + days * 86_400_000), zone)
const written = (day: string): string =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const nextWeek = inDays(7)

describe('a delegation in chat', () => {
  const world = withBotWorld()
  const actorOf = (who: keyof typeof people) =>
    world.provisioning.actor({ tenantId: contosoTenant, id: people[who].id })
  const delegationsOf = async (who: keyof typeof people) => world.provisioning.readDelegations(await actorOf(who))
  /** Runs the job that follows the start or end of a delegation. */
  const realigned = (who: keyof typeof people) =>
    world.provisioning.system.realignApprovals({ tenantId: contosoTenant, personId: people[who].id })
  const statusOf = async (requestId: string) => (await world.stores.requests.find(requestId))?.status

  afterEach(async () => {
    world.directoryAway = false
    for (const who of ['dana', 'omar'] as const) {
      await world.provisioning.endDelegation(await actorOf(who))
      await realigned(who)
    }
    expect(world.logged.splice(0)).toEqual([])
  })

  it('starts from the form, and the card shows its meaning and the number of waiting requests', async () => {
    const { types, clicks } = startBot(world)
    await requested(world, 'Waits at present')
    const form = await types('dana', 'delegate')
    expect(textOf(form)).toContain('While you are away')
    expect(valuesOf(form)).toEqual({ to: '', until: '' })
    const saved = await clicks('dana', form, 'Save', { to: people.sam.id, until: nextWeek })
    expect(textOf(saved)).toContain(`Sam Roy can also decide for you until ${written(nextWeek)}.`)
    expect(textOf(saved)).toMatch(/waiting requests? goe?s? to Sam Roy: .*Waits at present/)
    expect(textOf(saved)).toContain('You can still decide yourself.')
    const { own } = await delegationsOf('dana')
    expect([own?.delegate.id, dayIn(new Date(own?.until ?? ''), zone)]).toEqual([people.sam.id, nextWeek])
    expect(dayIn(new Date(Date.parse(own?.until ?? '') + 1), zone)).toBe(inDays(8))
  })

  it('counts and names only the requests that move to the delegate', async () => {
    const { says } = startBot(world)
    for (const { requestId } of (await world.provisioning.pageOfApprovals(await actorOf('dana'), { limit: 100 }))
      .requests)
      await world.provisioning.reject(await actorOf('dana'), { requestId, comment: 'Cleared.' })
    await requested(world, 'Omar decides anyway')
    // Omar is an approver of all requests of this template, so a delegation to him moves nothing.
    expect(await says('dana', `delegate omar haddad until ${nextWeek}`)).toContain(
      'No waiting request goes to Omar Haddad now. Omar Haddad can already decide them',
    )
    const saved = await says('dana', `delegate sam roy until ${nextWeek}`)
    expect(saved).toContain('One waiting request goes to Sam Roy: Omar decides anyway.')
    expect(saved).toContain('Omar Haddad no longer decides for you.')
    // A delegate does not decide about their own request.
    expect(await says('dana', `delegate kim lee until ${nextWeek}`)).toContain(
      'No waiting request goes to Kim Lee now. Kim Lee requested them, so cannot decide them.',
    )
  })

  it('starts from one message with a clear person and day', async () => {
    const { says } = startBot(world)
    for (const text of [
      `delegate sam@contoso.example until ${nextWeek}`,
      `Delegate SAM ROY until ${nextWeek.split('-').reverse().join('.')}`,
      `delegate to sam roy  until ${written(nextWeek)}`,
    ]) {
      expect(await says('dana', text), text).toContain(`Sam Roy can also decide for you until ${written(nextWeek)}.`)
      const { own } = await delegationsOf('dana')
      expect([own?.delegate.id, own?.until.slice(0, 10)], text).toEqual([people.sam.id, nextWeek])
      await says('dana', 'back')
    }
    expect(await says('dana', 'delegate sam roy until tomorrow')).toContain(written(inDays(1)))
    expect(await says('dana', 'delegate sám roy for 3 days')).toContain(written(inDays(3)))
    expect(await says('dana', 'delegate sam roy for a week')).toContain(written(nextWeek))
    expect(await says('dana', 'delegate sam roy for a while')).toContain('I do not understand the date “a while”.')
  })

  it.each([
    ['delegate Sam Roy bis morgen', 1],
    ['delegate an Sam Roy bis übermorgen', 2],
    ['delegate Sam Roy für eine Woche', 7],
    ['vertretung durch Sam Roy fuer 3 Tage', 3],
    ['delegate à Sam Roy jusqu’à demain', 1],
    ['DELEGUER Sam Roy jusqu’au {date}', 7],
    ['delegate Sam Roy pendant trois jours', 3],
    ['delegate a Sam Roy hasta mañana', 1],
    ['delegar en Sam Roy hasta el {date}', 7],
    ['delegate Sam Roy durante una semana', 7],
  ])('starts from “%s”, for %d days', async (text, days) => {
    const { says } = startBot(world)
    const style = { day: 'numeric', month: 'long', timeZone: 'UTC' } as const
    const locale = text.includes('delegar') ? 'es' : 'fr'
    const date = new Intl.DateTimeFormat(locale, style).format(new Date(nextWeek))
    expect(await says('dana', text.replace('{date}', date))).toContain(written(inDays(days)))
    const { own } = await delegationsOf('dana')
    expect([own?.delegate.id, dayIn(new Date(own?.until ?? ''), zone)]).toEqual([people.sam.id, inDays(days)])
  })

  it('finds a mentioned person by the id, not by the text', async () => {
    const { answer } = startBot(world)
    const mention = (id: string | undefined) => ({
      entities: [
        { type: 'mention', text: '<at>Quartermaster</at>', mentioned: { id: '28:bot', name: 'Quartermaster' } },
        { type: 'mention', text: '<at>The boss</at>', mentioned: { id: '29:x', name: 'x', aadObjectId: id } },
        { type: 'clientInfo', locale: 'en-GB' },
      ],
    })
    const text = `<at>Quartermaster</at> delegate <at>The boss</at>&nbsp; until ${nextWeek}`
    expect(await answer(saying('dana', text, mention(people.sam.id)))).toContain(
      'Sam Roy can also decide for you until',
    )
    // Without a valid id, the text of the mention counts.
    for (const id of [undefined, 'no id']) {
      await startBot(world).says('dana', 'back')
      expect(await answer(saying('dana', text, mention(id)))).toContain('I found nobody for “The boss”.')
      expect((await delegationsOf('dana')).own).toBeUndefined()
    }
  })

  it('opens the form with the match for a part of a name, and starts only on Save', async () => {
    const { types, clicks } = startBot(world)
    const form = await types('dana', `delegate sam until ${nextWeek}`)
    expect(textOf(form)).toContain('I found Sam Roy (sam@contoso.example). If this is the right person, click “Save”.')
    expect(valuesOf(form)).toEqual({ to: people.sam.id, until: nextWeek })
    expect((await delegationsOf('dana')).own).toBeUndefined()
    expect(textOf(await clicks('dana', form, 'Save'))).toContain('Sam Roy can also decide for you')
  })

  it('opens the form with the person or the day if the message has only one of them', async () => {
    const { types } = startBot(world)
    expect(valuesOf(await types('dana', 'delegate Sam Roy'))).toEqual({ to: people.sam.id, until: '' })
    expect(valuesOf(await types('dana', `I am away until ${nextWeek}`))).toEqual({ to: '', until: nextWeek })
    expect(valuesOf(await types('dana', `delegate until ${nextWeek}`))).toEqual({ to: '', until: nextWeek })
  })

  it('offers several matches with their sign-in names', async () => {
    const { types, clicks } = startBot(world)
    world.alike.push({
      id: 'd0d0d0d0-aaaa-4aaa-8aaa-000000000011',
      displayName: 'Sam Royce',
      userPrincipalName: 'royce@contoso.example',
    })
    const form = await types('dana', `delegate sam roy until ${nextWeek}`)
    world.alike.splice(0)
    expect(textOf(form)).toContain('I found several people for “sam roy”. Choose one.')
    expect(JSON.stringify(form)).toContain('Sam Roy (sam@contoso.example)')
    expect(JSON.stringify(form)).toContain('Sam Royce (royce@contoso.example)')
    expect(textOf(await clicks('dana', form, 'Save'))).toContain('Choose a delegate.')
    expect(textOf(await clicks('dana', form, 'Save', { to: people.sam.id }))).toContain(
      'Sam Roy can also decide for you',
    )
  })

  it('names an unknown person or an unclear day on the card, and keeps the other value', async () => {
    const { types } = startBot(world)
    const nobody = await types('dana', `delegate Nobody Nowhere until ${nextWeek}`)
    expect(textOf(nobody)).toContain('I found nobody for “Nobody Nowhere”.')
    expect(valuesOf(nobody)).toEqual({ to: '', until: nextWeek })
    const unclear = await types('dana', 'delegate sam@contoso.example until 3/4')
    expect(textOf(unclear)).toContain('I do not understand the date “3/4”. Choose a date here.')
    expect(valuesOf(unclear)).toEqual({ to: people.sam.id, until: '' })
    expect((await delegationsOf('dana')).own).toBeUndefined()
  })

  it.each([
    [{ to: '', until: '' }, ['2 things to fix', 'Choose a delegate.', 'Choose a day.']],
    [{ to: people.dana.id }, ['One thing to fix', 'That is you. Choose somebody else.']],
    [{ to: people.dana.id, until: 'soon' }, ['One thing to fix', 'Choose a valid day.']],
    [{ to: people.sam.id, until: '2020-01-01' }, ['One thing to fix', 'This day is in the past.']],
    [{ to: people.sam.id, until: '2999-01-01' }, ['This day is more than a year ahead.']],
    [{ to: 'd0d0d0d0-aaaa-4aaa-8aaa-000000000012' }, ['Your organisation has no such person.']],
    [{ to: 'Sam Roy' }, ['Choose a person from the search results.']],
    [{ to: `${people.sam.id},${people.omar.id}` }, ['Choose a person from the search results.']],
  ])('shows the faults of the form next to the inputs: %j', async (entries, texts) => {
    const { types, clicks } = startBot(world)
    const inputs: { to: string; until: string } = { ...{ to: people.sam.id, until: nextWeek }, ...entries }
    const back = await clicks('dana', await types('dana', 'delegate'), 'Save', inputs)
    for (const one of texts) expect(textOf(back)).toContain(one)
    const { to, until } = valuesOf(back)
    const isSomebody = inputs.to === people.sam.id || inputs.to === people.dana.id
    expect(to).toBe(isSomebody ? inputs.to : '')
    expect(until).toBe(/^\d{4}-/.test(inputs.until) ? inputs.until : '')
    expect((await delegationsOf('dana')).own).toBeUndefined()
  })

  it('gives the delegate the decision, which names the absent approver', async () => {
    const { says, types, clicks } = startBot(world)
    const { requestId, reference } = await requested(world, 'Decided by a delegate')
    await says('dana', `delegate sam@contoso.example until ${nextWeek}`)
    await realigned('dana')
    expect(await says('sam', 'approvals')).toContain(reference)
    expect(await says('sam', 'delegate')).toContain(`Dana Fox, until ${written(nextWeek)}`)
    expect(world.jobs).toContainEqual(
      expect.objectContaining({ payload: expect.objectContaining({ requestId, personId: people.sam.id }) }),
    )
    await clicks('sam', await types('sam', `status ${reference}`), 'Approve', { comment: 'In her place' })
    const decided = await world.stores.requests.find(requestId)
    expect(decided?.status).toBe('queued')
    expect(decided?.approvals[0]?.decisions[0]).toMatchObject({
      ...{ by: { id: people.sam.id }, decision: 'approved', comment: 'In her place' },
      insteadOf: [{ id: people.dana.id }],
    })
  })

  it('ends with back, and a late click of the delegate changes nothing', async () => {
    const { says, types, clicks, sends } = startBot(world)
    const { requestId, reference } = await requested(world, 'Back again')
    await says('dana', `delegate sam@contoso.example until ${nextWeek}`)
    await realigned('dana')
    const approval = await types('sam', `status ${reference}`)
    expect(await says('dana', 'I am back')).toContain('Sam Roy no longer decides for you.')
    // The job that updates the request has not run yet.
    const before = await world.stores.requests.find(requestId)
    const late = textOf(await clicks('sam', approval, 'Approve'))
    expect(late).not.toContain('Approved')
    expect(textOf(await sends('sam', 'approval.reject', { requestId, comment: 'No.' }))).not.toContain('Rejected')
    expect(await statusOf(requestId)).toBe('pendingApproval')
    expect((await world.stores.requests.find(requestId))?.approvals[0]?.decisions).toEqual(
      before?.approvals[0]?.decisions,
    )
    await realigned('dana')
    expect(await says('sam', 'approvals')).toContain('No request waits for your decision.')
  })

  it('does not let the requester decide as a delegate', async () => {
    const { says, sends } = startBot(world)
    const { requestId } = await requested(world, 'My own')
    await says('dana', `delegate kim@contoso.example until ${nextWeek}`)
    await realigned('dana')
    expect(await says('kim', 'approvals')).toContain('No request waits for your decision.')
    const answer = textOf(await sends('kim', 'approval.approve', { requestId, comment: '' }))
    expect(answer).toContain('You requested this. Somebody else must decide.')
    expect(await statusOf(requestId)).toBe('pendingApproval')
  })

  it('does not end with back plus more text; back without a delegation gets a friendly answer', async () => {
    const { says } = startBot(world)
    expect(await says('dana', 'back')).toContain('You have no delegation to end.')
    await says('dana', `delegate sam@contoso.example until ${nextWeek}`)
    expect(await says('dana', 'back on monday')).toContain('Sam Roy can also decide for you until')
    expect((await delegationsOf('dana')).own).toBeDefined()
  })

  it('opens from the card of approvals, which then shows the delegate', async () => {
    const { types, clicks, says } = startBot(world)
    await requested(world, 'One more')
    const list = await types('dana', 'approvals')
    const form = await clicks('dana', list, 'Delegate')
    await clicks('dana', form, 'Save', { to: people.sam.id, until: nextWeek })
    expect(await says('dana', 'approvals')).toContain(`Sam Roy can also decide for you until ${written(nextWeek)}.`)
    const now = await types('dana', 'delegate')
    expect(actionsOf(now).map(({ title }) => title)).toEqual(['Save', 'I am back'])
    expect(valuesOf(now)).toEqual({ to: people.sam.id, until: nextWeek })
    expect(textOf(await clicks('dana', now, 'I am back'))).toContain('Welcome back')
  })

  it('changes nothing if saved again, and replaces the delegate by another', async () => {
    const { types, clicks } = startBot(world)
    const form = await types('dana', 'delegate')
    const save = (to: string) => clicks('dana', form, 'Save', { to, until: nextWeek })
    await save(people.sam.id)
    const first = (await delegationsOf('dana')).own
    await save(people.sam.id)
    expect((await delegationsOf('dana')).own).toEqual(first)
    expect(textOf(await save(people.omar.id))).toContain('Omar Haddad can also decide for you')
    expect((await delegationsOf('sam')).toMe).toEqual([])
    expect((await delegationsOf('omar')).toMe).toHaveLength(1)
  })

  it('is not saved while the directory does not answer', async () => {
    const { types, turn } = startBot(world)
    const form = await types('dana', 'delegate')
    const { data } = actionsOf(form).find(({ title }) => title === 'Save') ?? {}
    expect(data).toEqual({})
    world.directoryAway = true
    const [reply] = await turn(saying('dana', `delegate sam until ${nextWeek}`))
    expect(textOf(cardIn(reply))).toMatch(/try again/i)
    world.directoryAway = false
    expect((await delegationsOf('dana')).own).toBeUndefined()
    world.logged.splice(0)
  })
})
