import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { createClient } from '../../src/client/index.ts'
import { emptyStore } from '../support/database.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { madeIn } from '../support/processes.ts'
import { templates } from '../support/service.ts'
import { people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'

/** Number of rooms; `npm run test:batch` requests 200, with the default rate limits. */
const rooms = Number(process.env['BATCH_ROOMS'] ?? 20)
const isLong = process.env['BATCH_ROOMS'] !== undefined
/** The short run has no rate limits, except for two rooms at a time. */
const limits: Record<string, string> = isLong
  ? {}
  : { RATE_LIMIT_WRITES_PER_MINUTE: '0', OPEN_REQUESTS_PER_PERSON: '4' }

describe('a batch of rooms in local mode', () => {
  let folder = ''
  let variables: Record<string, string> = {}
  let service: ProductProcess | undefined
  const start = async () => {
    service = await startProduct('main.ts', { cwd: folder, variables, up: /^Quartermaster answers/ })
  }
  beforeAll(async () => {
    folder = mkdtempSync(join(inject('runFolder'), 'batch-'))
    cpSync(await emptyStore(), join(folder, 'postgres'), { recursive: true })
    variables = {
      ...{ PORT: String(await freePort()), SIMULATOR_PORT: String(await freePort()), SIMULATOR_DIRECTORY_SECONDS: '0' },
      ...{ DATA_DIR: folder, PLAYGROUND: 'off', LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal', ...limits },
    }
    await start()
  })
  afterAll(async () => {
    await service?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it(`completes after the process was killed in the middle: ${rooms} rooms, each once`, {
    timeout: isLong ? 1_800_000 : 480_000,
  }, async () => {
    const baseUrl = `http://127.0.0.1:${variables['PORT']}`
    const simulator = `http://127.0.0.1:${variables['SIMULATOR_PORT']}`
    const client = createClient({
      ...{ baseUrl, retries: 8 },
      token: (resource) => tokenFor(simulator, people.kim.id, scopes[resource === 'mail' ? 'mail' : 'collab']),
    })
    const rows = Array.from({ length: rooms }, (_, place) => ({
      key: String(place + 1),
      body: {
        ...{ name: `desk-${place + 1}`, displayName: `Desk ${place + 1}`, templateId: templates.meetingRoom },
        metadata: { seats: 8 },
      },
    }))
    const trial = await client.tryBatch({ resource: 'mailbox', rows })
    expect(trial.rows.filter(({ status }) => status !== 'ok')).toEqual([])
    const idempotencyKey = 'rooms of the new building'
    const { batchId } = await client.createBatch({ resource: 'mailbox', rows }, { idempotencyKey })
    const half = await client.waitForBatch(batchId, {
      until: ({ requests: { succeeded = 0 } }) => succeeded >= rooms / 4,
    })
    expect(half.status).toBe('running')
    await service?.kill()
    await start()
    // A client that does not know the result sends the batch again.
    expect((await client.createBatch({ resource: 'mailbox', rows }, { idempotencyKey })).batchId).toBe(batchId)
    const whole = await client.waitForBatch(batchId)
    expect([whole.status, whole.rows.submitted, whole.requests]).toEqual(['finished', rooms, { succeeded: rooms }])
    const requestIds = new Set<string>()
    for await (const { key, request } of client.allBatchRows(batchId)) {
      const made = await client.getRequest(request?.requestId ?? '')
      expect([key, made.details.displayName]).toEqual([key, `Desk ${key}`])
      const found = madeIn(join(folder, 'simulator.sqlite'), made.requestId, `Desk ${key}`, `room-desk-${key}`)
      expect(found.mailboxes).toBe(1)
      requestIds.add(made.requestId)
    }
    const all: string[] = []
    for await (const { requestId } of client.allRequests()) all.push(requestId)
    expect([requestIds.size, all.length]).toEqual([rooms, rooms])
  })
})
