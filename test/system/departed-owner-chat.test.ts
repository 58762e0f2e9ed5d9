import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf, valuesOf } from '../support/cards.ts'
import { withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

const shownProblem = z.looseObject({ problem: z.looseObject({ code: z.string(), people: z.array(z.unknown()) }) })

describe('an owner who leaves before the site is created', () => {
  const service = withService()
  afterEach(() => service.account('omar', 'active'))
  /** Creates Kim's site with Omar as owner; his account has this state before Dana approves. */
  const fails = async (displayName: string, state: 'blocked' | 'guest' | 'deleted') => {
    const { kim, dana, sam } = service
    await Promise.all([kim.installs(), dana.installs(), sam.installs()])
    const request = await asksFor(kim, { displayName, owners: people.omar.id })
    const decision = await decisionAbout(dana, displayName)
    await service.account('omar', state)
    await dana.clicks(decision, 'Approve')
    const card = await kim.sees(new RegExp(`Failed[\\s\\S]*${displayName}`))
    return { ...request, card }
  }

  it.each([
    ['deleted', 'Omar Haddad has left the organisation.'],
    ['blocked', 'The account of Omar Haddad is blocked.'],
    ['guest', 'Omar Haddad is a guest.'],
  ] as const)('is named to the requester and to the admins: %s', async (state, says) => {
    const { kim, sam } = service
    const displayName = `Lost ${state}`
    const { card, reference, requestId } = await fails(displayName, state)
    expect(textOf(card.card)).toContain('Nothing was created. Send the request again without the people named below.')
    expect(textOf(card.card)).toContain(says)
    const admins = await sam.sees(new RegExp(`Failed[\\s\\S]*${displayName}`))
    expect(textOf(admins.card)).toContain('Restore the accounts named below and retry, or cancel the request.')
    expect(textOf(admins.card)).toContain(says)
    expect(textOf((await sam.says('admin stuck')).card)).toContain(says)
    expect(textOf((await kim.says(`why ${reference}`)).card)).toContain(says)
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}`)
    expect(shownProblem.parse(body).problem).toMatchObject({
      ...{ code: 'people-unavailable', step: 'create-site' },
      people: [{ id: people.omar.id, why: state === 'deleted' ? 'gone' : state }],
    })
    const made = await service.calls('graph.groups.upsert')
    expect(made.filter(({ path }) => path.includes(requestId))).toEqual([])
  })

  it('is removed by the requester, who sends the request again', async () => {
    const { kim } = service
    const { card, requestId } = await fails('Sent again', 'deleted')
    const form = cardOf(await kim.clicks(card, 'Edit and send again'))
    const review = cardOf(await kim.clicks({ id: card.id, card: form }, 'Review', { ...valuesOf(form), owners: '' }))
    expect(textOf(review)).toContain('Is this right?')
    await kim.clicks({ id: card.id, card: review }, 'Send')
    const { body } = await service.rest('kim', 'GET', `/requests/v1/${requestId}`)
    expect(body['status']).toBe('cancelled')
  })

  it('is restored by an admin, who retries', async () => {
    const { sam } = service
    const displayName = 'Restored'
    const { requestId, reference } = await fails(displayName, 'blocked')
    await service.account('omar', 'active')
    // The button on the admin's card types this text.
    await sam.clicks(await sam.says(`admin retry ${reference}`), 'Retry')
    const statusNow = async () => (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body['status']
    await expect.poll(statusNow, { timeout: 60_000 }).toBe('succeeded')
  })
})
