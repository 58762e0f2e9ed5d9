import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import { labels, withService } from '../support/service.ts'
import { asksFor, cardOf, decisionAbout, filled, readsAfter } from '../support/site-request.ts'
import type { TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** The tenant creates the site, and then refuses its security group once. */
const refusesTheGroup = { operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 400, skip: 1, count: 1 }

describe('a request with a complication', () => {
  const service = withService({ FOLLOW_UP_FIRST_SECONDS: '1', FOLLOW_UP_EVERY_SECONDS: '1' })
  afterEach(() => service.heal())

  const buttonsOf = (card: object) => actionsOf({ ...card }).map(({ title }) => title)
  const becomes = (user: TeamsUser, id: string, pattern: RegExp) =>
    until(() => {
      const shown = user.chat().find((one) => one.id === id)?.card
      return shown && pattern.test(textOf(shown)) ? shown : undefined
    }, `${id} to read ${pattern}`)
  const requestOf = async (requestId: string) => {
    const { rows } = await service.app.database.query('SELECT body FROM requests WHERE request_id = $1', [requestId])
    const shape = z.object({
      status: z.string(),
      steps: z.array(z.object({ name: z.string(), status: z.string(), attempts: z.int() })),
    })
    return shape.parse(rows[0]?.['body'])
  }
  const reaches = (requestId: string, status: string) =>
    until(async () => ((await requestOf(requestId)).status === status ? true : undefined), `${requestId} ${status}`)
  const followUps = (user: TeamsUser, name: string) =>
    service.connector.sent.filter(
      ({ conversationId, card }) =>
        conversationId === user.conversationId &&
        card &&
        /Your site is ready/.test(textOf(card)) &&
        textOf(card).includes(name),
    )

  it('is rejected, changed and sent again: a new request with a new number and the same content', async () => {
    const { kim, dana } = service
    await dana.installs()
    const first = await asksFor(kim, { displayName: 'First idea', labelId: labels.internal })
    await dana.clicks(await decisionAbout(dana, 'First idea'), 'Reject', { comment: 'Name the companies, please.' })
    await becomes(kim, first.id, /Finished, see below/)
    const rejection = await kim.sees(/Rejected by Dana Fox[\s\S]*/)
    expect(textOf(rejection.card)).toContain('Name the companies, please.')
    const form = cardOf(await kim.clicks(rejection, 'Edit and send again'))
    expect(valuesOf(form)).toMatchObject({ ...filled, displayName: 'First idea', labelId: labels.internal })
    const review = cardOf(await kim.clicks({ id: rejection.id, card: form }, 'Review', { displayName: 'Better idea' }))
    const sent = cardOf(await kim.clicks({ id: rejection.id, card: review }, 'Send'))
    const reference = /REQ-\d+/.exec(textOf(sent))?.[0]
    expect(reference).not.toBe(first.reference)
    expect(textOf(sent)).toContain('Waiting for approval')
    expect(readsAfter(await dana.clicks(await decisionAbout(dana, 'Better idea'), 'Approve'))).toContain(
      'Approved by you',
    )
    await kim.sees(/Your site is ready[\s\S]*Better idea|Better idea[\s\S]*Your site is ready/)
    expect((await requestOf(first.requestId)).status).toBe('rejected')
  })

  it('is cancelled while it waits: the approvers’ cards have no action left', async () => {
    const { kim, dana } = service
    const request = await asksFor(kim, { displayName: 'Not any more' })
    const decision = await decisionAbout(dana, 'Not any more')
    const confirmation = cardOf(await kim.clicks(request, 'Cancel request'))
    expect(textOf(confirmation)).toContain('Cancel this request?')
    expect((await requestOf(request.requestId)).status).toBe('pendingApproval')
    const cancelled = cardOf(await kim.clicks({ id: request.id, card: confirmation }, 'Cancel request'))
    expect(textOf(cancelled)).toContain('Cancelled')
    const left = await becomes(dana, decision.id, /You do not need to do anything/)
    expect(textOf(left)).toContain('Kim Lee cancelled the request')
    expect(buttonsOf(left)).not.toContain('Approve')
    for (const title of ['Approve', 'Reject'])
      expect(readsAfter(await dana.clicks(decision, title, { comment: 'late' }))).toContain(
        'Kim Lee cancelled the request',
      )
    expect(readsAfter(await kim.clicks(request, 'Cancel request'))).toContain('Already ended')
    expect((await requestOf(request.requestId)).status).toBe('cancelled')
  })

  it('cannot be cancelled while it is being created: the person reads this, and one follow-up card arrives at the end', async () => {
    const { kim } = service
    // No periodic check makes this call, so both delays are of this request.
    await service.fault({ operation: 'sharepoint.web.get', kind: 'delay', seconds: 2, count: 2 })
    const request = await asksFor(kim, { displayName: 'Too late to stop' }, 'working')
    await reaches(request.requestId, 'provisioning')
    const refused = await kim.invokes(request.id, 'request.cancel', { requestId: request.requestId })
    expect(readsAfter(refused)).toContain('This request can no longer be cancelled.')
    expect(buttonsOf(cardOf(refused))).toContain('Show status')
    expect(textOf((await kim.says(`cancel ${request.reference}`)).card)).toContain('Too late to cancel')
    await kim.sees(/Your site is ready[\s\S]*Too late to stop|Too late to stop[\s\S]*Your site is ready/)
    expect(followUps(kim, 'Too late to stop')).toHaveLength(1)
    await becomes(kim, request.id, /Finished, see below/)
  })

  it('fails at a step: requester and admin are notified, a retry continues there, one follow-up card arrives at the end', async () => {
    const { kim, sam } = service
    await sam.installs()
    await service.fault(refusesTheGroup)
    const request = await asksFor(kim, { displayName: 'Fails once', owners: service.omar.id }, 'working')
    await reaches(request.requestId, 'failed')
    const failed = (await requestOf(request.requestId)).steps.find(({ status }) => status === 'failed')
    expect(failed?.name).toBe('link-group')
    const samsCard = await sam.sees(/Failed[\s\S]*Fails once|Fails once[\s\S]*Failed/)
    expect(textOf(samsCard.card)).toContain(request.reference)
    await kim.sees(/I notified an admin, who can retry the failed step/)
    const upserts = async () => (await service.calls('graph.groups.upsert')).length
    const [before, done] = [
      await upserts(),
      (await requestOf(request.requestId)).steps.filter(({ status }) => status === 'done'),
    ]
    expect(done.length).toBeGreaterThan(0)

    const byKim = await service.rest('kim', 'POST', `/requests/v1/${request.requestId}/retry`, {})
    expect(byKim.status).toBe(403)
    const retried = await service.rest('sam', 'POST', `/requests/v1/${request.requestId}/retry`, {})
    expect(retried.status).toBe(200)
    await kim.sees(/Your site is ready[\s\S]*Fails once|Fails once[\s\S]*Your site is ready/)
    const { status, steps } = await requestOf(request.requestId)
    expect(status).toBe('succeeded')
    for (const { name, attempts } of done) expect(steps).toContainEqual(expect.objectContaining({ name, attempts }))
    // One more call, for the refused group. The site's own group is not created again.
    expect(await upserts()).toBe(before + 1)
    await becomes(sam, samsCard.id, /All checks passed/)
    expect(followUps(kim, 'Fails once')).toHaveLength(1)
    expect(followUps(sam, 'Fails once')).toEqual([])
  })

  it('fails and is cancelled by the admin, and the requester reads which objects remain', async () => {
    const { kim, sam } = service
    await service.fault(refusesTheGroup)
    const request = await asksFor(kim, { displayName: 'Given up' }, 'working')
    await reaches(request.requestId, 'failed')
    const confirm = await sam.says(`cancel ${request.reference}`)
    expect(readsAfter(await sam.clicks(confirm, 'Cancel request', { comment: 'Not worth it.' }))).toContain('Cancelled')
    await kim.sees(/Given up[\s\S]*The site was already created and still exists. I notified an admin/)
    await becomes(kim, request.id, /Finished, see below/)
    expect((await service.rest('sam', 'POST', `/requests/v1/${request.requestId}/retry`, {})).status).toBe(409)
  })

  it('has caused no unexpected call at the connector', () => {
    expect(service.connector.unexpected).toEqual([])
  })
})
