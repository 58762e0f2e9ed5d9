import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createMetrics, createReadings, definitions } from '../../src/app/metrics.ts'
import { openStates } from '../../src/core/index.ts'
import { startIssuer, startRest } from '../support/rest.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** One sample of a text in Prometheus's format. */
interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
const samplesOf = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', value = '']) => [key, value])
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
/** Returns the sum of all samples of a name that have at least these labels. */
const sum = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number =>
  samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((total, { value }) => total + value, 0)

describe('the metrics of a running service', () => {
  const service = withService()
  const read = async () => {
    const response = await fetch(`${service.app.url}/metrics`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    return samplesOf(await response.text())
  }

  it('count commands, clicks, created resources, calls and sent cards', async () => {
    const { kim } = service
    await kim.installs()
    await kim.says('help')
    await kim.says('what a strange thing to say')
    await kim.says('admin queue')
    await kim.invokes('1', 'no.such.verb', {})
    const body = { displayName: 'Measured Lyra', templateId: templates.workingGroup }
    expect((await service.rest('kim', 'POST', '/collab/v1/spo/', body)).status).toBe(202)
    await kim.sees(/Your site is ready/)
    expect((await service.rest('kim', 'GET', '/no/such/address')).status).toBe(404)
    await until(async () => sum(await read(), 'quartermaster_cards_total', { how: 'send' }) || undefined, 'the card')
    const samples = await read()

    const turns = (labels: Record<string, string>) => sum(samples, 'quartermaster_turns_total', labels)
    expect(turns({ kind: 'message', what: 'help', outcome: 'done' })).toBe(1)
    expect(turns({ kind: 'message', what: 'unknown' })).toBe(1)
    expect(turns({ kind: 'message', what: 'admin queue', outcome: 'refused' })).toBe(1)
    expect(turns({ kind: 'click', what: 'unknown', outcome: 'refused' })).toBe(1)
    expect(turns({ kind: 'install', outcome: 'done' })).toBe(1)
    expect(sum(samples, 'quartermaster_turn_duration_seconds_count')).toBe(5)
    const http = (labels: Record<string, string>) => sum(samples, 'quartermaster_http_requests_total', labels)
    expect(http({ method: 'POST', route: '/collab/v1/spo', status: '2xx' })).toBe(1)
    expect(http({ method: 'any', route: 'none', status: '4xx' })).toBe(1)
    expect(http({ route: '/api/messages', status: '2xx' })).toBe(5)
    for (const state of ['queued', 'provisioning', 'succeeded'])
      expect(sum(samples, 'quartermaster_request_transitions_total', { state })).toBe(1)
    expect(sum(samples, 'quartermaster_job_attempts_total', { job: 'provision', outcome: 'done' })).toBeGreaterThan(0)
    expect(sum(samples, 'quartermaster_job_wait_seconds_count', { job: 'provision' })).toBeGreaterThan(0)
    const made = { service: 'Microsoft Graph', purpose: 'creating the group', status: '2xx' }
    expect(sum(samples, 'quartermaster_outgoing_calls_total', made)).toBeGreaterThan(0)
    for (const name of ['quartermaster_outgoing_calls_running', 'quartermaster_outgoing_calls_waiting'])
      expect(samples.filter((one) => one.name === name)).toMatchObject([
        { labels: { service: 'Microsoft Graph' } },
        { labels: { service: 'SharePoint' } },
        { labels: { service: 'Exchange Online' } },
      ])
    expect(sum(samples, 'quartermaster_webhook_attempts_total', { subscriber: 'bot', outcome: 'delivered' })).toBe(1)
    expect(sum(samples, 'quartermaster_cards_total', { how: 'send', outcome: 'written' })).toBeGreaterThan(0)
    expect(sum(samples, 'quartermaster_store_up')).toBe(1)
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
      expect(sum(samples, name)).toBeGreaterThan(0)
  })

  it('have a help text, a unit in the name, and only labels from fixed lists', async () => {
    const response = await fetch(`${service.app.url}/metrics`)
    const text = await response.text()
    for (const [name, { type, help }] of Object.entries(definitions)) {
      expect(text).toContain(`# HELP ${name} ${help}`)
      expect(text).toContain(`# TYPE ${name} ${type}`)
      if (type === 'counter') expect(name).toMatch(/_total$/)
      if (type === 'histogram') expect(name).toMatch(/_seconds$/)
    }
    const values = samplesOf(text)
      .filter(({ name }) => name.startsWith('quartermaster_'))
      .flatMap(({ labels }) => Object.values(labels))
    for (const value of values)
      expect(value).not.toMatch(/[0-9a-f]{8}-|REQ-|@|http|Kim|Lyra|strange|no\.such|[0-9a-f]{32}/)
  })

  it('have the number of requests by state, and the state of the queue', async () => {
    await service.restart()
    const body = {
      displayName: 'Waiting Mensa',
      templateId: templates.projectSite,
      metadata: { costCentre: '4711', audience: 'internal' },
    }
    expect((await service.rest('kim', 'POST', '/collab/v1/spo/', body)).status).toBe(202)
    const samples = await read()
    expect(sum(samples, 'quartermaster_requests', { state: 'pendingApproval' })).toBe(1)
    const states = samples.filter(({ name }) => name === 'quartermaster_requests').map(({ labels }) => labels['state'])
    expect(states.toSorted()).toEqual([...openStates].toSorted())
    expect(sum(samples, 'quartermaster_queue_jobs')).toBeGreaterThan(0)
  })

  it('count a change after its commit, and never after a rollback', async () => {
    const transitions = async () => sum(await read(), 'quartermaster_request_transitions_total')
    const before = await transitions()
    const { database } = service.app
    await expect(
      database.transaction(async () => {
        database.afterCommit(() => expect.fail('nothing was committed'))
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    let callbacks = 0
    await database.transaction(async () => {
      database.afterCommit(() => {
        callbacks += 1
      })
      await database.transaction(async () => {
        database.afterCommit(() => {
          callbacks += 1
        })
      })
      expect(callbacks).toBe(0)
    })
    expect(callbacks).toBe(2)
    expect(await transitions()).toBe(before)
  })
})

describe('access to the metrics', () => {
  const text = async () => 'quartermaster_store_up 1\n'
  const token = 'correct horse battery staple'
  const start = async (metrics?: { token?: string; isOpen: boolean }, more = {}) =>
    startRest(await startIssuer(), { ...(metrics && { metrics: { ...metrics, text } }), ...more })
  const get = async (url: string, authorization?: string) =>
    fetch(`${url}/metrics`, authorization === undefined ? {} : { headers: { authorization } })

  it('is open on this machine in local mode, and closed elsewhere without a configured token', async () => {
    const open = await start({ isOpen: true })
    expect((await get(open.server.url)).status).toBe(200)
    for (const closed of [await start({ isOpen: false }), await start()]) {
      const answer = await get(closed.server.url, `Bearer ${token}`)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'no-such-address' }])
    }
  })

  it('requires a configured token, also in local mode', async () => {
    for (const isOpen of [true, false]) {
      const { server } = await start({ isOpen, token })
      const good = await get(server.url, `Bearer ${token}`)
      expect([good.status, await good.text()]).toEqual([200, 'quartermaster_store_up 1\n'])
      const without = await get(server.url)
      expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="quartermaster"'])
      for (const wrong of [`Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer x', `Basic ${token}`])
        expect((await get(server.url, wrong)).status).toBe(401)
    }
  })

  it('is granted by the token, also after many wrong tokens and during the start', async () => {
    const limits = {
      writesPerMinute: 1,
      writeBurst: 1,
      readsPerMinute: 1,
      tenantWritesPerMinute: 1,
      refusalsPerMinute: 1,
    }
    const { server, call } = await start({ isOpen: false, token }, { limits, starting: true })
    const wrong = await Promise.all(Array.from({ length: 5 }, async () => (await get(server.url, 'Bearer x')).status))
    expect(wrong).toContain(429)
    // `call` compares the refusal with the API document.
    expect((await call('GET', '/metrics', { headers: { authorization: 'Bearer x' } })).status).toBe(429)
    for (let time = 0; time < 5; time += 1) expect((await get(server.url, `Bearer ${token}`)).status).toBe(200)
  })
})

describe('reading the store for metrics', () => {
  const about = { tenantId: '0c0ffee0-1111-4111-8111-000000000365', states: openStates }

  it('happens once in 15 seconds, one reading at a time', async () => {
    let [queries, time] = [0, 0]
    const requests = {
      countByState: async () => {
        queries += 1
        return { queued: 2 }
      },
    }
    const queue = { state: async () => ({ waiting: 3, oldestSeconds: 4 }) }
    const readings = createReadings({ ...about, requests, queue }, () => time)
    const [one, other] = await Promise.all([readings(), readings()])
    expect(one).toEqual({
      requests: { pendingApproval: 0, queued: 2, provisioning: 0, failed: 0 },
      queue: { waiting: 3, oldestSeconds: 4 },
    })
    expect([other, queries]).toEqual([one, 1])
    time = 14_999
    await readings()
    expect(queries).toBe(1)
    time = 15_000
    await readings()
    expect(queries).toBe(2)
  })

  it('is not needed for the expiry of credentials, which is shown if the date is known', async () => {
    const name = 'quartermaster_credential_expiry_timestamp_seconds'
    const figures = createMetrics('1.2.3')
    const expiries = { certificate: new Date('2027-01-01T00:00:00Z'), botSecret: null }
    const shown = async () => samplesOf(await figures.text(undefined, {}, expiries)).filter((one) => one.name === name)
    const certificate = {
      name,
      labels: { credential: 'certificate' },
      value: Date.parse('2027-01-01T00:00:00Z') / 1000,
    }
    expect(await shown()).toEqual([certificate])
    Object.assign(expiries, { botSecret: new Date('2026-12-01T00:00:00Z') })
    expect(await shown()).toEqual([
      certificate,
      { name, labels: { credential: 'botSecret' }, value: Date.parse('2026-12-01T00:00:00Z') / 1000 },
    ])
  })

  it('does not delay the others: without an answer its metrics are missing, not 0', async () => {
    const figures = createMetrics('1.2.3')
    const never = () => new Promise<never>(() => undefined)
    const silent = createReadings({ ...about, requests: { countByState: never }, queue: { state: never } })
    const failing = { countByState: () => Promise.reject(new Error('away')) }
    const broken = createReadings({ ...about, requests: failing, queue: { state: never } })
    figures.telemetry.stateReached('queued')
    await figures.text({ requests: { queued: 1 }, queue: { waiting: 1, oldestSeconds: 0 } })
    for (const readings of [silent, broken]) {
      const samples = samplesOf(await figures.text(await readings()))
      expect(samples.find(({ name }) => name === 'quartermaster_store_up')?.value).toBe(0)
      expect(sum(samples, 'quartermaster_request_transitions_total')).toBe(1)
      expect(sum(samples, 'quartermaster_build_info', { version: '1.2.3' })).toBe(1)
      for (const gone of [
        'quartermaster_requests',
        'quartermaster_queue_jobs',
        'quartermaster_queue_oldest_due_job_age_seconds',
      ])
        expect(samples.filter(({ name }) => name === gone)).toEqual([])
    }
    const again = samplesOf(await figures.text({ requests: { queued: 5 }, queue: { waiting: 6, oldestSeconds: 7 } }))
    expect(sum(again, 'quartermaster_requests', { state: 'queued' })).toBe(5)
    expect(sum(again, 'quartermaster_queue_jobs')).toBe(6)
  })
})

describe('the page about telemetry', () => {
  it('lists every metric as defined (UPDATE_DOCS=1 writes them)', () => {
    const page = new URL('../../docs/telemetry.md', import.meta.url)
    const rows = Object.entries(definitions).map(([name, { type, help, labels }]) => {
      const named = labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(' ')
      return `| \`${name}\` | ${type} | ${named} | ${help} |`
    })
    const table = ['| name | type | labels | what it says |', '|---|---|---|---|', ...rows].join('\n')
    const text = readFileSync(page, 'utf8')
    const place = /(?<=<!-- figures -->\n)[\s\S]*?(?=<!-- end of figures -->)/
    expect(text).toMatch(place)
    const whole = text.replace(place, () => `${table}\n`)
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, whole)
    expect(readFileSync(page, 'utf8')).toBe(whole)
  })
})
