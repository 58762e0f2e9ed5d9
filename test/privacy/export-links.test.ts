import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../src/app/config.ts'
import { findEndpoints, settingsOf } from '../../src/app/endpoints.ts'
import { secretsOf } from '../../src/app/settings.ts'
import {
  type Core,
  type ExportTicket,
  exportKeyOf,
  linkMinutes,
  partsOfToken,
  type StoredTicket,
  sealTicket,
  stateOfLink,
} from '../../src/core/index.ts'
import { createStores, forgetOld, migrate, ownSetting } from '../../src/store/index.ts'
import { contract, contractFault } from '../support/contract.ts'
import { actorOf, dana, kim, priya, tenantId, withCore } from '../support/core.ts'
import { engines, withDatabase } from '../support/database.ts'
import { startIssuer, startRest } from '../support/rest.ts'

const key = exportKeyOf(Buffer.alloc(32, 3))
const root = 'https://quartermaster.contoso.example'
const noon = new Date('2026-11-20T12:00:00.000Z')
const minutes = (count: number, from = noon) => new Date(from.getTime() + count * 60_000)
const shown = z
  .record(z.string(), z.object({ value: z.record(z.string(), z.unknown()) }))
  .parse(contract.components['examples'])
const html = { accept: 'text/html,application/xhtml+xml' }
const ticketOf = (more: Partial<ExportTicket> = {}): ExportTicket => ({
  ...{ tenantId, what: 'requests', format: 'csv', from: '2026-11-20', to: '2026-11-20', by: priya.id },
  ...{ issuedAt: noon, until: minutes(linkMinutes) },
  ...more,
})

