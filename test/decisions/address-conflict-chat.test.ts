import { describe, expect, it } from 'vitest'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { takeAlias } from '../support/simulator.ts'
import { until } from '../support/until.ts'

const metadata = { costCentre: '4711', audience: 'internal' }

describe('an address that another resource takes during the wait', () => {
  const service = withService()

  async function submitSite(displayName: string): Promise<{ requestId: string; path: string }> {
    const body = { displayName, templateId: templates.projectSite, metadata }
    const { body: answer } = await service.rest('kim', 'POST', '/collab/v1/spo/', body)
    const requestId = String(answer['requestId'])
    return { requestId, path: `/requests/v1/${requestId}` }
  }
  const takes = (mailNickname: string) => takeAlias(service.app.endpoints.simulator, mailNickname)
  const titlesOf = (card: Parameters<typeof actionsOf>[0]) => actionsOf(card).map(({ title }) => title)

  it('is checked at the approval: nothing is created, the requester chooses the suggestion, and the approver decides', async () => {
    const { kim, dana } = service
    for (const one of [kim, dana]) await one.installs()
    const { path } = await submitSite('Taken meanwhile')
    const approval = await dana.sees(/Taken meanwhile/)
    expect(textOf(approval.card)).toContain('This address is free: taken-meanwhile')
    await takes('taken-meanwhile')
    const paused = (await dana.clicks(approval, 'Approve', { comment: 'Good, go ahead' })).card ?? {}
    expect(textOf(paused)).toContain('Your approval was not recorded. You get a card with the next address.')
    expect(valuesOf(paused)).toMatchObject({ comment: 'Good, go ahead' })
    expect(textOf(paused)).toContain('Another resource has taken the address taken-meanwhile. I asked Kim Lee')
    expect(titlesOf(paused)).not.toContain('Approve')
    expect(titlesOf(paused)).toContain('Reject')

    const { body: waiting } = await service.rest('kim', 'GET', path)
    expect(waiting).toMatchObject({
      status: 'pendingApproval',
      addressConflict: { taken: 'taken-meanwhile', suggestion: 'taken-meanwhile-2' },
    })
    const refused = await service.rest('dana', 'POST', `${path}/approve`, {})
    expect([refused.status, refused.body['code']]).toEqual([409, 'name-taken'])
    expect(refused.body['detail']).toContain('Kim Lee must choose another address first.')

    const question = await kim.sees(/The address is taken/)
    expect(valuesOf(question.card)).toMatchObject({ address: 'taken-meanwhile-2' })
    const wrong = (await kim.clicks(question, 'Use this address', { address: 'taken-meanwhile' })).card ?? {}
    expect(textOf(wrong)).toContain('This address is taken. Try taken-meanwhile-2.')
    const done = (await kim.clicks(question, 'Use this address')).card ?? {}
    expect(textOf(done)).toContain('Waiting for Dana Fox or Omar Haddad')

    const again = await until(
      () =>
        dana
          .chat()
          .findLast(
            ({ id, card }) =>
              id !== approval.id && card && textOf(card).includes('from taken-meanwhile to taken-meanwhile-2'),
          ),
      'a card with the new address',
    )
    expect(textOf((await dana.clicks(again, 'Approve')).card ?? {})).toContain('Approved by you')
    await kim.sees(/Your site is ready/)
    const { body: ready } = await service.rest('kim', 'GET', path)
    expect(JSON.stringify(ready['resource'])).toContain('/sites/taken-meanwhile-2"')
    expect(ready['addressConflict']).toBeUndefined()
  })

  it('is checked when the card is shown', async () => {
    const { dana } = service
    const { path } = await submitSite('Shown later')
    const approval = await dana.sees(/Shown later/)
    await takes('shown-later')
    const { card = {} } = await dana.clicks(approval, 'Refresh')
    expect(textOf(card)).toContain('This address is taken: shown-later')
    expect((await service.rest('kim', 'GET', path)).body['addressConflict']).toBeDefined()
  })

  it('does not block a decision while the directory does not answer', async () => {
    const { dana } = service
    const { path } = await submitSite('Directory silent')
    const approval = await dana.sees(/Directory silent/)
    await service.fault({ operation: 'graph.*', kind: 'delay', seconds: 20, count: 1000 })
    const started = Date.now()
    const { card = {} } = await dana.clicks(approval, 'Refresh')
    expect(Date.now() - started).toBeLessThan(5000)
    expect(textOf(card)).toContain('I could not check this address: directory-silent')
    expect(titlesOf(card)).toContain('Approve')
    await service.heal()
    expect((await service.rest('kim', 'GET', path)).body['status']).toBe('pendingApproval')
  })
  it('is replaced over REST by its requester only, once for each key', async () => {
    const { requestId, path } = await submitSite('Taken for REST')
    await takes('taken-for-rest')
    await service.rest('dana', 'POST', `${path}/approve`, {})
    const send = (who: 'kim' | 'dana' | 'sam', body: object, key = '') =>
      service.rest(who, 'POST', `${path}/address`, body, key === '' ? {} : { 'idempotency-key': key })
    for (const who of ['dana', 'sam'] as const)
      expect((await send(who, { address: 'taken-for-rest-2' })).body['code']).toBe('forbidden')
    for (const [body, code] of [
      [{ address: 'taken-for-rest' }, 'name-taken'],
      [{ address: 'Größe' }, 'invalid'],
      [{ address: '' }, 'required'],
      [{ address: null }, 'null'],
      [{}, 'required'],
    ] as const) {
      const wrong = await send('kim', body)
      expect([wrong.status, wrong.body['errors']]).toMatchObject([422, [{ pointer: '#/address', code }]])
    }
    const first = await send('kim', { address: 'rest-of-it' }, 'one')
    expect([first.status, first.body]).toMatchObject([200, { requestId, details: { alias: 'rest-of-it' } }])
    expect(first.body['addressConflict']).toBeUndefined()
    const repeated = await send('kim', { address: 'rest-of-it' }, 'one')
    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    // A request without a conflict does not change.
    const late = await send('kim', { address: 'another-one' })
    expect([late.status, late.body]).toMatchObject([200, { details: { alias: 'rest-of-it' } }])
    expect((await service.rest('dana', 'POST', `${path}/approve`, {})).status).toBe(200)
    expect((await send('kim', { address: 'too-late' })).body['code']).toBe('already-ended')
  })
})
