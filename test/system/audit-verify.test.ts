import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type Request, system } from '../../src/core/index.ts'
import { createStores, type Database, keyFile, migrate, openDatabase } from '../../src/store/index.ts'
import { auditKey } from '../support/audit-chains.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { engines, newDatabaseUrl, newStoreOptions } from '../support/database.ts'
import { requestOf } from '../support/rest.ts'

const entry = fileURLToPath(new URL('../../src/app/commands/audit-verify.ts', import.meta.url))

interface Ended {
  readonly code: number
  readonly output: string
}
/** Runs the command in its own process, in a folder without a `.env`. */
function verifies(variables: Record<string, string>): Promise<Ended> {
  const env = { ...bareEnvironment, ...variables }
  return new Promise((resolve) => {
    execFile(process.execPath, [entry], { env, cwd: inject('runFolder') }, (error, out, complaints) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: out + complaints }),
    )
  })
}

describe.each(engines)('npm run audit:verify for a whole store, %s,', (engine) => {
  let variables: Record<string, string>
  let requests: Request[]
  const over = async <T>(work: (database: Database) => Promise<T>): Promise<T> => {
    const dataDir = variables['DATA_DIR'] ?? ''
    const url = variables['DATABASE_URL']
    const database = await openDatabase({ dataDir, ...(url !== undefined && { databaseUrl: url }) })
    return work(database).finally(() => database.close())
  }

  beforeAll(async () => {
    if (engine === 'embedded') variables = { DATA_DIR: (await newStoreOptions('embedded')).dataDir }
    else
      variables = { DATA_DIR: mkdtempSync(join(inject('runFolder'), 'verify-')), DATABASE_URL: await newDatabaseUrl() }
    writeFileSync(keyFile(variables['DATA_DIR'] ?? ''), auditKey.toString('base64'))
    requests = await over(async (database) => {
      await migrate(database)
      const stores = createStores(database, auditKey)
      const made: Request[] = []
      for (let number = 0; number < 3; number += 1) {
        const { requestId, tenantId, ...rest } = requestOf({ requestId: randomUUID(), number, version: 1 })
        const request: Request = { requestId, tenantId, ...rest }
        const at = new Date().toISOString()
        const entry = { requestId, tenantId, at, actor: system, action: 'pendingApproval' }
        await stores.audit.append([entry], { version: 1, after: request })
        await stores.audit.append([{ ...entry, action: 'overdue' }], { version: 1 })
        const stored = await stores.requests.insert(request)
        if (stored) made.push(stored)
      }
      return made
    })
  })

  it('reports that all entries are unchanged', async () => {
    const output = '3 requests with 6 entries. No entry was changed or is missing.\n'
    expect(await verifies(variables)).toEqual({ code: 0, output })
    const secret = { AUDIT_SECRET: auditKey.toString('base64') }
    expect(await verifies({ ...variables, ...secret })).toEqual({ code: 0, output })
  })

  it('counts the organisation’s own entries separately, and reports their faults', async () => {
    const organisation = requests[0]?.tenantId ?? ''
    await over(async (database) => {
      const entry = { requestId: organisation, tenantId: organisation, actor: system, action: 'certificate-read' }
      await createStores(database, auditKey).audit.append([{ ...entry, at: new Date().toISOString() }])
    })
    const all = '3 requests with 6 entries, and 1 entry of the organisation.'
    expect(await verifies(variables)).toEqual({ code: 0, output: `${all} No entry was changed or is missing.\n` })
    const change = `UPDATE audit_log SET action = 'seen' WHERE request_id = $1`
    await over((database) => database.query(change, [organisation]))
    const { code, output } = await verifies(variables)
    expect([code, output]).toEqual([1, expect.stringContaining(`The audit of the organisation (${organisation})\n`)])
    expect(output).toContain('was changed after it was written.')
    await over(async (database) => {
      for (const table of ['audit_log', 'audit_heads'])
        await database.query(`DELETE FROM ${table} WHERE request_id = $1`, [organisation])
    })
  })

  it('reports each finding, and exits with 1', async () => {
    const [one, other] = requests
    await over(async (database) => {
      await database.query('DELETE FROM audit_log WHERE request_id = $1 AND seq = 2', [one?.requestId])
      await database.query(`UPDATE audit_log SET action = 'approved' WHERE request_id = $1 AND seq = 1`, [
        other?.requestId,
      ])
    })
    const { code, output } = await verifies(variables)
    expect(code).toBe(1)
    expect(output).toContain(`REQ-${one?.number} (${one?.requestId})\n  Entry 2 was removed.\n`)
    expect(output).toMatch(
      new RegExp(`REQ-${other?.number} .*\\n  Entry 1 \\(approved, .*\\) was changed after it was written\\.`),
    )
    expect(output).toContain('3 requests with 5 entries. Changed: 2, missing: 0.')
  })

  it('reports a request without any entry left', async () => {
    const [, , third] = requests
    await over(async (database) => {
      for (const table of ['requests', 'audit_log', 'audit_heads'])
        await database.query(`DELETE FROM ${table} WHERE request_id = $1`, [third?.requestId])
      await database.query('UPDATE counters SET last_number = last_number + 1')
    })
    const { code, output } = await verifies(variables)
    expect(code).toBe(1)
    expect(output).toMatch(
      new RegExp(`REQ-${third?.number} is missing\nREQ-${Number(third?.number) + 1} is missing\n2 requests`),
    )
  })

  it('requires the key', async () => {
    const { code, output } = await verifies({
      ...variables,
      AUDIT_SECRET: Buffer.alloc(32, 9).toString('base64'),
    })
    expect([code, output]).toEqual([1, expect.stringContaining('has the seal of another service')])
  })
})

describe('npm run audit:verify', () => {
  it('reports that the service must be stopped for the embedded store, and missing settings', async () => {
    const { dataDir } = await newStoreOptions('embedded')
    expect(await verifies({ DATA_DIR: dataDir })).toEqual({
      code: 1,
      output: expect.stringContaining('The audit key is missing'),
    })
    writeFileSync(keyFile(dataDir), auditKey.toString('base64'))
    expect((await verifies({ DATA_DIR: dataDir })).output).toContain('has an earlier version')
    const database = await openDatabase({ dataDir })
    expect((await verifies({ DATA_DIR: dataDir })).output).toMatch(/The service uses .* Stop it first/)
    await database.close()
  })
})
