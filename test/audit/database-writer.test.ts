import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { system } from '../../src/core/index.ts'
import { missingNumbers, provedAll } from '../../src/store/audit/chain.ts'
import { createStores } from '../../src/store/index.ts'
import { auditKey } from '../support/audit-chains.ts'
import { withDatabase } from '../support/database.ts'
import { requestOf } from '../support/rest.ts'

const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8')
const [, section = ''] = page.split('## Write access to the database')

/** Changes by a person with write access, by the beginning of their row in docs/audit.md. */
const changes: readonly (readonly [row: string, sql: string, finds: string])[] = [
  [
    'an audit entry is changed',
    `UPDATE audit_log SET action = 'approved' WHERE request_id = $1 AND seq = 1`,
    'changed',
  ],
  ['an audit entry is changed', 'DELETE FROM audit_log WHERE request_id = $1 AND seq = 1', 'removed'],
  ['an audit entry is changed', 'DELETE FROM audit_log WHERE request_id = $1 AND seq = 2', 'removed'],
  ['the newest hash of a chain', `UPDATE audit_heads SET seal = repeat('0', 64) WHERE request_id = $1`, 'anchor'],
  [
    'a request is changed',
    `UPDATE requests SET body = body || '{"reason": "forged"}' WHERE request_id = $1`,
    'request',
  ],
  ['a request is changed', 'DELETE FROM requests WHERE request_id = $1', 'request'],
  [
    'all rows of one request are removed',
    `WITH entries AS (DELETE FROM audit_log WHERE request_id = $1), heads AS (DELETE FROM audit_heads WHERE request_id = $1)
     DELETE FROM requests WHERE request_id = $1`,
    'the gap',
  ],
  [
    'templates, delegations, drafts',
    `INSERT INTO delegations (delegation_id, tenant_id, person_id, delegate_id, until, body)
     SELECT $1::uuid, tenant_id, gen_random_uuid(), gen_random_uuid(), now() + interval '1 day', '{}' FROM requests LIMIT 1`,
    '',
  ],
]

describe('a change by a person with write access and without the key', () => {
  const store = withDatabase('embedded')
  let requestId: string
  beforeEach(async () => {
    const stores = createStores(store.database, auditKey)
    for (const number of [0, 1]) {
      const request = requestOf({ requestId: randomUUID(), number, version: 1 })
      const at = new Date().toISOString()
      const entry = { requestId: request.requestId, tenantId: request.tenantId, at, actor: system, action: 'pending' }
      await stores.audit.append([entry], { version: 1, after: request })
      await stores.audit.append([{ ...entry, action: 'overdue' }], { version: 1 })
      await stores.requests.insert(request)
      // The first of two requests, so that a higher number exists.
      if (number === 0) requestId = request.requestId
    }
  })

  it.each(changes)('is found or not, as docs/audit.md says: %s: %s', async (row, sql, finds) => {
    const [, says = ''] = new RegExp(`^\\| ${row}[^|]*\\| ([^|]+) \\|$`, 'm').exec(section) ?? []
    const gaps = (await missingNumbers(store.database)).length
    const { rowCount } = await store.database.query(sql, [requestId])
    expect(rowCount).toBe(1)
    const found: string[] = []
    for await (const proof of provedAll(store.database, auditKey))
      if (proof.requestId === requestId) found.push(...proof.findings.map(({ kind }) => kind))
    const isGap = (await missingNumbers(store.database)).length > gaps
    if (finds === '') expect([found, isGap, says]).toEqual([[], false, 'nothing'])
    else if (finds === 'the gap') expect([found, isGap, says.startsWith('the gap')]).toEqual([[], true, true])
    else expect([found.includes(finds), says.startsWith('a finding')]).toEqual([true, true])
  })
})
