import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openAudit } from '../../src/app/connections.ts'
import { createLog } from '../../src/app/log.ts'
import { type Environment, environment } from '../../src/app/settings.ts'
import { fingerprintOf, system } from '../../src/core/index.ts'
import { compareAuditKey, createStores, openDatabase, replaceAuditKey } from '../../src/store/index.ts'
import { engines, newStoreOptions } from '../support/database.ts'

const newKey = () => randomBytes(32)

describe.each(engines)('the audit key at the start of the service, %s', (engine) => {
  /** Creates a store and a function that starts a service with it and a key. */
  async function newStore() {
    const database = await openDatabase(await newStoreOptions(engine))
    onTestFinished(() => database.close())
    const lines: string[] = []
    const log = createLog('warn', [], (line) => void lines.push(line))
    const dataDir = mkdtempSync(join(inject('runFolder'), 'key-'))
    return {
      database,
      lines,
      dataDir,
      compare: (key: Uint8Array | undefined) => compareAuditKey((sql) => database.query(sql), key),
      start(key: Buffer, MODE: 'local' | 'production' = 'production') {
        const config: Environment = { ...environment.parse({}), MODE, AUDIT_SECRET: key.toString('base64') }
        return openAudit(database, config, { dataDir } as Parameters<typeof openAudit>[2], log)
      },
      async seals(key: Uint8Array) {
        const id = randomUUID()
        const entry = { requestId: id, tenantId: id, at: new Date().toISOString(), actor: system, action: 'late' }
        await createStores(database, key).audit.append([entry])
      },
    }
  }

  it('is recorded by its fingerprint at the first start; production then refuses any other key', async () => {
    const store = await newStore()
    const [own, other] = [newKey(), newKey()]
    await store.start(own)
    await store.start(own)
    const message = `AUDIT_SECRET (fingerprint ${fingerprintOf(other)}) is not the key that sealed this audit. The fingerprint of that key is ${fingerprintOf(own)}. Set AUDIT_SECRET to that key`
    await expect(store.start(other)).rejects.toThrow(message)
    expect([store.lines, readdirSync(store.dataDir)]).toEqual([[], []])
    expect(message).not.toContain(other.toString('base64'))
  })

  it('is logged in local mode when it differs, and is not recorded', async () => {
    const store = await newStore()
    const [own, other] = [newKey(), newKey()]
    await store.start(own, 'local')
    expect(Buffer.compare(await store.start(other, 'local'), other)).toBe(0)
    expect(store.lines.join()).toMatch(/is not the key that sealed this audit.*npm run audit:key -- --replace accepts/)
    expect(await store.compare(own)).toMatchObject({ fits: true })
  })

  it('is recognised by its seals in a store of an earlier version, which has no fingerprint', async () => {
    const store = await newStore()
    const [own, other] = [newKey(), newKey()]
    await store.start(own)
    await store.database.query(`DELETE FROM settings WHERE name = 'audit-key-fingerprint'`)
    for (let count = 0; count < 3; count += 1) await store.seals(own)
    await expect(store.start(other)).rejects.toThrow('is not the key that sealed this audit. Set')
    expect(await store.compare(undefined)).toEqual({ fits: false, fingerprint: undefined, needed: undefined })
    // One chain with another key, as an intruder may leave it, does not prevent a start.
    await store.seals(other)
    await store.start(own)
    expect(await store.compare(other)).toMatchObject({ fits: false, needed: fingerprintOf(own) })
  })

  it('is that of the first process when two processes start at the same time', async () => {
    const store = await newStore()
    const keys = [newKey(), newKey()]
    const results = await Promise.allSettled(keys.map((key) => store.start(key)))
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('can be replaced after its loss', async () => {
    const store = await newStore()
    const [lost, next] = [newKey(), newKey()]
    await store.start(lost)
    await replaceAuditKey(store.database, next)
    await store.start(next)
    await expect(store.start(lost)).rejects.toThrow('is not the key')
  })
})
