import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { createStores, migrate, openDatabase } from '../../src/store/index.ts'
import { withDatabase } from '../support/database.ts'

const own = fileURLToPath(new URL('../../src/store/database/migrations/', import.meta.url))
/** Changes that the next version may make while the present version still runs. */
const additive = `
  ALTER TABLE requests ADD COLUMN colour text;
  ALTER TABLE idempotency_keys ADD COLUMN colour text NOT NULL DEFAULT 'grey';
  ALTER TABLE settings ADD COLUMN colour text;
  ALTER TABLE inbox ADD COLUMN colour text;
  ALTER TABLE drafts ADD COLUMN colour text;
  CREATE TABLE colours (name text PRIMARY KEY);
  CREATE INDEX requests_by_colour ON requests (colour);`

describe('a rolling update', () => {
  const store = withDatabase('server')

  it('lets a running old process continue on a migrated store, and refuses its restart', async () => {
    const newer = mkdtempSync(join(inject('runFolder'), 'newer-'))
    cpSync(own, newer, { recursive: true })
    writeFileSync(join(newer, '900-colours.sql'), additive)
    const { idempotency, requests, inbox } = createStores(store.database)
    const failures: unknown[] = []
    let rounds = 0
    const work = async () => {
      rounds += 1
      const at = new Date()
      const key = { tenantId: randomUUID(), personId: randomUUID(), route: 'POST /x', key: 'k' }
      const [requestId, leaseUntil] = [randomUUID(), new Date(at.getTime() + 10_000)]
      const attempt = { fingerprint: 'a', requestId, holder: 'h', at, leaseUntil, keepUntil: leaseUntil }
      await idempotency.claim(key, attempt)
      expect(await idempotency.claim(key, attempt)).toEqual({ state: 'in-flight' })
      await requests.list({ tenantId: key.tenantId, limit: 5 })
      expect(await inbox.claim({ channel: 'x', conversationId: requestId, activityId: 'a' })).toMatchObject({
        isFirst: true,
      })
    }
    let going = true
    const goOn = async () => {
      while (going) await work().catch((error: unknown) => failures.push(error))
    }
    // Several connections, each with prepared plans from before the migration.
    const workers = Array.from({ length: 8 }, goOn)
    const later = await openDatabase(store.options)
    await expect.poll(() => rounds, { timeout: 60_000 }).toBeGreaterThan(50)
    expect(await migrate(later, newer)).toEqual([900])
    const then = rounds
    await expect.poll(() => rounds, { timeout: 60_000 }).toBeGreaterThan(then + 50)
    going = false
    await Promise.all(workers)
    expect(failures).toEqual([])
    await later.close()
    await expect(migrate(store.database)).rejects.toThrow(
      'The store has migration 900 (colours), which this version does not know. Start a version that is at least as new as the store.',
    )
  })
})
