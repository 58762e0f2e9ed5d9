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
  readonly said: string
}
/** The command in a process of its own, in a folder without a `.env`. */
function verifies(variables: Record<string, string>): Promise<Ended> {
  const env = { ...bareEnvironment, ...variables }
  return new Promise((resolve) => {
    execFile(process.execPath, [entry], { env, cwd: inject('runFolder') }, (error, out, complaints) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: out + complaints }),
    )
  })
}

describe.each(engines)('the audit of a whole store, by command, %s', (engine) => {
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
        const said = { requestId, tenantId, at, actor: system, action: 'pendingApproval' }
        await stores.audit.append([said], { version: 1, after: request })
        await stores.audit.append([{ ...said, action: 'overdue' }], { version: 1 })
        const stored = await stores.requests.insert(request)
        if (stored) made.push(stored)
      }
      return made
    })
  })

  it('says that all is as it was written', async () => {
    const said = '3 requests with 6 entries. All is as it was written.\n'
    expect(await verifies(variables)).toEqual({ code: 0, said })
    const secret = { AUDIT_SECRET: auditKey.toString('base64') }
    expect(await verifies({ ...variables, ...secret })).toEqual({ code: 0, said })
  })

  it('counts the organisation’s own entries apart, and names what is wrong with them', async () => {
    const organisation = requests[0]?.tenantId ?? ''
    await over(async (database) => {
      const said = { requestId: organisation, tenantId: organisation, actor: system, action: 'certificate-read' }
      await createStores(database, auditKey).audit.append([{ ...said, at: new Date().toISOString() }])
    })
    const all = '3 requests with 6 entries, and 1 of the organisation’s own.'
    expect(await verifies(variables)).toEqual({ code: 0, said: `${all} All is as it was written.\n` })
    const seen = `UPDATE audit_log SET action = 'seen' WHERE request_id = $1`
    await over((database) => database.query(seen, [organisation]))
    const { code, said } = await verifies(variables)
    expect([code, said]).toEqual([1, expect.stringContaining(`The organisation’s own entries (${organisation})\n`)])
    expect(said).toContain('was changed after it was written.')
    await over(async (database) => {
      for (const table of ['audit_log', 'audit_heads'])
        await database.query(`DELETE FROM ${table} WHERE request_id = $1`, [organisation])
    })
  })

  it('names each finding, and ends with 1', async () => {
    const [one, other] = requests
    await over(async (database) => {
      await database.query('DELETE FROM audit_log WHERE request_id = $1 AND seq = 2', [one?.requestId])
      await database.query(`UPDATE audit_log SET action = 'approved' WHERE request_id = $1 AND seq = 1`, [
        other?.requestId,
      ])
    })
    const { code, said } = await verifies(variables)
    expect(code).toBe(1)
    expect(said).toContain(`REQ-${one?.number} (${one?.requestId})\n  Entry 2 was removed.\n`)
    expect(said).toMatch(
      new RegExp(`REQ-${other?.number} .*\\n  Entry 1 \\(approved, .*\\) was changed after it was written\\.`),
    )
    expect(said).toContain('3 requests with 5 entries. Of 2 not everything is as it was written, 0 are gone.')
  })

  it('names a request of which nothing is left', async () => {
    const [, , third] = requests
    await over(async (database) => {
      for (const table of ['requests', 'audit_log', 'audit_heads'])
        await database.query(`DELETE FROM ${table} WHERE request_id = $1`, [third?.requestId])
      await database.query('UPDATE counters SET last_number = last_number + 1')
    })
    const { code, said } = await verifies(variables)
    expect(code).toBe(1)
    expect(said).toMatch(
      new RegExp(`REQ-${third?.number} is gone\nREQ-${Number(third?.number) + 1} is gone\n2 requests`),
    )
  })

  it('needs the key', async () => {
    const { code, said } = await verifies({ ...variables, AUDIT_SECRET: Buffer.alloc(32, 9).toString('base64') })
    expect([code, said]).toEqual([1, expect.stringContaining('does not have the seal of this service')])
  })
})

describe('the command', () => {
  it('says that the service has to be stopped over the embedded store, and what is missing', async () => {
    const { dataDir } = await newStoreOptions('embedded')
    expect(await verifies({ DATA_DIR: dataDir })).toEqual({ code: 1, said: expect.stringContaining('There is no key') })
    writeFileSync(keyFile(dataDir), auditKey.toString('base64'))
    expect((await verifies({ DATA_DIR: dataDir })).said).toContain('of an earlier version')
    const database = await openDatabase({ dataDir })
    expect((await verifies({ DATA_DIR: dataDir })).said).toMatch(/The service runs over .* Stop it first/)
    await database.close()
  })
})
