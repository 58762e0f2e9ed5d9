import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { action, actionsOf, nodesOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { rowsOf } from '../support/rows.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout, opens, readsAfter, reviews, subject } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const verbs = [
  ...['request.choose', 'request.review', 'request.submit', 'request.edit', 'request.cancel', 'request.refresh'],
  ...['approval.approve', 'approval.reject', 'approval.refresh'],
]

describe('a click that differs from the button on its card', () => {
  const service = withService()
  const { stateOf, draftOf, timelineOf, count } = rowsOf(service)
  // A chat that becomes known later gets one card for all of its waiting requests.
  beforeAll(async () => {
    for (const approver of [service.dana, service.omar]) await approver.installs()
  })
  const decisionsOf = async (requestId: string) =>
    (await timelineOf(requestId)).filter(({ action }) => ['approved', 'rejected'].includes(action))

  /** Buttons of earlier versions, which may still be in chats. */
  it.each(['admin.processes', 'admin.takeover'])('with a removed verb (%s) receives an explanation', async (verb) => {
    for (const user of [service.sam, service.kim])
      expect(readsAfter(await user.invokes('no-activity', verb, {}))).toContain('This card is outdated')
  })

  it.each(['request.explode', 'REQUEST.SUBMIT', 'request.submit ', '__proto__', 'constructor', 'toString', ''])(
    'with an unknown verb (%s) receives an explanation, and has no effect',
    async (verb) => {
      const before = await count('requests')
      const answer = await service.kim.invokes('no-activity', verb, { requestId: randomUUID(), version: 1 })
      expect(readsAfter(answer)).toContain('This card is outdated')
      expect(await count('requests')).toEqual(before)
    },
  )

  it.each(verbs)('with data of another shape is refused, for %s', async (verb) => {
    const { requestId } = await asksFor(service.kim, { displayName: `Form of ${verb}` })
    const before = await stateOf(requestId)
    const odd = [
      {},
      null,
      'text',
      [],
      { requestId: 'REQ-1001' },
      { requestId: 5, version: 'x' },
      { requestId: [requestId] },
    ]
    for (const data of odd) {
      const answer = await service.kim.invokes('no-activity', verb, data)
      expect(readsAfter(answer)).toContain('This card is outdated')
    }
    expect(await stateOf(requestId)).toEqual(before)
  })

  it('with additional data: only ids and the requested inputs count', async () => {
    const { kim } = service
    const form = await opens(kim)
    const { requestId, version } = subject(form.card, 'Review')
    const foreign = {
      ...{ templateId: templates.openCommunity, requester: { id: service.sam.id }, personId: service.sam.id },
      ...{ tenantId: randomUUID(), step: 'submitted', approvals: [], status: 'succeeded', kind: 'sharedMailbox' },
      ...{ 'metadata.secret': 'x', 'metadata.__proto__': 'x', constructor: 'x', url: 'https://evil.example' },
    }
    const inputs = {
      displayName: 'Only what was asked',
      'metadata.costCentre': '4711',
      'metadata.audience': 'internal',
    }
    await kim.invokes(form.id, 'request.review', { requestId, version, ...inputs, reason: 'So.', ...foreign })
    expect(await draftOf(requestId)).toMatchObject({
      body: { step: 'review', templateId: templates.projectSite, personId: kim.id },
    })
    const values = (await draftOf(requestId))?.body.values ?? {}
    expect(Object.keys(values).filter((id) => !(id in inputs))).toEqual(
      expect.not.arrayContaining(['metadata.secret', 'url', 'kind', 'constructor', 'metadata.__proto__']),
    )
  })

  it('with an unknown template reports that the template is not offered any more, without a draft', async () => {
    const before = await count('drafts')
    const answer = await service.kim.invokes('no-activity', 'request.choose', { templateId: randomUUID() })
    expect(readsAfter(answer)).toContain('This template is no longer available')
    expect(await count('drafts')).toBe(before)
  })

  it('about another person’s draft finds nothing', async () => {
    const { card } = await reviews(service.kim, { displayName: 'Kim’s own' })
    const { requestId, version } = subject(card, 'Send')
    const before = await draftOf(requestId)
    for (const who of [service.omar, service.sam])
      for (const verb of ['request.review', 'request.submit', 'request.edit', 'request.cancel', 'request.refresh']) {
        const answer = await who.invokes('no-activity', verb, { requestId, version, displayName: 'Mine now' })
        expect(readsAfter(answer)).toContain('Not found')
        expect(readsAfter(answer)).not.toContain('Kim')
      }
    expect(await draftOf(requestId)).toEqual(before)
  })

  it('about a stranger’s request finds nothing, whatever the verb', async () => {
    const { dana, kim } = service
    const { requestId } = await asksFor(dana, { displayName: 'Reorganisation' })
    const before = await stateOf(requestId)
    for (const verb of verbs.filter((verb) => verb !== 'request.choose')) {
      const data = { requestId, version: 1, comment: 'because' }
      const text = readsAfter(await kim.invokes('no-activity', verb, data))
      expect(text).toContain('This request does not exist, or you may not see it.')
      expect(text).not.toContain('Reorganisation')
    }
    expect(await stateOf(requestId)).toEqual(before)
  })

  it('that decides the person’s own request, or comes from an admin who is not an approver, reads the reason', async () => {
    const { dana, sam, omar } = service
    const { requestId } = await asksFor(dana, { displayName: 'Decide it yourself' })
    await decisionAbout(omar, 'Decide it yourself')
    for (const verb of ['approval.approve', 'approval.reject']) {
      const own = readsAfter(await dana.invokes('no-activity', verb, { requestId, comment: 'mine' }))
      expect(own).toContain('You requested this. Somebody else must decide.')
      const admin = readsAfter(await sam.invokes('no-activity', verb, { requestId, comment: 'I may' }))
      expect(admin).toContain('You are not an approver of this request.')
    }
    expect(await stateOf(requestId)).toMatchObject({ status: 'pendingApproval', version: 1 })
  })

  it('on an approval card after another approver has decided: both cards end the same', async () => {
    const { kim, dana, omar } = service
    const { requestId } = await asksFor(kim, { displayName: 'Two to decide' })
    const [danas, omars] = [await decisionAbout(dana, 'Two to decide'), await decisionAbout(omar, 'Two to decide')]
    expect(readsAfter(await omar.clicks(omars, 'Approve', { comment: 'fine' }))).toContain('Approved by you')
    const late = [
      await dana.clicks(danas, 'Approve'),
      await dana.clicks(danas, 'Reject', { comment: 'no' }),
      await dana.clicks(danas, 'Reject'),
    ]
    for (const answer of late) expect(readsAfter(answer)).toContain('Approved by Omar Haddad')
    const ends = (user: TeamsUser, id: string) => () => {
      const shown = user.chat().find((one) => one.id === id)?.card
      return shown && /Approved by/.test(textOf(shown)) ? textOf(shown) : undefined
    }
    const danasEnd = await until(ends(dana, danas.id), 'the end of Dana’s card')
    const omarsEnd = await until(ends(omar, omars.id), 'the end of Omar’s card')
    const own = /^(Approved by|It was already approved by|You wrote$|Omar Haddad wrote$)/
    const lines = (text: string) => text.split('\n').filter((line) => !own.test(line))
    expect(lines(danasEnd)).toEqual(lines(omarsEnd))
    expect(await decisionsOf(requestId)).toHaveLength(1)
  })

  it('that approves while another rejects: one decides, the other reads who decided', async () => {
    const { kim, dana, omar } = service
    for (const round of [1, 2, 3]) {
      const name = `Race ${round} of three`
      const { requestId } = await asksFor(kim, { displayName: name })
      const [danas, omars] = [await decisionAbout(dana, name), await decisionAbout(omar, name)]
      const [approved, rejected] = await Promise.all([
        dana.clicks(danas, 'Approve'),
        omar.clicks(omars, 'Reject', { comment: 'Not now' }),
      ])
      expect(await decisionsOf(requestId)).toHaveLength(1)
      const byDana = readsAfter(approved).includes('Approved by you')
      expect(readsAfter(rejected)).toContain(byDana ? 'Approved by Dana Fox' : 'Rejected by you')
      expect(readsAfter(approved)).toContain(byDana ? 'Approved by you' : 'Rejected by Omar Haddad')
      expect((await stateOf(requestId))?.status === 'rejected').toBe(!byDana)
    }
  })

  it('that rejects without a reason: the card returns, requires a reason, and keeps the input', async () => {
    const { kim, dana } = service
    const { requestId } = await asksFor(kim, { displayName: 'Say why' })
    const approvalCard = await decisionAbout(dana, 'Say why')
    for (const comment of ['', '   ', '\n\t']) {
      const back = await dana.clicks(approvalCard, 'Reject', { comment })
      expect(readsAfter(back)).toContain('Explain in a comment why you reject the request. Kim Lee will read it.')
    }
    expect(await stateOf(requestId)).toMatchObject({ status: 'pendingApproval' })
    const long = await dana.clicks(approvalCard, 'Reject', { comment: `No. ${'x'.repeat(2000)}` })
    expect(readsAfter(long)).toContain('Rejected by you')
    const [rejection, ...more] = await decisionsOf(requestId)
    expect(more).toEqual([])
    expect(rejection?.body.comment).toHaveLength(500)
  })

  it('repeated five times at once causes one decision, one timeline entry, the same card', async () => {
    const { kim, omar } = service
    const { requestId } = await asksFor(kim, { displayName: 'Quick fingers' })
    const approvalCard = await decisionAbout(omar, 'Quick fingers')
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => omar.clicks(approvalCard, 'Approve', { comment: 'yes' })),
    )
    for (const answer of answers) expect(readsAfter(answer)).toContain('Approved by you')
    expect(await decisionsOf(requestId)).toHaveLength(1)
  })

  it('repeated as the same activity has one effect and one answer, also after a restart', async () => {
    const { kim } = service
    const before = await count('drafts')
    const id = randomUUID()
    const deliver = () => kim.invokes('no-activity', 'request.choose', { templateId: templates.projectSite }, { id })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(deliver))
    answers.push(await deliver())
    await service.restart()
    answers.push(await deliver())
    const [first, ...later] = answers
    for (const answer of later) expect(answer).toEqual(first)
    expect(await count('drafts')).toBe(before + 1)
    const refused = randomUUID()
    const wrong = () =>
      kim.invokes('no-activity', 'request.submit', { requestId: randomUUID(), version: 1 }, { id: refused })
    const refusal = await wrong()
    expect(await wrong()).toEqual(refusal)
  })

  it('on a card of an older version shows the latest one, and changes nothing', async () => {
    const { kim } = service
    const review = await reviews(kim, { displayName: 'The latest' })
    const { requestId } = subject(review.card, 'Send')
    const before = await draftOf(requestId)
    for (const version of [1, 99, '99', 1e15]) {
      const typed = await kim.invokes('no-activity', 'request.review', { requestId, version, displayName: 'Old' })
      expect(readsAfter(typed)).toContain('The latest')
    }
    const early = await kim.invokes('no-activity', 'request.submit', { requestId, version: 1 })
    expect(readsAfter(early)).toContain('Is this right?')
    expect(await draftOf(requestId)).toEqual(before)
    expect(await stateOf(requestId)).toBeUndefined()
  })

  it('with markup in every field shows it as text on every card', async () => {
    const { kim, dana } = service
    const hostile = ['**b** [x](https://evil.example)', '$', '{1+1} {{DATE()}} <at>Sam</at> \u202e'].join('')
    const approvalCard = await asksFor(kim, {
      displayName: hostile,
      description: hostile,
      reason: hostile,
      alias: 'plain-text',
    })
    const decision = await until(
      () =>
        dana.chat().find(({ card }) => card && textOf(card).includes('Your decision') && textOf(card).includes('evil')),
      'the decision',
    )
    const decided = await dana.clicks(decision, 'Reject', { comment: hostile })
    const shown: (Card | undefined)[] = [approvalCard.card, decision.card, decided.card]
    for (const command of ['my requests', `status ${approvalCard.reference}`])
      shown.push((await kim.says(command)).card)
    for (const card of shown) {
      expect(textOf(card ?? {})).toContain('**b** [x](https://')
      for (const node of nodesOf(card))
        if (node['type'] === 'TextBlock') expect(String(node['text'])).not.toContain('evil')
      expect(actionsOf(card ?? {}).filter(({ url }) => url?.includes('evil'))).toEqual([])
      expect(JSON.stringify(card)).not.toContain('"msteams":{"entities"')
    }
    const back = await kim.clicks(await kim.says(`status ${approvalCard.reference}`), 'Edit and send again')
    expect(valuesOf(cardOf(back))['displayName']).toBe(hostile.trim())
  })

  it('on an admin’s card by another person is refused, also for requester and approvers', async () => {
    const { kim, dana, omar, sam } = service
    const { requestId, reference } = await asksFor(kim, { displayName: 'An admin’s matter' })
    const before = await stateOf(requestId)
    const confirm = await sam.says(`admin cancel ${reference}`)
    const stolen = { ...action(confirm.card, 'Cancel request').data, comment: 'Because I can' }
    for (const who of [kim, dana, omar])
      for (const verb of ['admin.cancel', 'admin.retry'])
        for (const data of [stolen, { requestId: randomUUID(), comment: 'x' }, {}, null]) {
          const text = readsAfter(await who.invokes('no-activity', verb, data))
          expect(text).toContain('You are no longer an admin.')
          expect(text).not.toContain(reference)
        }
    expect(await stateOf(requestId)).toEqual(before)
    const { id, card } = confirm
    expect(readsAfter(await sam.clicks({ id, card }, 'Cancel request', { comment: 'Closed.' }))).toContain('Cancelled')
    await kim.sees(/Cancelled[\s\S]*An admin’s matter/, 'that Kim is notified')
  })

  it('has caused no unexpected call at the connector', () => {
    expect(service.connector.unexpected).toEqual([])
  })
})
