import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '../../src/app/log.ts'
import { type HostileText, hostileTexts } from '../support/hostile-texts.ts'
import { caller, siteView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { clientOf, exchangeOf, tenantFor } from '../support/simulator.ts'
import { until } from '../support/until.ts'
import { startSubscriber } from '../support/webhook-subscriber.ts'

/** Bodies with half of a surrogate pair or U+0000 are refused as a whole. */
const storable = ({ text }: HostileText): boolean => text.isWellFormed() && !text.includes('\0')
const perKind = [...new Map(hostileTexts.map((one) => [one.what, one])).values()]
const nameOf = (text: string): string => text.trim().slice(0, 200)

describe('hostile text in a REST call', () => {
  const service = withService({
    ...{ RATE_LIMIT_READS_PER_MINUTE: '0', RATE_LIMIT_WRITES_PER_MINUTE: '0', OPEN_REQUESTS_PER_PERSON: '0' },
    ...{ RATE_LIMIT_TENANT_WRITES_PER_MINUTE: '0', RATE_LIMIT_WRITE_BURST: '1000' },
  })
  const { call, problem } = caller(service)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

  it('is stored, returned and sent unchanged, as JSON that no browser shows as a page', async () => {
    const subscriber = await startSubscriber()
    onTestFinished(() => subscriber.close())
    const path = `/templates/v1/${templates.projectSite}`
    const { body, headers } = await service.rest('sam', 'GET', path)
    const webhook = { url: subscriber.url, secret, events: ['request.cancelled'] }
    const put = await service.rest('sam', 'PUT', path, { ...body, webhook }, { 'if-match': headers.get('etag') ?? '' })
    expect(put.status).toBe(200)
    const named = new Map<string, string>()
    for (const { text, what } of perKind.filter(storable)) {
      const [displayName, note] = [nameOf(text), text.slice(0, 1024)]
      const metadata = { costCentre: '4711', audience: 'internal', note }
      const site = { displayName, description: note, templateId: templates.projectSite, metadata }
      const submitted = await call('kim', 'POST', '/collab/v1/spo', { body: site })
      expect(submitted.status, `${what}: ${submitted.text}`).toBe(202)
      const { requestId } = submitted.body as { requestId: string }
      named.set(requestId, displayName)
      const answer = await call('kim', 'GET', `/requests/v1/${requestId}`)
      expect(answer.headers.get('content-type'), what).toMatch(/^application\/json/)
      expect(answer.headers.get('x-content-type-options'), what).toBe('nosniff')
      const { details } = siteView.parse(answer.body)
      expect(details).toMatchObject({ displayName, description: note, metadata: { note } })
      await call('kim', 'POST', `/requests/v1/${requestId}/cancel`, { body: { comment: displayName } })
    }
    await until(() => subscriber.received.length >= named.size || undefined, 'the webhooks')
    for (const { body, headers } of subscriber.received) {
      const { requestId, data } = new Webhook(secret).verify(body, headers) as {
        requestId: string
        data: { displayName: string }
      }
      expect(data.displayName).toBe(named.get(requestId))
    }
  })

  it('in a name, a key or an address is refused with a problem that quotes it only as text', async () => {
    for (const { text, what } of perKind) {
      const site = { displayName: 'x', templateId: templates.workingGroup }
      const bodies = [
        { ...site, [text]: 1 },
        { ...site, alias: `${text}/` },
        { ...site, labelId: text },
        { ...site, owners: [text] },
        { ...site, templateId: text },
      ]
      for (const body of bodies) {
        const answer = await call('kim', 'POST', '/collab/v1/spo', { body })
        const { status } = problem(answer)
        expect([400, 422], `${what}: ${answer.text}`).toContain(status)
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
        expect(answer.text.split('\n')).toHaveLength(1)
      }
      const read = await call('kim', 'GET', `/requests/v1/${encodeURIComponent(text.toWellFormed())}`)
      expect([400, 404, 414, 422], what).toContain(problem(read).status)
    }
  })
})

describe('hostile text in the log', () => {
  it.each(hostileTexts)(
    '$what: is one line without control characters, with the same text after parsing',
    ({ text }) => {
      const lines: string[] = []
      const log = createLog('info', [], (line) => void lines.push(line))
      log.warn({ reason: text, [text]: text, err: new Error(text) }, text)
      expect(lines).toHaveLength(1)
      const [line = ''] = lines
      expect(line.slice(0, -1)).not.toMatch(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
      expect(JSON.parse(line)).toMatchObject({ level: 40, reason: text, msg: text })
    },
  )
})

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (html: string): string => html.replace(/&(#?\w+);/g, (whole, name) => entities[name] ?? whole)
/** Elements of the simulator's pages. */
const tagsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/<\/?([a-z!]\w*)/gi)].map(([, tag = '']) => tag))
const ours = 'html head meta title style body main h1 h2 dl dt dd p a ul li footer !doctype'.split(' ')

describe('hostile text on the pages of the simulated tenant', () => {
  it('is shown unchanged', async () => {
    const simulator = await tenantFor()
    const call = await clientOf(simulator)
    const run = await exchangeOf(simulator)
    for (const [index, { text, what }] of perKind.filter(storable).entries()) {
      const title = nameOf(text)
      const url = `${simulator.url}/sites/s${index}`
      const site = { Title: title, Url: url, Description: text, Lcid: 1033, Owner: 'kim@contoso.example' }
      await call('POST', '/_api/SPSiteManager/create', { request: { ...site, WebTemplate: 'SITEPAGEPUBLISHING#0' } })
      const [Name, PrimarySmtpAddress] = [`m${index}`, `m${index}@contoso.example`]
      await run('New-Mailbox', { Shared: true, Name, Alias: Name, PrimarySmtpAddress, DisplayName: title })
      for (const page of [url, `${simulator.url}/mailboxes/${PrimarySmtpAddress}`]) {
        const answer = await fetch(page)
        const html = await answer.text()
        expect(answer.status, `${what}: ${page}`).toBe(200)
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
        expect(
          [...tagsOf(html)].filter((tag) => !ours.includes(tag)),
          what,
        ).toEqual([])
        expect(unescaped(/<h1>([^<]*)<\/h1>/.exec(html)?.[1] ?? ''), what).toBe(title)
      }
    }
    const list = await (await fetch(`${simulator.url}/mailboxes`)).text()
    expect([...tagsOf(list)].filter((tag) => !ours.includes(tag))).toEqual([])
  })
})
