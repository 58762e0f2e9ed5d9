import { cpSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { moveStore } from '../../src/app/commands/move-store.ts'
import { readConfig } from '../../src/app/config.ts'
import { type App, createApp } from '../../src/app/index.ts'
import { migrate, openDatabase } from '../../src/store/index.ts'
import { type Connector, startConnector } from '../support/connector.ts'
import { emptyStore, newDatabaseUrl } from '../support/database.ts'
import { templates } from '../support/service.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'

describe('a move from the embedded store to a server', () => {
  let app: App
  let connector: Connector
  let dataDir: string
  let databaseUrl: string
  const start = async (more: Record<string, string> = {}) => {
    const quick = { SIMULATOR_PORT: '0', SIMULATOR_DIRECTORY_SECONDS: '0', PLAYGROUND: 'off', LOG_LEVEL: 'fatal' }
    app = await createApp(readConfig({ PORT: '0', ...quick, DATA_DIR: dataDir, ...more }))
  }
  const call = async (who: keyof typeof people, method: string, path: string, body?: object) => {
    const simulatorUrl = app.endpoints.simulator?.url ?? ''
    const token = await tokenFor(simulatorUrl, people[who].id, scopes.collab)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'k' }
    const response = await fetch(`${app.url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Record<string, unknown>
  }
  const body = (displayName: string) => ({
    ...{ templateId: templates.projectSite, displayName, description: '“Süd” – 漢字 🚀' },
    metadata: { costCentre: '4711', audience: 'internal' },
  })

  beforeAll(async () => {
    dataDir = mkdtempSync(join(inject('runFolder'), 'move-'))
    cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
    databaseUrl = await newDatabaseUrl()
    connector = await startConnector()
    await start()
  })
  afterAll(async () => {
    await app.close()
    await connector.close()
  })

  it('keeps waiting requests, which are approved and created there', async () => {
    const dana = new TeamsUser(() => app.url, connector, people.dana)
    await dana.installs()
    const accepted = await call('kim', 'POST', '/collab/v1/spo/', body('Aurora'))
    const card = await dana.sees(/Your decision, please/)
    const path = `/requests/v1/${accepted['requestId']}`
    const luna = { resource: 'site', rows: [{ key: '1', body: body('Luna') }] }
    const many = await call('kim', 'POST', '/requests/v1/batch', luna)
    const rowsPath = `/batches/v1/${many['batchId']}/rows`
    await dana.sees(/Luna/)
    const refreshes = `SELECT 1 FROM pgboss.job WHERE name = 'refresh-batch' AND state NOT IN ('completed', 'failed')`
    await until(async () => (await app.database.query(refreshes)).rows.length === 0, 'all updates of the batch’s cards')
    const rowsBefore = await call('kim', 'GET', rowsPath)
    const before = await call('kim', 'GET', path)
    const timeline = await call('kim', 'GET', `${path}/timeline`)
    await expect(moveStore({ dataDir, databaseUrl })).rejects.toThrow('The service uses ')
    // A job that is due on the server, in addition to the approval timer.
    const job = { name: 'follow-up', payload: { v: 1, requestId: accepted['requestId'], look: 0 } }
    await app.queue.enqueue(job.name, job.payload, { startAfter: new Date(Date.now() + 3_600_000) })
    await app.close()

    const moved = await moveStore({ dataDir, databaseUrl })
    expect(moved).toMatchObject({
      ...{ requests: 2, templates: Object.keys(templates).length, waitingJobs: 3 },
    })
    await start({ DATABASE_URL: databaseUrl })
    expect(app.database.engine).toBe('server')
    expect(await call('kim', 'GET', path)).toEqual(before)
    expect(await call('kim', 'GET', `${path}/timeline`)).toEqual(timeline)
    expect(await call('kim', 'GET', rowsPath)).toEqual(rowsBefore)
    expect(await call('kim', 'POST', '/collab/v1/spo/', body('Aurora'))).toEqual(accepted)

    await dana.clicks(card, 'Approve', { comment: '' })
    const ready = await until(async () => {
      const request = await call('kim', 'GET', path)
      return request['status'] === 'succeeded' ? request : undefined
    }, 'the site')
    expect(ready).toMatchObject({
      reference: before['reference'],
      problem: null,
      resource: { url: expect.any(String) },
    })
    const { rows } = await app.database.query(
      `select state, heartbeat_seconds > 0 as beats from pgboss.job where start_after > now() + interval '50 minutes'`,
    )
    expect(rows).toEqual([{ state: 'created', beats: true }])
    const next = await call('sam', 'POST', '/collab/v1/spo/', body('Borealis'))
    expect((await call('sam', 'GET', `/requests/v1/${next['requestId']}`))['reference']).toBe('REQ-1003')
  })

  it('is refused if the server has data already, and changes nothing there', async () => {
    const target = { dataDir, databaseUrl: await newDatabaseUrl() }
    const server = await openDatabase(target)
    await expect(moveStore({ dataDir, databaseUrl })).rejects.toThrow(/already has data \(.*requests.*empty/)
    await moveStore(target)
    await expect(moveStore(target)).rejects.toThrow(/already has data/)
    expect((await server.query('select count(*) as count from requests')).rows).toEqual([{ count: 2 }])
    await server.close()
  })

  it('has no effect when it fails in the middle', async () => {
    const target = { dataDir, databaseUrl: await newDatabaseUrl() }
    const server = await openDatabase(target)
    await migrate(server)
    // Requests are moved before templates, and the server refuses these templates.
    await server.query('alter table templates add check (version > 1000)')
    await expect(moveStore(target)).rejects.toThrow()
    for (const table of ['requests', 'audit_log', 'settings', 'pgboss.job'])
      expect((await server.query(`select * from ${table}`)).rows).toEqual([])
    await server.close()
  })
})
