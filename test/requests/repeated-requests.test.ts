import { describe, expect, it } from 'vitest'
import { template } from '../../src/core/index.ts'
import { action, actionsOf, pressed, textOf, valuesOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout, opens } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

describe('a resubmission or repeat', () => {
  const service = withService()
  const shown = async (requestId: string) => (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body
  const rejects = async (displayName: string, comment: string) => {
    const request = await asksFor(service.kim, { displayName })
    await service.dana.clicks(await decisionAbout(service.dana, displayName), 'Reject', { comment })
    const card = cardOf(await service.kim.invokes(request.id, 'request.refresh', { requestId: request.requestId }))
    return { ...request, card }
  }

  it('after a rejection shows its changes to the requester, to the approver and by REST', async () => {
    const { kim, dana } = service
    await dana.installs()
    const before = await rejects('Aurora', 'We have one already.')
    const form = cardOf(await kim.clicks(before, 'Edit and send again'))
    expect(textOf(form)).toContain(`These are your answers from ${before.reference}.`)
    const same = cardOf(await kim.clicks({ id: before.id, card: form }, 'Review'))
    expect(textOf(same)).toContain(`Nothing has changed since ${before.reference} was rejected.`)
    const edit = cardOf(await kim.clicks({ id: before.id, card: same }, 'Edit'))
    const reason = 'The other one is for the works council.'
    const inputs = { reason, owners: people.omar.id, 'metadata.audience': 'partners' }
    const review = cardOf(await kim.clicks({ id: before.id, card: edit }, 'Review', inputs))
    expect(textOf(review)).toContain(`Changed since ${before.reference}: `)
    for (const name of ['Owners', 'Reason', 'Who works in it']) expect(textOf(review)).toContain(name)
    expect(textOf(review).match(/changed$/gm)).toHaveLength(3)
    const sent = cardOf(await kim.clicks({ id: before.id, card: review }, 'Send'))
    const { requestId } = action(sent, 'Refresh').data as { requestId: string }

    const approval = await dana.sees(/The requester sent this again\. You rejected/)
    expect(textOf(approval.card)).toContain(
      `You rejected the earlier request ${before.reference}: “We have one already.”`,
    )
    expect(textOf(approval.card)).toMatch(/Changed since REQ-\d+\nOwners\n.+ → .+/)
    expect(await shown(requestId)).toMatchObject({
      basedOn: {
        requestId: before.requestId,
        reference: before.reference,
        how: 'resubmission',
        changed: expect.arrayContaining(['reason', 'owners', 'metadata.audience']),
        ended: { status: 'rejected', by: { displayName: 'Dana Fox' }, comment: 'We have one already.' },
      },
    })
    const timeline = (await service.rest('kim', 'GET', `/requests/v1/${requestId}/timeline`)).body
    expect(timeline).toMatchObject({ value: [{ data: { basedOn: { reference: before.reference } } }] })
    expect(await shown(before.requestId)).not.toHaveProperty('basedOn')
  })

  it('that another card of the rejected request opens leaves one line in its former place', async () => {
    const { kim, connector } = service
    const before = await rejects('Second chances', 'Please name the partners.')
    const form = cardOf(await kim.clicks(before, 'Edit and send again'))
    const review = cardOf(await kim.clicks({ id: before.id, card: form }, 'Review', { reason: 'For partners' }))
    await kim.clicks({ id: before.id, card: review }, 'Send')
    const list = await kim.says('my requests')
    const shownBelow = cardOf(await kim.invokes(list.id, 'request.edit', { requestId: before.requestId }))
    expect(textOf(shownBelow)).toContain('Waiting for')
    await expect.poll(() => textOf(connector.activity(before.id)?.card ?? {})).toContain('see below')
  })

  it('opens one draft for all clicks on its button, and shows the sent request after that', async () => {
    const { kim } = service
    const before = await rejects('Again and again', 'Please name the *partners*.')
    const clicks = () => kim.clicks(before, 'Edit and send again')
    const forms = (await Promise.all([clicks(), clicks()])).map(cardOf)
    const ids = forms.map((form) => (action(form, 'Review').data as { requestId: string }).requestId)
    expect(new Set(ids).size).toBe(1)
    for (const line of ['Dana Fox wrote', 'Please name the *partners*.']) expect(textOf(forms[0] ?? {})).toContain(line)
    const half = { displayName: 'Again, with partners', reason: '' }
    const wrong = cardOf(await kim.clicks({ id: before.id, card: forms[0] }, 'Review', half))
    expect(textOf(wrong)).toContain('Please name the *partners*.')

    // Another click returns to the answers.
    const again = cardOf(await clicks())
    expect(valuesOf(again)).toMatchObject(half)
    const review = cardOf(await kim.clicks({ id: before.id, card: again }, 'Review', { reason: 'For partners' }))
    expect(textOf(cardOf(await clicks()))).toContain('Is this right?')
    const sent = cardOf(await kim.clicks({ id: before.id, card: review }, 'Send'))
    const [reference = 'none'] = /REQ-\d+/.exec(textOf(sent)) ?? []
    const shownNow = cardOf(await clicks())
    expect(textOf(shownNow)).toContain(reference)
    expect(textOf(shownNow)).toContain('Waiting for approval')
    expect(actionsOf(shownNow).map(({ title }) => title)).not.toContain('Review')
  })

  it('starts again after its draft was discarded', async () => {
    const { kim } = service
    const before = await rejects('Discarded once', 'No.')
    const form = cardOf(await kim.clicks(before, 'Edit and send again'))
    const { requestId } = action(form, 'Review').data as { requestId: string }
    await kim.clicks({ id: before.id, card: form }, 'Discard')
    const next = cardOf(await kim.clicks(before, 'Edit and send again'))
    expect((action(next, 'Review').data as { requestId: string }).requestId).not.toBe(requestId)
    expect(valuesOf(next)).toMatchObject({ displayName: 'Discarded once' })
  })

  it('creates one request for one form, also when sent twice at once', async () => {
    const { kim } = service
    const before = await rejects('Twice', 'No.')
    const form = cardOf(await kim.clicks(before, 'Edit and send again'))
    const review = cardOf(await kim.clicks({ id: before.id, card: form }, 'Review'))
    const sends = await Promise.all([1, 2].map(() => kim.clicks({ id: before.id, card: review }, 'Send')))
    const references = new Set(sends.map((one) => /REQ-\d+/.exec(textOf(cardOf(one)))?.[0]))
    expect(references.size).toBe(1)
  })

  it('of a successful request needs its own name and address, also after a restart', async () => {
    const { kim } = service
    const { requestId, reference } = await asksFor(kim, { displayName: 'Choir', alias: 'choir' }, 'working')
    const ready = await kim.sees(/Your site is ready/)
    expect(actionsOf(ready.card).map(({ title }) => title)).toEqual(['Request another team site', 'Open site'])
    const form = cardOf(await kim.clicks(ready, 'Request another team site'))
    expect(textOf(form)).toContain(`This is a copy of ${reference}. Enter a new name and address.`)
    expect(valuesOf(form)).toMatchObject({ displayName: 'Choir' })
    expect(valuesOf(form)['alias'] ?? '').toBe('')
    await service.restart()
    const later = pressed(form, 'Later', { displayName: 'Band' })
    const kept = cardOf(await service.kim.invokes(ready.id, later.verb, later.data))
    expect(textOf(kept)).toContain('Band')
    const offer = await service.kim.says('new working')
    const again = cardOf(await service.kim.clicks(offer, 'Continue'))
    const review = cardOf(await service.kim.clicks({ id: offer.id, card: again }, 'Review'))
    expect(textOf(review)).toContain(`Copy of ${reference}. Changed: `)
    const sent = cardOf(await service.kim.clicks({ id: offer.id, card: review }, 'Create'))
    const { requestId: other } = action(sent, 'Refresh').data as { requestId: string }
    expect((await shown(other))['basedOn']).toMatchObject({
      ...{ requestId, reference, how: 'repeat', ended: { status: 'succeeded' } },
      changed: expect.arrayContaining(['displayName', 'alias']),
    })
    expect(await shown(other)).toMatchObject({ details: { displayName: 'Band', alias: 'wg-band' } })
  })

  it('is possible only for the requester: others see the status', async () => {
    const { kim, dana, omar } = service
    const before = await rejects('Mine alone', 'No.')
    for (const verb of ['request.again', 'request.edit']) {
      const answer = cardOf(await dana.invokes('no-activity', verb, { requestId: before.requestId }))
      expect(textOf(answer)).toContain(before.reference)
      expect(actionsOf(answer).map(({ title }) => title)).not.toContain('Review')
      expect(textOf(cardOf(await omar.invokes('no-activity', verb, { requestId: before.requestId })))).not.toContain(
        'Step 2 of 3',
      )
    }
    const open = await asksFor(kim, { displayName: 'Still open' })
    const answer = cardOf(await kim.invokes(open.id, 'request.again', { requestId: open.requestId }))
    expect(textOf(answer)).toContain('Waiting for approval')
    await kim.invokes(open.id, 'request.cancel', { requestId: open.requestId, confirmed: true })
  })

  it('leaves out values that its template no longer accepts', async () => {
    const { kim } = service
    const before = await rejects('Older template', 'No.')
    const path = `/templates/v1/${templates.projectSite}`
    const { body, headers } = await service.rest('sam', 'GET', path)
    const { fields } = template.parse({ ...(body as object), webhook: null })
    const changed = fields
      .filter(({ key }) => key !== 'costCentre')
      .map((field) => ({ ...field, choices: field.choices.filter(({ value }) => value !== 'internal') }))
    // Translations of a removed question would be a fault.
    const written = { ...(body as object), fields: changed, localised: {}, webhook: null }
    const answer = await service.rest('sam', 'PUT', path, written, { 'if-match': headers.get('etag') ?? '' })
    expect([200, 204]).toContain(answer.status)
    const form = cardOf(await kim.clicks(before, 'Edit and send again'))
    const { requestId } = action(form, 'Review').data as { requestId: string }
    const draft = await service.app.core.readDraft(
      await service.app.core.actor({ tenantId: service.app.endpoints.tenantId, id: kim.id }),
      { requestId },
    )
    expect(Object.keys(draft.draft.values)).not.toContain('metadata.costCentre')
    expect(Object.keys(draft.draft.values)).not.toContain('metadata.audience')
    expect(draft.draft.values).toMatchObject({ displayName: 'Older template' })
    const empty = await opens(kim)
    expect(valuesOf(empty.card)['displayName'] ?? '').toBe('')
  })
})
