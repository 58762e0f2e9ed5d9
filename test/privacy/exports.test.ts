import { mkdtempSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { writeResults } from '../../src/client/command-line/csv.ts'
import { type Core, genesis, hashOf, textDigest } from '../../src/core/index.ts'
import { csvLines } from '../../src/core/privacy/export-rows.ts'
import { actorOf, approversGroup, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'
import { startIssuer, startRest } from '../support/rest.ts'

const key = Buffer.alloc(32, 3)
const root = 'https://quartermaster.contoso.example'
/**
 * Texts that a spreadsheet would read as a formula or as the end of a cell, and that readers of the file must find
 * unchanged.
 */
const hostile = [
  '=HYPERLINK("https://evil.example","click")',
  '+41 44 123 45 67',
  '-1+1',
  '@SUM(A1:A9)',
  '\t=1',
  '\r=1',
  'a;=cmd|calc!A1',
  'a,=1+1',
  'a\n@SUM(1)',
  'say "hello", then',
  "'=already",
  '＝1+1',
  '"=1+1"',
  'a;"=cmd|calc!A1',
  'plain, and – naïve 日本 😀',
]

describe('an export', () => {
  const core = withCore()
  const asAdmin = actorOf(priya, true)
  let now = new Date('2026-11-20T12:00:00Z')
  const admins = [priya.id]
  let provisioning: Core
  const days = { from: '2026-11-20', to: '2026-11-20' }
  const clock = { now: () => now }
  const tokenOf = (url = '') => url.slice(`${root}/exports/v1/`.length)
  const linksOf = async () => (await provisioning.offerExport(asAdmin, days)).links

  beforeAll(async () => {
    provisioning = core.with({ clock }, { exportLinks: { root, key }, admins })
    const template = await core.template({ approval: { stages: [{ approvers: [{ group: approversGroup }] }] } })
    for (const [place, reason] of hostile.entries()) {
      const name = `Site ${place}`
      const { requestId } = await provisioning.submitSite(actorOf(kim), {
        body: {
          ...{ displayName: name, description: reason, templateId: template.id },
        },
      })
      await provisioning.reject(actorOf(omar), { requestId, comment: reason })
    }
  })
  /** Opens a link over HTTP. */
  async function opened(url: string | undefined) {
    const rest = await startRest(await startIssuer(), { core: provisioning })
    const response = await fetch(`${rest.server.url}/exports/v1/${tokenOf(url)}`, { method: 'POST' })
    return { status: response.status, headers: response.headers, text: await wholeText(response), lines: rest.lines }
  }
  /** Reads the text with the byte order mark, which `text()` would remove. */
  const wholeText = async (response: Response) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer())
  it('has four links with their contents, which work for 15 minutes', async () => {
    const offer = await provisioning.offerExport(asAdmin, days)
    expect(offer).toMatchObject({ ...days, requests: hostile.length, until: '2026-11-20T12:15:00.000Z' })
    expect(offer.entries).toBeGreaterThan(hostile.length)
    expect(offer.links.map(({ what, format }) => `${what} ${format}`)).toEqual([
      ...['requests csv', 'requests json', 'audit csv', 'audit json'],
    ])
    for (const { url } of offer.links) expect(tokenOf(url)).toMatch(/^[\w-]{86}$/)
    const report = await provisioning.readAudit(asAdmin, { requestId: tenantId })
    expect(report.entries.at(-1)).toMatchObject({ action: 'exported', data: { ...days, until: offer.until } })
  })

  it('returns a file that no cache may store, and records the download in the audit', async () => {
    const [csv] = await linksOf()
    const { status, headers, text, lines } = await opened(csv?.url)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/)
    expect(headers.get('content-disposition')).toBe('attachment; filename="requests-2026-11-20.csv"')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(text.split('\r\n')).toHaveLength(hostile.length + 2)
    const { entries } = await provisioning.readAudit(asAdmin, { requestId: tenantId })
    expect(entries.at(-1)).toMatchObject({
      action: 'export-read',
      actor: priya,
      data: { what: 'requests', format: 'csv' },
    })
    // The log has the call, but not the link.
    expect(lines.map((line) => line['route'])).toContain('/exports/v1/:token')
    expect(JSON.stringify(lines)).not.toContain(tokenOf(csv?.url))
  })

  it('contains hostile texts complete, in their cell, and never as a formula', async () => {
    const links = await linksOf()
    for (const column of ['comment', 'decisions'] as const) {
      const { text } = await opened(links[column === 'comment' ? 2 : 0]?.url)
      expect(text.startsWith('\ufeff')).toBe(true)
      const rows: Record<string, string>[] = parse(text, { bom: true, columns: true, record_delimiter: '\r\n' })
      const cells = rows.map((row) => row[column] ?? '')
      for (const original of hostile) {
        const held = cells.find((cell) => withoutDefusing(cell).includes(withoutDefusing(original.trim())))
        expect(held, original).toBeDefined()
      }
      // Also if a semicolon, a tab or a line break ends a cell.
      for (const cell of rows.flatMap((row) => Object.values(row)))
        for (const part of cell.split(/[,;|\t\r\n]/)) expect(part).not.toMatch(/^[ "]*[=+\-@＝＋－＠]|^[\t\r]/)
    }
  })
  const withoutDefusing = (text: string) => text.replace(/(^|[,;|\t\r\n])'(?=[ '"]*[=+\-@＝＋－＠]|'*[\t\r])/g, '$1')

  it('defuses formulas also after spaces, which some spreadsheets trim', () => {
    expect(csvLines([['  =1+1', '\u00a0@x', 'a;"=1"', 'plain - and =']])).toBe(
      `"'  =1+1","'\u00a0@x","a;'""=1""","plain - and ="\r\n`,
    )
  })

  it('defuses the start of a cell in the same way as the command line', async () => {
    const path = join(mkdtempSync(join(inject('runFolder'), 'csv-')), 'results.csv')
    const plain = {
      key: '1',
      status: '',
      reference: '',
      requestId: '',
      error: '',
      sentAs: '',
      fingerprint: '0'.repeat(16),
      batchId: '',
    }
    const starts = hostile.filter(
      (words) => !/[,;\n].*[=@]/s.test(words) && !words.startsWith('\t') && !words.startsWith('\r'),
    )
    await writeResults(
      path,
      starts.map((name) => ({ ...plain, name })),
    )
    const theirs: Record<string, string>[] = parse(await readFile(path, 'utf8'), { bom: true, columns: true })
    const { text } = await opened((await linksOf())[2]?.url)
    const ours: Record<string, string>[] = parse(text, { bom: true, columns: true, record_delimiter: '\r\n' })
    const comments = ours.map((row) => row['comment'])
    for (const { name } of theirs) expect(comments).toContain(name)
  })

  it('of the audit as JSON can be proved outside the service, with all texts', async () => {
    const { text } = await opened((await linksOf())[3]?.url)
    const { entries, from, to } = JSON.parse(text)
    expect([from, to]).toEqual([days.from, days.to])
    expect(entries.length).toBeGreaterThan(2 * hostile.length)
    const newest = new Map<string, string>()
    for (const entry of entries) {
      expect(entry.previous).toBe(newest.get(entry.requestId) ?? null)
      expect(hashOf(entry.previous ?? genesis(entry.requestId), entry)).toBe(entry.hash)
      expect(textDigest(entry.salt, entry.text)).toBe(entry.digest)
      newest.set(entry.requestId, entry.hash)
    }
  })

  it('of requests as JSON equals the API’s answer, without secrets', async () => {
    const { text } = await opened((await linksOf())[1]?.url)
    const { requests } = JSON.parse(text)
    expect(requests).toHaveLength(hostile.length)
    const first = requests.find((one: { reference: string }) => one.reference === 'REQ-1001')
    expect(first).toMatchObject({ status: 'rejected', template: { name: 'Working group' } })
    expect(text).not.toMatch(/whsec_|"attempt"|idempotency|formerSecrets/i)
  })

  it('contains all requests of a UTC day, from its start to its end', async () => {
    const { requestId } = await submittedAt('2026-11-21T00:00:00.000Z')
    const other = await submittedAt('2026-11-21T23:59:59.999Z')
    await submittedAt('2026-11-22T00:00:00.000Z')
    now = new Date('2026-11-22T12:00:00Z')
    const offer = await provisioning.offerExport(asAdmin, { from: '2026-11-21', to: '2026-11-21' })
    expect(offer.requests).toBe(2)
    const { requests } = JSON.parse((await opened(offer.links[1]?.url)).text)
    expect(requests.map((one: { requestId: string }) => one.requestId)).toEqual([requestId, other.requestId])
    now = new Date('2026-11-20T12:00:00Z')
  })
  async function submittedAt(moment: string) {
    now = new Date(moment)
    const template = await core.template()
    return provisioning.submitSite(actorOf(kim), {
      body: { displayName: `Site of ${moment}`, templateId: template.id },
    })
  }

  it('refuses invalid days by field, and contains only the admin’s own organisation', async () => {
    const pointers = async (from: string, to: string) =>
      (await refusal(() => provisioning.offerExport(asAdmin, { from, to }))).faults.map(
        ({ pointer, code }) => `${pointer} ${code}`,
      )
    expect(await pointers('', 'soon')).toEqual(['/from required', '/to invalid'])
    expect(await pointers('2026-11-20', '2026-11-19')).toEqual(['/to past'])
    expect(await pointers('2026-02-30', '9999-01-01')).toEqual(['/from invalid', '/to invalid'])
    expect((await refusal(() => provisioning.offerExport(actorOf(kim), days))).code).toBe('forbidden')
  })
})
