import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { textOf } from '../support/cards.ts'
import { partOn, typedBy } from '../support/health-card.ts'
import { quickWatch } from '../support/quick-watch.ts'
import { templates, withService } from '../support/service.ts'
import { cardOf } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'
import { seconds, until } from '../support/until.ts'

/** The members of the API's answers that these tests read. */
const request = z.object({ status: z.string(), reference: z.string() })
const report = z.object({ parts: z.array(z.looseObject({ name: z.string(), detail: z.string() })) })

/** Each service of Microsoft 365, with the small call of its health check. */
const services = [
  ['Microsoft Graph', 'graph.users.list'],
  ['SharePoint', 'sharepoint.site.status'],
  ['Exchange', 'exchange.get-mailbox'],
] as const

describe('trouble with Microsoft 365, for an admin in the chat:', () => {
  const service = withService()
  afterEach(() => service.heal())
  const health = async () => (await service.sam.says('admin health')).card
  /** Returns the card after its button, when the trouble is over. */
  const refreshed = async (card: Awaited<ReturnType<typeof health>>) =>
    (await service.sam.says(typedBy(card, 'Refresh'))).card

  it.each(services)(
    '%s refuses us: red, with possible reasons; a new check shows that it is healthy',
    async (name, operation) => {
      await service.fault({ operation, kind: 'failBeforeCommit', status: 403, count: 100 })
      const card = await health()
      const { state, says } = partOn(card, name)
      expect(state).toBe('Red')
      expect(says).toMatch(
        /^Refuses the calls of the service\. The app registration may have lost a permission\. .*answered 403|refused this service/s,
      )
      expect(textOf(card)).toMatch(/One problem|\d problems/)
      await service.heal()
      expect(partOn(await refreshed(card), name).state).toBe('Green')
    },
  )

  it.each(services)('%s throttles us: amber, and work continues automatically', async (name, operation) => {
    await service.fault({ operation, kind: 'status429', retryAfter: 7, count: 100 })
    const card = await health()
    const { state, says } = partOn(card, name)
    expect([state, says]).toEqual([
      'Amber',
      expect.stringMatching(/^Throttles the calls of the service\. The service continues more slowly\./),
    ])
    expect(says).toMatch(/throttled/)
    await service.heal()
    expect(partOn(await refreshed(card), name).state).toBe('Green')
  })

  it('SharePoint does not answer in time: red, and work is retried automatically', async () => {
    await service.fault({ operation: 'sharepoint.site.status', kind: 'delay', seconds: 60, count: 100 })
    const card = await health()
    const { state, says } = partOn(card, 'SharePoint')
    expect(state).toBe('Red')
    expect(says).toMatch(
      /^Does not answer in time\. The service retries automatically\. SharePoint did not answer in 5 seconds/,
    )
    await service.heal()
    expect(partOn(await refreshed(card), 'SharePoint').state).toBe('Green')
  })

  it('the tenant refuses a resource: admin stuck shows the reason, and a retry creates it', async () => {
    const { kim, sam } = service
    await sam.installs()
    await kim.installs()
    await service.fault({ operation: 'graph.groups.upsert', kind: 'failBeforeCommit', status: 403, count: 100 })
    const accepted = await service.rest('kim', 'POST', '/collab/v1/spo', {
      ...{ displayName: 'Refused at first', templateId: templates.workingGroup },
    })
    const path = `/requests/v1/${String(accepted.body['requestId'])}`
    const status = async () => request.parse((await service.rest('kim', 'GET', path)).body)
    await until(async () => (await status()).status === 'failed' || undefined, 'the request to fail')
    const { reference } = await status()
    const stuck = (await sam.says('admin stuck')).card
    expect(textOf(stuck)).toContain(reference)
    expect(textOf(stuck)).toMatch(/403/)
    await service.heal()
    const question = await sam.says(`admin retry ${reference}`)
    cardOf(await sam.clicks(question, 'Retry'))
    await until(async () => (await status()).status === 'succeeded' || undefined, 'the request to succeed')
    expect(textOf((await sam.says('admin stuck')).card)).not.toContain(reference)
  })

  it('the directory does not answer who is an admin: admins in the settings still read this, other people do not', async () => {
    await service.restart({ ADMINS: people.sam.id })
    await service.fault({ operation: 'graph.*', kind: 'failBeforeCommit', status: 403, count: 1000 })
    const { card } = await service.sam.says('admin health')
    expect(partOn(card, 'Microsoft Graph')).toEqual({
      state: 'Red',
      says: expect.stringContaining('Refuses the calls of the service.'),
    })
    expect((await service.rest('sam', 'GET', '/admin/v1/health')).body).toMatchObject({ state: 'red' })
    expect((await service.rest('kim', 'GET', '/admin/v1/health')).status).toBeGreaterThanOrEqual(400)
    expect(textOf((await service.kim.says('admin health')).card)).not.toContain('Refuses the calls of the service')
    await service.heal()
    expect(partOn(await refreshed(card), 'Microsoft Graph').state).toBe('Green')
  })

  it('the REST API reports the same facts, to admins only', async () => {
    await service.fault({ operation: 'exchange.get-mailbox', kind: 'failBeforeCommit', status: 403, count: 100 })
    const { status, body } = await service.rest('sam', 'GET', '/admin/v1/health')
    expect([status, body]).toEqual([200, expect.objectContaining({ state: 'red', version: expect.any(String) })])
    const { parts } = report.parse(body)
    expect(parts[0]).toMatchObject({ name: 'exchange', state: 'red', failed: expect.any(Number) })
    expect(parts[0]?.detail).toMatch(/^Refuses the calls of the service\./)
    expect((await service.rest('kim', 'GET', '/admin/v1/health')).status).toBe(403)
  })
})

describe('a second service of Microsoft 365 that fails', () => {
  const service = withService({}, () => ({ watchTimes: quickWatch }))
  const sentWith = (words: string) =>
    service.connector.sent.flatMap(({ card }) => (card && textOf(card).includes(words) ? [textOf(card)] : []))
  const countsOf = () =>
    ['Something is broken', 'Another part is broken', 'One problem is fixed', 'Everything works again'].map(
      (words) => sentWith(words).length,
    )
  const refuses = (operation: string) =>
    service.fault({ operation, kind: 'failBeforeCommit', status: 403, count: 10_000 })
  const arrives = (words: string) => until(() => sentWith(words)[0], `the card “${words}”`, 40_000)

  it('has a card of its own for each admin, and so has the first one that works again', async () => {
    await service.sam.installs()
    await refuses('exchange.get-mailbox')
    expect(await arrives('Something is broken')).toContain('Exchange')
    await refuses('sharepoint.site.status')
    const more = await arrives('Another part is broken')
    expect(more).toMatch(/SharePoint/)
    expect(more).toContain('Still broken: Exchange.')
    await service.heal()
    await refuses('exchange.get-mailbox')
    const less = await arrives('One problem is fixed')
    expect(less).toContain('Healthy again: SharePoint.')
    expect(less).toContain('Still broken: Exchange.')
    await service.heal()
    expect(await arrives('Everything works again')).toContain('Exchange')
    await seconds(3)
    expect(countsOf()).toEqual([1, 1, 1, 1])
  })
})
