import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { reasonText } from '../../src/cards/index.ts'
import { type AuditEntry, from, type Ports, type Proof, type Request, system } from '../../src/core/index.ts'
import {
  auditKeyOf,
  chainExisting,
  createStores,
  type Database,
  keyFile,
  migrate,
  provedAll,
} from '../../src/store/index.ts'
import { auditKey } from '../support/audit-chains.ts'
import { actorOf, approversGroup, dana, kim, priya, tenantId, tenantWith, withCore } from '../support/core.ts'
import { engines, withDatabase } from '../support/database.ts'

const admin = actorOf(priya, true)
const uniqueName = (displayName: string) => ({ displayName: `${displayName} ${randomUUID().slice(0, 8)}` })

const insertion = `INSERT INTO audit_log (tenant_id, request_id, at, action, body)
  SELECT tenant_id, request_id, at, 'approved', body FROM audit_log WHERE entry = $1`

async function allProofs(database: Database): Promise<Proof[]> {
  const proofs: Proof[] = []
  for await (const proof of provedAll(database, auditKey)) proofs.push(proof)
  return proofs
}

describe.each(engines)('the audit in the store, %s', (engine) => {
  const core = withCore(engine)
  const ports = (): Partial<Ports> => ({ audit: createStores(core.database, auditKey).audit, tenant: tenantWith() })
  const service = () => core.with(ports())
  const findings = async (requestId: string) => (await service().readAudit(admin, { requestId })).findings

  async function made(withApproval = false): Promise<Request> {
    const stages = [{ approvers: [{ group: approversGroup }], rule: 'any' }]
    const template = await core.template(withApproval ? { approval: { stages } } : {})
    return service().submitSite(actorOf(kim), { body: { ...uniqueName('Site'), templateId: template.id } })
  }
  const entriesOf = async (requestId: string) =>
    (
      await core.database.query<{ entry: number; seq: number }>(
        'SELECT entry, seq FROM audit_log WHERE request_id = $1 ORDER BY entry',
        [requestId],
      )
    ).rows

  it('proves a request from submission to its end, and records the origin of each change', async () => {
    const { requestId } = await from({ from: 'rest', trace: 'call-1' }, () => made(true))
    await from({ from: 'chat', trace: 'call-2' }, () =>
      service().approve(actorOf(dana), { requestId, comment: 'Yes.' }),
    )
    await from({ from: 'job', trace: 'job-1' }, () =>
      service().system.provision(requestId, { lastAttempt: true, signal: AbortSignal.timeout(60_000) }),
    )
    const report = await service().readAudit(admin, { requestId })
    expect(report.findings).toEqual([])
    expect(report.proved).toBe(true)
    expect(report.entries.slice(0, 4).map(({ action, from, traceId }) => [action, from, traceId])).toEqual([
      ['pendingApproval', 'rest', 'call-1'],
      ['approved', 'chat', 'call-2'],
      ['queued', 'chat', 'call-2'],
      ['provisioning', 'job', 'job-1'],
    ])
    expect(report.entries.at(-1)).toMatchObject({ action: 'succeeded', from: 'job', actor: { kind: 'system' } })
    expect(report.entries[1]).toMatchObject({ actor: { displayName: 'Dana Fox' }, comment: 'Yes.', version: 2 })
  })

  it('keeps one chain during 50 concurrent changes', async () => {
    const { requestId } = await made()
    const audit = ports().audit
    const say = (number: number): AuditEntry => {
      const at = new Date().toISOString()
      return { requestId, tenantId, at, actor: system, action: `noted-${number}` }
    }
    await Promise.all(Array.from({ length: 50 }, (_, number) => audit?.append([say(number)])))
    const entries = await entriesOf(requestId)
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 51 }, (_, index) => index + 1))
    expect(await findings(requestId)).toEqual([])
  })

  it.each([
    ['changed', `UPDATE audit_log SET body = body || '{"comment":"No."}' WHERE entry = $1`, 'changed 2'],
    ['moved in time', `UPDATE audit_log SET at = at + interval '1 microsecond' WHERE entry = $1`, 'changed 2'],
    ['fromSetting another actor', `UPDATE audit_log SET actor_id = '${randomUUID()}' WHERE entry = $1`, 'changed 2'],
    ['removed', 'DELETE FROM audit_log WHERE entry = $1', 'removed 2'],
    ['inserted', insertion, 'inserted null'],
  ])('names an entry that was %s outside the service', async (_, sql, named) => {
    const { requestId } = await made(true)
    await service().approve(actorOf(dana), { requestId, comment: 'Yes.' })
    expect(await findings(requestId)).toEqual([])
    const [, second] = await entriesOf(requestId)
    await core.database.query(sql, [second?.entry])
    expect((await findings(requestId)).map(({ kind, entry }) => `${kind} ${entry}`)).toEqual([named])
  })

  it('names a removed last entry, also with an adapted head and later entries', async () => {
    const { requestId } = await made(true)
    await service().approve(actorOf(dana), { requestId, comment: 'Yes.' })
    const last = (await entriesOf(requestId)).at(-1)
    await core.database.query('DELETE FROM audit_log WHERE entry = $1', [last?.entry])
    expect((await findings(requestId)).map(({ kind, entry }) => `${kind} ${entry}`)).toEqual(['removed 3'])
    await core.database.query(
      `UPDATE audit_heads SET (seq, hash) = (SELECT seq, hash FROM audit_log WHERE request_id = $1 AND seq = 2)
       WHERE request_id = $1`,
      [requestId],
    )
    expect((await findings(requestId)).map(({ kind }) => kind)).toEqual(['anchor'])
    await service().cancelRequest(actorOf(kim), { requestId })
    expect((await findings(requestId)).map(({ kind }) => kind)).toContain('anchor')
  })

  it('finds a request that was changed outside the service, and one that was deleted with all entries', async () => {
    const { requestId } = await made(true)
    await core.database.query(`UPDATE requests SET body = body || '{"reason":"Mine"}' WHERE request_id = $1`, [
      requestId,
    ])
    expect((await findings(requestId)).map(({ kind }) => kind)).toEqual(['request'])
    const other = await made(true)
    await core.database.query('DELETE FROM requests WHERE request_id = $1', [other.requestId])
    expect((await findings(other.requestId)).map(({ kind }) => kind)).toEqual(['request'])
  })

  it('checks all other chains without findings', async () => {
    const { requestId } = await made()
    await core.database.query(`UPDATE audit_log SET trace = 'x' WHERE request_id = $1`, [requestId])
    const proofs = await allProofs(core.database)
    expect(new Set(proofs.map((proof) => proof.requestId)).size).toBe(proofs.length)
    const proof = proofs.find((one) => one.requestId === requestId)
    expect(proof?.findings.map(({ kind, entry }) => `${kind} ${entry}`)).toEqual(['changed 1'])
    const { rows } = await core.database.query<{ count: number }>('SELECT count(*)::int AS count FROM audit_heads')
    expect(proofs.length).toBe(rows[0]?.count)
  })

  it('erases the texts of a person and keeps the proof', async () => {
    const { requestId } = await made(true)
    await service().approve(actorOf(dana), { requestId, comment: 'Secret words.' })
    const audit = ports().audit
    expect(
      await from({ from: 'command line' }, async () =>
        audit?.erase({ id: dana.id, displayName: '', userPrincipalName: '' }, new Date()),
      ),
    ).toBeGreaterThan(0)
    const { rows } = await core.database.query<{ body: unknown; salt: unknown; seq: number }>(
      'SELECT seq, body, salt FROM audit_log WHERE request_id = $1 AND body IS NULL',
      [requestId],
    )
    expect(rows).toEqual([{ seq: 2, body: null, salt: null }])
    const report = await service().readAudit(admin, { requestId })
    expect(report.findings).toEqual([])
    expect(report.entries[1]).toMatchObject({
      erased: true,
      action: 'approved',
      actor: { id: dana.id, displayName: '' },
    })
    expect(report.entries.at(-1)).toMatchObject({ action: 'text-erased', from: 'command line', data: { entries: [2] } })
    expect(JSON.stringify(await service().readTimeline(admin, { requestId }))).not.toMatch(/Secret|Dana/)
    expect(await audit?.erase({ id: dana.id, displayName: '', userPrincipalName: '' }, new Date())).toBe(0)
  })

  it('proves only with the key that sealed it, and continues without seals under another key', async () => {
    const { requestId } = await made(true)
    const other = createStores(core.database, Buffer.alloc(32, 9)).audit
    expect((await other.prove(requestId))?.findings.map(({ kind }) => kind)).toEqual(['anchor'])
    await core.with({ ...ports(), audit: other }).cancelRequest(actorOf(kim), { requestId })
    expect((await findings(requestId)).map(({ kind }) => kind)).toEqual(['anchor'])
  })

  it('is hidden from people who are not admins, and missing for unknown requests', async () => {
    const { requestId } = await made()
    await expect(service().readAudit(actorOf(kim), { requestId })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(service().readAudit(admin, { requestId: randomUUID() })).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe.each(engines)('a store from a version without chains, %s', (engine) => {
  const store = withDatabase(engine, { migrated: false })
  const migrations = fileURLToPath(new URL('../../src/store/database/migrations/', import.meta.url))

  it('is chained unchanged, once, and proves after a restart', async () => {
    const older = mkdtempSync(join(inject('runFolder'), 'older-'))
    for (const file of readdirSync(migrations).filter((name) => name < '007'))
      cpSync(join(migrations, file), join(older, file))
    await migrate(store.database, older)
    const ids = Array.from({ length: 30 }, () => randomUUID())
    const lines = ids.flatMap((requestId, index) =>
      Array.from({ length: 1 + (index % 3) }, (_, line) => ({
        ...{
          requestId,
          tenantId,
          at: new Date(1.8e12 + line).toISOString(),
          action: `line-${line}`,
          unknown: { to: 'us' },
        },
        actor: line === 0 ? { id: kim.id, displayName: 'Kim', userPrincipalName: 'kim' } : system,
      })),
    )
    for (const { requestId, at, action, ...line } of lines)
      await store.database.query(
        'INSERT INTO audit_log (tenant_id, request_id, at, action, body) VALUES ($1, $2, $3, $4, $5)',
        [tenantId, requestId, at, action, { requestId, at, action, ...line }],
      )
    const completions = { 7: () => chainExisting(store.database, auditKey) }
    // All later migrations run too.
    expect((await migrate(store.database, undefined, completions))[0]).toBe(7)
    expect(await migrate(store.database, undefined, completions)).toEqual([])
    const database = await store.reopen()
    const proofs = await allProofs(database)
    expect(proofs.map(({ requestId }) => requestId)).toEqual([...ids].sort())
    // These entries have no requests.
    expect(new Set(proofs.flatMap(({ findings }) => findings.map(({ reason }) => reasonText(reason))))).toEqual(
      new Set(['The request no longer exists.']),
    )
    expect(proofs[0]?.entries[0]).toMatchObject({ seq: 1, actorId: kim.id, from: 'migration', version: null })
    const [id] = ids
    await database.query(`UPDATE audit_log SET body = body || '{"comment":"x"}' WHERE request_id = $1 AND seq = 1`, [
      id,
    ])
    const proof = await createStores(database, auditKey).audit.prove(id ?? '')
    expect(proof?.findings[0]).toMatchObject({ kind: 'changed', entry: 1 })
  })
})

describe('the key of the seals', () => {
  it('is created once with mode 600, or comes from the setting', () => {
    const dataDir = mkdtempSync(join(inject('runFolder'), 'key-'))
    const key = auditKeyOf(dataDir, undefined)
    expect(key).toHaveLength(32)
    expect(statSync(keyFile(dataDir)).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['audit.key'])
    expect(auditKeyOf(dataDir, undefined)).toEqual(key)
    const fromSetting = auditKeyOf(dataDir, auditKey.toString('base64'))
    expect(Buffer.compare(fromSetting, auditKey)).toBe(0)
  })

  it('is created on a disk without hard links', () => {
    const dataDir = mkdtempSync(join(inject('runFolder'), 'key-'))
    const refusing = (code: string) => () => {
      throw Object.assign(new Error(`${code}: link`), { code })
    }
    expect(() => auditKeyOf(dataDir, undefined, refusing('EIO'))).toThrow('EIO')
    expect(readdirSync(dataDir)).toEqual([])
    const key = auditKeyOf(dataDir, undefined, refusing('EPERM'))
    expect(auditKeyOf(dataDir, undefined)).toEqual(key)
    expect([readdirSync(dataDir), statSync(keyFile(dataDir)).mode & 0o777]).toEqual([['audit.key'], 0o600])
  })
})
