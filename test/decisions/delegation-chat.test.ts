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

describe('who is away lets a colleague decide', () => {
  const world = withBotWorld()
  const actorOf = (who: keyof typeof people) =>
    world.provisioning.actor({ tenantId: contosoTenant, id: people[who].id })
  const delegationsOf = async (who: keyof typeof people) => world.provisioning.readDelegations(await actorOf(who))
  /** What the jobs do that follow when somebody goes, and when they are back. */
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

  it('by the form: the card says what that means, and how many requests wait', async () => {
    const { types, clicks } = startBot(world)
    await requested(world, 'Waits at present')
    const form = await types('dana', 'delegate')
    expect(textOf(form)).toContain('While you are away')
    expect(valuesOf(form)).toEqual({ to: '', until: '' })
    const saved = await clicks('dana', form, 'Save', { to: people.sam.id, until: nextWeek })
    expect(textOf(saved)).toContain(`Sam Roy decides for you until ${written(nextWeek)}.`)
    expect(textOf(saved)).toMatch(/requests? waits? now\./)
    expect(textOf(saved)).toContain('You can still decide yourself.')
    const { own } = await delegationsOf('dana')
    expect([own?.delegate.id, dayIn(new Date(own?.until ?? ''), zone)]).toEqual([people.sam.id, nextWeek])
    expect(dayIn(new Date(Date.parse(own?.until ?? '') + 1), zone)).toBe(inDays(8))
  })

  it('by one line, when it is clear who and until when', async () => {
    const { says } = startBot(world)
    for (const text of [
      `delegate sam@contoso.example until ${nextWeek}`,
      `Delegate SAM ROY until ${nextWeek.split('-').reverse().join('.')}`,
      `delegate to sam roy  until ${written(nextWeek)}`,
    ]) {
      expect(await says('dana', text), text).toContain(`Sam Roy decides for you until ${written(nextWeek)}.`)
      const { own } = await delegationsOf('dana')
      expect([own?.delegate.id, own?.until.slice(0, 10)], text).toEqual([people.sam.id, nextWeek])
      await says('dana', 'back')
    }
    expect(await says('dana', 'delegate sam roy until tomorrow')).toContain(written(inDays(1)))
  })

  it('by a mention: its id says who, and not its words', async () => {
    const { answer } = startBot(world)
    const mention = (id: string | undefined) => ({
      entities: [
        { type: 'mention', text: '<at>Quartermaster</at>', mentioned: { id: '28:bot', name: 'Quartermaster' } },
        { type: 'mention', text: '<at>The boss</at>', mentioned: { id: '29:x', name: 'x', aadObjectId: id } },
        { type: 'clientInfo', locale: 'en-GB' },
      ],
    })
    const text = `<at>Quartermaster</at> delegate <at>The boss</at>&nbsp; until ${nextWeek}`
    expect(await answer(saying('dana', text, mention(people.sam.id)))).toContain('Sam Roy decides for you until')
    // Without an id, or with one that is none, it is what was typed.
    for (const id of [undefined, 'no id']) {
      await startBot(world).says('dana', 'back')
      expect(await answer(saying('dana', text, mention(id)))).toContain('I found nobody for “The boss”.')
      expect((await delegationsOf('dana')).own).toBeUndefined()
    }
  })

  it('a part of a name opens the form with whom it may mean; Save decides', async () => {
    const { types, clicks } = startBot(world)
    const form = await types('dana', `delegate sam until ${nextWeek}`)
    expect(textOf(form)).toContain('I found Sam Roy (sam@contoso.example). If that is right, save it.')
    expect(valuesOf(form)).toEqual({ to: people.sam.id, until: nextWeek })
    expect((await delegationsOf('dana')).own).toBeUndefined()
    expect(textOf(await clicks('dana', form, 'Save'))).toContain('Sam Roy decides for you')
  })

  it('a name without a day opens the form with the person; a day without a name with the day', async () => {
    const { types } = startBot(world)
    expect(valuesOf(await types('dana', 'delegate Sam Roy'))).toEqual({ to: people.sam.id, until: '' })
    expect(valuesOf(await types('dana', `I am away until ${nextWeek}`))).toEqual({ to: '', until: nextWeek })
    expect(valuesOf(await types('dana', `delegate until ${nextWeek}`))).toEqual({ to: '', until: nextWeek })
  })

  it('of several whom a name may mean, one is chosen by the sign-in name', async () => {
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
    expect(textOf(await clicks('dana', form, 'Save'))).toContain('Choose who decides for you.')
    expect(textOf(await clicks('dana', form, 'Save', { to: people.sam.id }))).toContain('Sam Roy decides for you')
  })

  it('whom nobody knows, and a day that is unclear: the card says so, and keeps the rest', async () => {
    const { types } = startBot(world)
    const nobody = await types('dana', `delegate Nobody Nowhere until ${nextWeek}`)
    expect(textOf(nobody)).toContain('I found nobody for “Nobody Nowhere”.')
    expect(valuesOf(nobody)).toEqual({ to: '', until: nextWeek })
    const unclear = await types('dana', 'delegate sam@contoso.example until 3/4')
    expect(textOf(unclear)).toContain('I do not know which day “3/4” is. Choose it here.')
    expect(valuesOf(unclear)).toEqual({ to: people.sam.id, until: '' })
    expect((await delegationsOf('dana')).own).toBeUndefined()
  })

  it.each([
    [{ to: '', until: '' }, ['2 things to fix', 'Choose who decides for you.', 'Choose a day.']],
    [{ to: people.dana.id }, ['One thing to fix', 'That is you. Choose somebody else.']],
    [{ to: people.dana.id, until: 'soon' }, ['One thing to fix', 'This is no day.']],
    [{ to: people.sam.id, until: '2020-01-01' }, ['One thing to fix', 'That day is over.']],
    [{ to: people.sam.id, until: '2999-01-01' }, ['That is more than a year ahead.']],
    [{ to: 'd0d0d0d0-aaaa-4aaa-8aaa-000000000012' }, ['Nobody of your organisation was found.']],
    [{ to: 'Sam Roy' }, ['Choose somebody whom the search offers.']],
    [{ to: `${people.sam.id},${people.omar.id}` }, ['Choose somebody whom the search offers.']],
  ])('what is wrong in the form stands beside it: %j', async (given, words) => {
    const { types, clicks } = startBot(world)
    const inputs: { to: string; until: string } = { ...{ to: people.sam.id, until: nextWeek }, ...given }
    const back = await clicks('dana', await types('dana', 'delegate'), 'Save', inputs)
    for (const one of words) expect(textOf(back)).toContain(one)
    const { to, until } = valuesOf(back)
    const isSomebody = inputs.to === people.sam.id || inputs.to === people.dana.id
    expect(to).toBe(isSomebody ? inputs.to : '')
    expect(until).toBe(/^\d{4}-/.test(inputs.until) ? inputs.until : '')
    expect((await delegationsOf('dana')).own).toBeUndefined()
  })

  it('the delegate gets the decision, decides it, and it says for whom', async () => {
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

  it('back ends it: a click of the delegate a moment later changes nothing, and is answered kindly', async () => {
    const { says, types, clicks, sends } = startBot(world)
    const { requestId, reference } = await requested(world, 'Back again')
    await says('dana', `delegate sam@contoso.example until ${nextWeek}`)
    await realigned('dana')
    const approval = await types('sam', `status ${reference}`)
    expect(await says('dana', 'I am back')).toContain('Sam Roy does not decide for you any more.')
    // The job that tells the request has not run yet.
    const before = await world.stores.requests.find(requestId)
    const late = textOf(await clicks('sam', approval, 'Approve'))
    expect(late).not.toContain('Approved')
    expect(textOf(await sends('sam', 'approval.reject', { requestId, comment: 'No.' }))).not.toContain('Rejected')
    expect(await statusOf(requestId)).toBe('pendingApproval')
    expect((await world.stores.requests.find(requestId))?.approvals[0]?.decisions).toEqual(
      before?.approvals[0]?.decisions,
    )
    await realigned('dana')
    expect(await says('sam', 'approvals')).toContain('Nothing waits for your decision.')
  })

  it('who asks for something decides it not as a delegate either', async () => {
    const { says, sends } = startBot(world)
    const { requestId } = await requested(world, 'My own')
    await says('dana', `delegate kim@contoso.example until ${nextWeek}`)
    await realigned('dana')
    expect(await says('kim', 'approvals')).toContain('Nothing waits for your decision.')
    const answer = textOf(await sends('kim', 'approval.approve', { requestId, comment: '' }))
    expect(answer).toContain('You asked for this yourself')
    expect(await statusOf(requestId)).toBe('pendingApproval')
  })

  it('back without anything to end is answered kindly; what follows back ends nothing', async () => {
    const { says } = startBot(world)
    expect(await says('dana', 'back')).toContain('You have not delegated anything')
    await says('dana', `delegate sam@contoso.example until ${nextWeek}`)
    expect(await says('dana', 'back on monday')).toContain('Sam Roy decides for you until')
    expect((await delegationsOf('dana')).own).toBeDefined()
  })

  it('the card of approvals has the way to it, and says who decides meanwhile', async () => {
    const { types, clicks, says } = startBot(world)
    await requested(world, 'One more')
    const list = await types('dana', 'approvals')
    const form = await clicks('dana', list, 'Delegate')
    await clicks('dana', form, 'Save', { to: people.sam.id, until: nextWeek })
    expect(await says('dana', 'approvals')).toContain(`Sam Roy decides for you until ${written(nextWeek)}.`)
    const now = await types('dana', 'delegate')
    expect(actionsOf(now).map(({ title }) => title)).toEqual(['Save', 'I am back'])
    expect(valuesOf(now)).toEqual({ to: people.sam.id, until: nextWeek })
    expect(textOf(await clicks('dana', now, 'I am back'))).toContain('Welcome back')
  })

  it('saving the same again changes nothing; another person takes the place of the first', async () => {
    const { types, clicks } = startBot(world)
    const form = await types('dana', 'delegate')
    const save = (to: string) => clicks('dana', form, 'Save', { to, until: nextWeek })
    await save(people.sam.id)
    const first = (await delegationsOf('dana')).own
    await save(people.sam.id)
    expect((await delegationsOf('dana')).own).toEqual(first)
    expect(textOf(await save(people.omar.id))).toContain('Omar Haddad decides for you')
    expect((await delegationsOf('sam')).toMe).toEqual([])
    expect((await delegationsOf('omar')).toMe).toHaveLength(1)
  })

  it('while the directory is away nothing is lost and nothing is saved', async () => {
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