describe.each(engines)('a link to an export, %s', (engine) => {
  const core = withCore(engine)
  const asAdmin = actorOf(priya, true)
  const admins = [priya.id]
  const closes: (() => unknown)[] = []
  const clock = { now: () => now }
  let now = noon
  let provisioning: Core
  let rest: Awaited<ReturnType<typeof startRest>>

  beforeAll(async () => {
    const atEnd = (close: () => unknown) => void closes.push(close)
    provisioning = core.with({ clock }, { exportLinks: { root, key }, admins })
    rest = await startRest(await startIssuer(atEnd), { core: provisioning }, atEnd)
  })
  afterAll(async () => {
    for (const close of closes.reverse()) await close()
  })
  beforeEach(async () => {
    now = noon
    admins.splice(0, admins.length, priya.id)
    core.world.people.set(priya.id, priya)
    await core.database.query('DELETE FROM export_tickets')
  })

  const tokenOf = (url = '') => url.split('/').at(-1) ?? ''
  const newLink = async () =>
    tokenOf((await provisioning.offerExport(asAdmin, { from: '2026-11-20', to: '2026-11-20' })).links[0]?.url)
  async function call(method: string, token: string, headers: Record<string, string> = {}) {
    const path = `/exports/v1/${token}`
    const response = await fetch(`${rest.server.url}${path}`, { method, headers })
    const text = await response.text()
    const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') === true
    const body = isProblem && text !== '' ? JSON.parse(text) : text
    const answer = { status: response.status, headers: response.headers, text, body, code: body.code ?? '' }
    if (method !== 'HEAD') expect(contractFault({ method, path }, answer)).toBeUndefined()
    // The service returns the same code as the example of the API document.
    if (isProblem && text !== '') expect(shown[answer.code]?.value).toMatchObject({ detail: body.detail })
    return answer
  }
  const isFile = ({ headers }: { headers: Headers }) => headers.get('content-disposition')?.startsWith('attachment')
  const uses = async () =>
    (await provisioning.readAudit(asAdmin, { requestId: tenantId })).entries.filter(
      ({ action }) => action === 'export-read',
    ).length
  const used = async () =>
    (await core.database.query('SELECT 1 FROM export_tickets WHERE used_at IS NOT NULL')).rowCount
  const change = (sql: string) => core.database.query(`UPDATE export_tickets SET ${sql}`)

  it('shows people a page with a button, so that scanners and link previews do not use it', async () => {
    const token = await newLink()
    const before = await uses()
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await call(method, token, html)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(isFile(page)).toBeUndefined()
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none';.*form-action 'self'/)
    }
    const { text } = await call('GET', token, html)
    expect(text).toContain('requests-2026-11-20.csv')
    expect(text).toMatch(/works once, until <time datetime="2026-11-20T12:15:00.000Z">12:15 UTC/)
    expect(text).toContain('<form method="post"><button>Download</button></form>')
    expect(text).not.toMatch(/<script|https?:|src=/)
    expect([await used(), await uses()]).toEqual([0, before])
    expect(isFile(await call('POST', token, html))).toBe(true)
  })

  it('requires a POST from programs', async () => {
    const token = await newLink()
    for (const accept of ['*/*', 'text/csv', '']) {
      const answer = await call('GET', token, { accept })
      expect([answer.status, answer.code, answer.headers.get('allow')]).toEqual([405, 'link-needs-post', 'POST'])
      expect(answer.text).toContain('curl -X POST')
      expect(answer.text).not.toContain(token)
    }
    expect((await call('HEAD', token)).status).toBe(405)
    expect(await used()).toBe(0)
    expect(isFile(await call('POST', token))).toBe(true)
  })

  it('returns its file once, and records the download', async () => {
    const token = await newLink()
    const before = await uses()
    expect(isFile(await call('POST', token))).toBe(true)
    const again = await call('POST', token)
    expect([again.status, again.code]).toEqual([410, 'link-used'])
    for (const method of ['GET', 'POST']) {
      const page = await call(method, token, html)
      expect(page.status).toBe(410)
      expect(page.text).toContain('This link was already used. It works only once.')
    }
    expect([await used(), await uses()]).toEqual([1, before + 1])
  })

  it('returns its file to one of many concurrent callers', async () => {
    const token = await newLink()
    const before = await uses()
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', token)))
    expect(answers.filter(isFile)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'link-used')).toHaveLength(9)
    expect(await uses()).toBe(before + 1)
  })

  it('is used up by an aborted download', async () => {
    const token = await newLink()
    const opened = await provisioning.system.openExport(token)
    expect(opened.state).toBe('open')
    expect(await provisioning.system.openExport(token)).toEqual({ state: 'used' })
  })

  it('works for 15 minutes', async () => {
    const token = await newLink()
    now = new Date(minutes(linkMinutes).getTime() - 1)
    expect((await call('GET', token, html)).status).toBe(200)
    now = minutes(linkMinutes)
    const answer = await call('POST', token)
    expect([answer.status, answer.code]).toEqual([410, 'link-expired'])
    expect(answer.text).not.toContain(token)
    expect((await call('GET', token, html)).text).toContain('This link has expired. It works for 15 minutes.')
    expect(await used()).toBe(0)
  })

  it('opens nothing with a longer life in its row', async () => {
    const { token, ticket } = sealTicket(key, ticketOf({ until: minutes(linkMinutes + 1) }))
    await expect(core.ports.exportTickets.issue([ticket])).rejects.toThrow(/check/)
    const later = sealTicket(key, ticketOf({ issuedAt: minutes(1), until: minutes(linkMinutes + 1) }))
    await core.ports.exportTickets.issue([later.ticket])
    for (const one of [token, later.token]) expect((await call('POST', one)).code).toBe('link-changed')
    expect(await used()).toBe(0)
  })

  it('opens nothing if it was sealed but not issued', async () => {
    const { token } = sealTicket(key, ticketOf())
    expect((await call('POST', token)).code).toBe('link-changed')
    expect((await call('GET', token)).code).toBe('link-changed')
  })

  it('cannot be created by a person with access to the database', async () => {
    const token = await newLink()
    const { rows } = await core.database.query<{ row: string }>(
      'SELECT to_jsonb(t)::text AS row FROM export_tickets AS t',
    )
    const { random = new Uint8Array() } = partsOfToken(token) ?? {}
    for (const { row } of rows)
      for (const encoding of ['base64url', 'base64', 'hex'] as const)
        expect(row).not.toContain(Buffer.from(random).toString(encoding))
    const own = randomBytes(64)
    const hash = createHash('sha256').update(own.subarray(0, 32)).digest('hex')
    await core.ports.exportTickets.issue([{ ...ticketOf(), hash }])
    expect((await call('POST', own.toString('base64url'))).code).toBe('link-changed')
    const { rows: settings } = await core.database.query(`SELECT name FROM settings WHERE name LIKE '%export%'`)
    expect(settings).toEqual([])
  })

  it.each([
    ['what it gives', `what = 'audit'`],
    ['the format', `format = 'json'`],
    ['the first day', `from_day = '2020-01-01'`],
    ['the last day', `to_day = '2030-01-01'`],
    ['the person', `what = 'person', person_id = '${kim.id}'`],
    ['the admin', `issued_by = '${dana.id}'`],
    ['the organisation', `tenant_id = '${randomUUID()}'`],
    ['its time', `issued_at = issued_at + interval '5 minutes', until = until + interval '5 minutes'`],
  ])('opens nothing after a change of its row: %s', async (_, sql) => {
    const token = await newLink()
    await change(sql)
    now = minutes(5)
    expect((await call('POST', token)).code).toBe('link-changed')
    expect(await used()).toBe(0)
  })

  it('opens nothing after any change of a letter, shortened, or in another encoding', async () => {
    const token = await newLink()
    const state = async (text: string) => (await provisioning.system.openExport(text)).state
    for (let place = 0; place < token.length; place += 1) {
      const changed = token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1)
      expect(await state(changed)).toBe('changed')
    }
    for (const other of ['', 'x', token.slice(1), `${token}A`, `${token}=`, ` ${token}`, 'A'.repeat(86)])
      expect(await state(other)).toBe('changed')
    expect((await call('POST', token.slice(0, -1))).status).toBe(404)
    expect(await used()).toBe(0)
  })

  it('opens nothing after its key was replaced, with the reason', async () => {
    const token = await newLink()
    const rotated = core.with({ clock }, { exportLinks: { root, key: exportKeyOf(Buffer.alloc(32, 4)) }, admins })
    expect(await rotated.system.openExport(token)).toEqual({ state: 'changed' })
    expect(await rotated.system.previewExport(token)).toEqual({ state: 'changed' })
    expect(isFile(await call('POST', token))).toBe(true)
  })

  it('opens nothing for a former or blocked admin, and stays unused', async () => {
    const token = await newLink()
    admins.pop()
    for (const method of ['GET', 'POST']) {
      const answer = await call(method, token)
      expect([answer.status, answer.code]).toEqual([403, 'link-refused'])
    }
    admins.push(priya.id)
    core.world.people.set(priya.id, { ...priya, isBlocked: true })
    expect((await call('POST', token, html)).status).toBe(403)
    core.world.people.set(priya.id, priya)
    expect(isFile(await call('POST', token))).toBe(true)
  })

  it('follows the same rules for the data of a person, and is deleted with the person', async () => {
    const offer = await provisioning.offerPersonExport(asAdmin, { personId: kim.id })
    const token = tokenOf(offer.url)
    const page = await call('GET', token, html)
    expect(page.text).toContain('Stored data of one person, JSON')
    expect(page.text).toContain(`person-${kim.id}.json`)
    const file = await call('POST', token)
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename="person-${kim.id}.json"`)
    const { records } = JSON.parse(file.text) as { records: { table: string; record: object }[] }
    const own = records.filter(({ table }) => table === 'export_tickets')
    expect(own).toHaveLength(1)
    expect(Object.keys(own[0]?.record ?? {})).not.toContain('hash')
    expect((await call('POST', token)).code).toBe('link-used')

    const left = async () => (await core.database.query('SELECT 1 FROM export_tickets')).rowCount
    await newLink()
    expect(await left()).toBe(5)
    await core.ports.personData.forget(tenantId, kim)
    expect(await left()).toBe(4)
    await core.ports.personData.forget(tenantId, priya)
    expect(await left()).toBe(0)
  })

  it('is reported as expired for a day, and deleted then', async () => {
    const token = await newLink()
    const stores = { ...core.ports, ...createStores(core.database) }
    await forgetOld(stores, minutes(linkMinutes + 24 * 60))
    now = minutes(linkMinutes + 24 * 60)
    expect((await call('POST', token)).code).toBe('link-expired')
    await forgetOld(stores, minutes(linkMinutes + 24 * 60 + 1))
    expect((await call('POST', token)).code).toBe('link-changed')
  })
})

describe('the state of a link', () => {
  const milliseconds = fc.integer({ min: -2_000_000, max: 2_000_000 })
  const at = (offset: number) => new Date(noon.getTime() + offset)
  const stored = fc
    .record({
      issuedAt: milliseconds.map(at),
      until: milliseconds.map(at),
      usedAt: fc.option(milliseconds.map(at)),
      what: fc.constantFrom('requests' as const, 'audit' as const, 'person' as const),
    })
    .map(({ usedAt, ...more }) => ({ usedAt, ...sealTicket(key, ticketOf(more)) }))

  it('is open only for 15 minutes, unused, under the key that sealed it', () => {
    fc.assert(
      fc.property(stored, milliseconds.map(at), fc.boolean(), ({ token, ticket, usedAt }, now, isOurKey) => {
        const parts = partsOfToken(token)
        if (!parts) throw new Error(`${token} has not the form of a link`)
        const whole: StoredTicket = { ...ticket, usedAt }
        const state = stateOfLink(isOurKey ? key : exportKeyOf(Buffer.alloc(32, 9)), parts, whole, now)
        const quarter = linkMinutes * 60_000
        const isWithin =
          now < ticket.until && +ticket.until - +now <= quarter && +ticket.until - +ticket.issuedAt <= quarter
        expect(state === 'open').toBe(isOurKey && usedAt === null && isWithin)
      }),
      { numRuns: 500 },
    )
  })

  it('depends on a key from EXPORT_SECRET, or else from the audit secret', async () => {
    const auditKey = randomBytes(32)
    const secret = randomBytes(32)
    const keyOf = async (more: Record<string, string>) => {
      const dataDir = mkdtempSync(join(inject('runFolder'), 'settings-'))
      const nobody = 'http://127.0.0.1:9'
      const tenant = { LOGIN_URL: nobody, DIRECTORY_URL: nobody, EXCHANGE_URL: nobody, SHAREPOINT_URL: nobody }
      const config = readConfig({ DATA_DIR: dataDir, ...tenant, ...more })
      return settingsOf(config, await findEndpoints(config), auditKey).exportLinks?.key
    }
    expect(await keyOf({})).toEqual(exportKeyOf(auditKey))
    expect(await keyOf({ EXPORT_SECRET: secret.toString('base64') })).toEqual(exportKeyOf(secret))
    expect(secretsOf(readConfig({ EXPORT_SECRET: secret.toString('base64') }))).toEqual([secret.toString('base64')])
    for (const short of ['c2hvcnQ=', 'not base64'])
      expect(() => readConfig({ EXPORT_SECRET: short })).toThrow(/EXPORT_SECRET must be (at least 32 bytes in )?base64/)
  })

  it('depends on a derived key, even if the secret has other uses', () => {
    const secret = randomBytes(32)
    expect(Buffer.from(exportKeyOf(secret)).equals(secret)).toBe(false)
    expect(exportKeyOf(secret)).toEqual(exportKeyOf(secret))
    expect(exportKeyOf(secret)).not.toEqual(exportKeyOf(randomBytes(32)))
  })
})

describe('the migration to issued links', () => {
  const store = withDatabase('embedded', { migrated: false })

  it('removes the key from the database, and keys of calls refused more than an hour ago', async () => {
    const { database } = store
    const folder = mkdtempSync(join(inject('runFolder'), 'migrations-'))
    cpSync('src/store/database/migrations', folder, { recursive: true })
    rmSync(join(folder, '021-export-tickets.sql'))
    await migrate(database, folder)
    await ownSetting(database, 'export-key', () => 'secret')
    const rows = [
      ['refused long ago', null, '6 days'],
      ['refused just now', null, '6 days 23 hours 30 minutes'],
      ['under way', 'f', '6 days'],
    ] as const
    for (const [name, fingerprint, left] of rows)
      await database.query(
        `INSERT INTO idempotency_keys (tenant_id, person_id, route, key, fingerprint, request_id, keep_until)
         VALUES ($1, $2, 'POST /x', $3, $4, $5, now() + $6::interval)`,
        [tenantId, kim.id, name, fingerprint, randomUUID(), left],
      )
    await migrate(database)
    expect((await database.query(`SELECT 1 FROM settings WHERE name = 'export-key'`)).rows).toEqual([])
    const { rows: kept } = await database.query<{ key: string }>('SELECT key FROM idempotency_keys ORDER BY key')
    expect(kept.map(({ key }) => key)).toEqual(['refused just now', 'under way'])
  })
})
