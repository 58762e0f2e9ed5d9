import { describe, expect, it } from 'vitest'
import { actionsOf, textOf } from '../support/cards.ts'
import { withService } from '../support/service.ts'
import { asksFor, decisionAbout } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

describe('the cards of one request in a chat', () => {
  const service = withService()
  const becomes = (user: TeamsUser, id: string, text: string) =>
    until(() => {
      const card = user.chat().find((one) => one.id === id)?.card
      return card && textOf(card).includes(text) ? card : undefined
    }, `${id} to read ${text}`)
  const buttons = (user: TeamsUser, name: string) =>
    user.chat().filter(({ card }) => card && textOf(card).includes(name) && actionsOf(card).length > 0)

  it('shrink to one line when the card of the end is below', async () => {
    const { kim, dana } = service
    await dana.installs()
    const request = await asksFor(kim, { displayName: 'Ends below' })
    await dana.clicks(await decisionAbout(dana, 'Ends below'), 'Reject', { comment: 'Not now.' })
    const short = await becomes(kim, request.id, 'Finished, see below')
    expect(textOf(short)).toContain(request.reference)
    expect(actionsOf(short)).toEqual([])
    expect(buttons(kim, 'Ends below')).toHaveLength(1)
  })

  it('show the request once after a nudge: at its approver and at its requester', async () => {
    const { kim, dana } = service
    const request = await asksFor(kim, { displayName: 'Brought forward' })
    const first = await decisionAbout(dana, 'Brought forward')
    await kim.says(`nudge ${request.reference}`)
    const moved = await becomes(dana, first.id, 'Moved, see below')
    expect(actionsOf(moved)).toEqual([])
    await becomes(kim, request.id, 'Moved, see below')
    for (const user of [kim, dana]) expect(buttons(user, 'Brought forward')).toHaveLength(1)
    const [below] = buttons(dana, 'Brought forward')
    if (!below?.card) throw new Error('there is no card below')
    const decided = await dana.clicks({ id: below.id, card: below.card }, 'Approve')
    expect(textOf(decided.card ?? {})).toContain('Approved by you')
    expect(textOf((await becomes(dana, first.id, 'Moved, see below')) ?? {})).not.toContain('Approved')
  })

  it('show a decision through the earlier card, which then shrinks too', async () => {
    const { kim, dana } = service
    const request = await asksFor(kim, { displayName: 'Decided above' })
    const first = await decisionAbout(dana, 'Decided above')
    await kim.says(`nudge ${request.reference}`)
    await becomes(dana, first.id, 'Moved, see below')
    // The client has not drawn the update yet.
    await dana.clicks(first, 'Approve')
    await becomes(dana, first.id, 'Moved, see below')
    await until(
      () =>
        dana
          .chat()
          .find(
            ({ id, card }) =>
              id !== first.id &&
              card &&
              /Decided above[\s\S]*Approved by you|Approved by you[\s\S]*Decided above/.test(textOf(card)),
          ),
      'the decision on the card below',
    )
  })
})
