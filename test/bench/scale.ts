import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/store/index.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'
import { click, startBareConnector, turn } from './chat.ts'
import { quantile, timed } from './figures.ts'
import { fullTemplates, idOfFull } from './full-templates.ts'
import { megabytes, ms, ratio } from './parts.ts'
import { type Place, type Places, variablesOf } from './places.ts'
import type { PartReport, Row } from './report.ts'
import { type BatchLoad, json, measureBatches, measureReplicas, type ReplicaLoad } from './scale-load.ts'
import { type RunningService, requestSite, startService, startTenant, tokenOf } from './service.ts'
import { memoryOf, withProbe } from './soak.ts'

/** The sizes of the part `scale`; `rounds` is the number of measured calls of each kind. */
export interface ScaleSizes {
  readonly rounds: number
  readonly templates: number
  readonly chats: number
  readonly people: number
  readonly batches: BatchLoad
  readonly replicas: ReplicaLoad
}
const wholeScale: ScaleSizes = {
  rounds: 200,
  templates: 100,
  chats: 10_000,
  people: 100_000,
  batches: { senders: 10, rows: 200, quiet: 200 },
  replicas: { replicas: 3, rounds: 5, calls: 320, callers: 32 },
}
const small = { templates: 5, chats: 4, people: 1000 } as const

type Call = (round: number) => Promise<unknown>
type Calls = Readonly<Record<string, Call>>
interface Pair<T> {
  readonly large: T
  readonly small: T
}
type Size = keyof Pair<unknown>
const bothSizes = ['small', 'large'] as const
const inEnglish = (count: number): string => count.toLocaleString('en')

/** Measures a large installation next to a small one, with a PostgreSQL server. The same calls alternate. */
export async function scalePart(places: Places): Promise<PartReport> {
  const rows: Row[] = []
  for (const measure of Object.values(scaleMeasures)) rows.push(...(await measure(places, wholeScale)))
  return { rows, charts: {} }
}

/** The measurements of the part `scale`, in their order. */
export const scaleMeasures = {
  templates: templateRows,
  chats: chatRows,
  people: peopleRows,
  batches: batchRows,
  replicas: replicaRows,
} satisfies Record<string, (places: Places, sizes: ScaleSizes) => Promise<Row[]>>

/** Measures many templates of full size: choosing one, its form, the list by REST, the start and the memory. */
async function templateRows(places: Places, { templates, rounds }: ScaleSizes): Promise<Row[]> {
  const count = { large: templates, small: small.templates }
  const prepare = ({ dataDir }: Place, size: Size) => {
    const file = join(dataDir, 'templates.json')
    writeFileSync(file, JSON.stringify(fullTemplates(count[size])))
    return { TEMPLATES_FILE: file }
  }
  return withBoth(places, { prepare }, async ({ services, tenantUrls, serviceUrl }) => {
    const [kim, sam] = [await tokensOf(tenantUrls, people.kim.id), await tokensOf(tenantUrls, people.sam.id)]
    const callsOf = (url: string, size: Size) => ({
      'turn `help`': () => turn(url, { serviceUrl, text: 'help' }),
      'turn `new site`': () => turn(url, { serviceUrl, text: 'new site' }),
      'turn `new`: all templates': () => turn(url, { serviceUrl, text: 'new', who: 'omar' }),
      'click on a template: its form': () =>
        click(url, { serviceUrl, who: 'dana', verb: 'request.choose', data: { templateId: idOfFull(3) } }),
      'list of templates by REST, requester': () => json(`${url}/templates/v1`, kim[size]),
      'list of templates by REST, admin': () => json(`${url}/templates/v1`, sam[size]),
    })
    const named = (figure: string) => `${figure}, ${templates} templates of full size`
    return rowsOf({ services, callsOf, rounds, what: `${small.templates} templates`, named })
  })
}

/** Measures turns, the order of all daily summaries and the memory with many known chats. */
async function chatRows(places: Places, { chats, rounds }: ScaleSizes): Promise<Row[]> {
  const count = { large: chats, small: small.chats }
  const what = `${small.chats} known chats`
  const named = (figure: string) => `${figure}, ${inEnglish(chats)} known chats`
  const prepare = () => ({ DIGEST_HOUR: 'off' })
  return withBoth(places, { prepare }, async ({ services, stores, tenantUrls, serviceUrl, restart }) => {
    const tokens = await tokensOf(tenantUrls, people.kim.id)
    for (const size of bothSizes) {
      await requestSite(services[size].url, tokens[size])
      await fillChats(stores[size], count[size], serviceUrl)
    }
    const callsOf = (url: string) => ({
      'turn `help`': () => turn(url, { serviceUrl, text: 'help' }),
      'turn `approvals`': () => turn(url, { serviceUrl, text: 'approvals', who: 'dana' }),
    })
    const rows = await rowsOf({ services, callsOf, rounds, what, named })
    const digest = { large: [] as number[], small: [] as number[] }
    for (const size of bothSizes) {
      await restart(size, { DIGEST_HOUR: '0' })
      digest[size].push(await jobMilliseconds(stores[size], 'digest'))
    }
    return [...rows, timesRow(named('job that orders all daily summaries'), digest, `${what}; one run`)]
  })
}

/** Measures a large organisation: finding people, owners of a site, and the daily record of all addresses. */
async function peopleRows(places: Places, { people: employees, rounds }: ScaleSizes): Promise<Row[]> {
  const count = { large: employees, small: small.people }
  const what = `${small.people} people; the simulated tenant takes a part of the time`
  const named = (figure: string) => `${figure}, ${inEnglish(employees)} people`
  return withBoth(places, { employees: count }, async ({ services, stores, tenantUrls, serviceUrl }) => {
    const tokens = await tokensOf(tenantUrls, people.kim.id)
    // Other people in each call, so that no cache knows them.
    const numbers = (size: Size, round: number) =>
      Array.from({ length: 10 }, (_, place) => 1 + ((round * 10 + place + rounds * 10) % count[size]))
    const preview = (url: string, size: Size, round: number) => {
      const owners = numbers(size, round).map((number) => `person${number}@contoso.example`)
      const body = { displayName: 'Scale', templateId: projectSite, owners }
      return json(`${url}/requests/v1/preview`, tokens[size], body)
    }
    const callsOf = (url: string, size: Size) => ({
      'turn `help`': () => turn(url, { serviceUrl, text: 'help' }),
      'turn `delegate`: a person by name': (round: number) =>
        turn(url, { serviceUrl, text: `delegate Person ${numbers(size, round)[0]}`, who: 'dana' }),
      'preview with ten owners by REST': (round: number) => preview(url, size, round),
    })
    const rows = await rowsOf({ services, callsOf, rounds: Math.ceil(rounds / 4), what, named })
    const record = { large: [] as number[], small: [] as number[] }
    for (const size of bothSizes) record[size].push(await jobMilliseconds(stores[size], 'housekeeping'))
    return [...rows, timesRow(named('daily housekeeping, which records all addresses'), record, `${what}; one run`)]
  })
}
/** Contoso's template of project sites. */
const projectSite = '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11'

/** Measures batches of several people at once next to one batch alone, and the turns of another person. */
async function batchRows(places: Places, { batches }: ScaleSizes): Promise<Row[]> {
  const { senders, rows } = batches
  const { alone, together, turns } = await measureBatches(places, batches)
  const batch = `${senders} batches of ${rows} rows at once`
  const rates = [(senders * rows * 1000) / together.submitted, (rows * 1000) / alone.submitted] as const
  const seconds = `${batch}: all rows submitted in ${(together.submitted / 1000).toFixed(0)} s`
  return [
    timesRow(`${batch}: answer 202`, { large: together.accepted, small: alone.accepted }, 'one batch alone'),
    [seconds, `${rates[0].toFixed(1)}/s`, `${rates[1].toFixed(1)}/s`, ratio(...rates), 'rows of one batch alone'],
    timesRow(
      `turn \`help\` of another person during ${batch}`,
      { large: turns.meanwhile, small: turns.quiet },
      'a quiet service, p50 and p95',
    ),
  ]
}

/** Measures replicas over one server next to one of them. */
async function replicaRows(places: Places, { replicas }: ScaleSizes): Promise<Row[]> {
  const figures = await measureReplicas(places, replicas)
  const names = { accepts: 'accepted requests', turns: 'turns `help`' } as const
  return (['accepts', 'turns'] as const).map((name) => {
    const [all, one] = [quantile(figures[name].all, 0.5), quantile(figures[name].one, 0.5)]
    const figure = `${names[name]}, ${replicas.callers} at once, ${replicas.replicas} replicas`
    const what = 'one replica; all processes share the cores of this machine'
    return [figure, `${all.toFixed(0)}/s`, `${one.toFixed(0)}/s`, ratio(all, one), what]
  })
}

/** Stores chats of people who have a decision to make. */
async function fillChats(place: Place, count: number, serviceUrl: string): Promise<void> {
  // Locales whose weekend is not today: on a weekend nobody gets a summary.
  const locale = [0, 6].includes(new Date().getDay()) ? 'fa-IR' : 'en-GB'
  const person = `('aaaaaaaa-aaaa-4aaa-8aaa-' || lpad(n::text, 12, '0'))::uuid`
  const database = await openDatabase(place)
  await database
    .patiently(async () => {
      await database.query(
        `INSERT INTO conversations (tenant_id, person_id, conversation_id, reference, locale, time_zone)
       SELECT $1::uuid, ${person}, 'chat-' || n, jsonb_build_object('serviceUrl', $3::text), $4, 'UTC'
       FROM generate_series(1, $2::int) AS n`,
        [contosoTenant, count, serviceUrl, locale],
      )
      await database.query(
        `INSERT INTO requests
         (request_id, tenant_id, number, kind, status, requester_id, waiting_for, version, submitted_at, updated_at, body)
       SELECT gen_random_uuid(), tenant_id, 1000000 + n, kind, status, requester_id, ARRAY[${person}], version,
         submitted_at, updated_at, body
       FROM (SELECT * FROM requests LIMIT 1) AS sample, generate_series(1, $1::int) AS n`,
        [count],
      )
      for (const table of ['requests', 'conversations']) await database.query(`VACUUM (ANALYZE) ${table}`)
    })
    .finally(() => database.close())
}

/** Waits for the first run of a periodic job, and returns its duration. */
async function jobMilliseconds(place: Place, job: string): Promise<number> {
  const database = await openDatabase(place)
  const { schema } = database.queueConnection
  const read = async () => {
    const { rows } = await database.query<{ took: number }>(
      `SELECT (extract(epoch FROM completed_on - started_on) * 1000)::float AS took FROM ${schema}.job
       WHERE name = $1 AND state = 'completed' ORDER BY started_on LIMIT 1`,
      [job],
    )
    return rows[0]?.took
  }
  return until(read, `the job ${job}`, 300).finally(() => database.close())
}

type Variables = Record<string, string>
interface Preparation {
  readonly prepare?: (place: Place, size: Size) => Variables
  readonly employees?: Pair<number>
}
interface Both {
  readonly services: Pair<RunningService>
  readonly stores: Pair<Place>
  readonly tenantUrls: Pair<string>
  readonly serviceUrl: string
  /** Restarts one service with further settings. */
  restart(size: Size, more: Variables): Promise<RunningService>
}

/**
 * Starts a large and a small service, each with a tenant of `employees` more people; `prepare` returns the settings of
 * each.
 */
async function withBoth(
  places: Places,
  { prepare = () => ({}), employees = { large: 0, small: 0 } }: Preparation,
  measure: (both: Both) => Promise<Row[]>,
): Promise<Row[]> {
  const own = { large: await places.place('server'), small: await places.place('server') }
  const tenants = {
    large: await startTenant(own.large.dataDir, employees.large),
    small: await startTenant(own.small.dataDir, employees.small),
  }
  const connector = await startBareConnector()
  const running: Partial<Record<Size, RunningService>> = {}
  const start = async (size: Size, more: Variables) => {
    await running[size]?.stop()
    const place = own[size]
    const service = await startService(place.dataDir, {
      ...variablesOf(place),
      ...tenants[size].urls,
      ...withProbe(),
      ...more,
    })
    running[size] = service
    return service
  }
  try {
    const settings = { large: prepare(own.large, 'large'), small: prepare(own.small, 'small') }
    // The first start creates the tables and compiles the code. The second one is measured.
    for (const size of ['large', 'small'] as const) await start(size, settings[size])
    const services = { small: await start('small', settings.small), large: await start('large', settings.large) }
    const tenantUrls = { large: tenants.large.url, small: tenants.small.url }
    return await measure({ services, stores: own, tenantUrls, serviceUrl: connector.url, restart: start })
  } finally {
    for (const service of Object.values(running)) await service.stop()
    await connector.close()
    for (const tenant of Object.values(tenants)) await tenant.kill()
  }
}

interface Comparison {
  readonly services: Pair<RunningService>
  readonly callsOf: (url: string, size: Size) => Calls
  readonly rounds: number
  /** The values of the small service. */
  readonly what: string
  readonly named: (figure: string) => string
}

/** Alternates the calls of both services, and returns a row for each call, the start and the memory. */
async function rowsOf({ services, callsOf, rounds, what, named }: Comparison): Promise<Row[]> {
  const calls = { large: callsOf(services.large.url, 'large'), small: callsOf(services.small.url, 'small') }
  const times = new Map(
    Object.keys(calls.large).map((name) => [name, { large: [] as number[], small: [] as number[] }]),
  )
  const warmUp = Math.ceil(rounds / 5)
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, pair] of times) {
      for (const size of round % 2 === 0 ? (['large', 'small'] as const) : (['small', 'large'] as const)) {
        const milliseconds = await timed(() => calls[size][name]?.(round) ?? Promise.resolve())
        if (round >= 0) pair[size].push(milliseconds)
      }
    }
  }
  const starts = { large: [services.large.milliseconds], small: [services.small.milliseconds] }
  const memory = { large: await memoryOf(services.large), small: await memoryOf(services.small) }
  const bytes = (figure: string, of: (one: (typeof memory)['large']) => number): Row => {
    const [large, floor] = [of(memory.large), of(memory.small)]
    return [named(figure), megabytes(large), megabytes(floor), ratio(large, floor), what]
  }
  return [
    ...[...times].map(([name, pair]) => timesRow(named(name), pair, `${what}, p50 and p95`)),
    timesRow(named('start to ready'), starts, `${what}; one start`),
    bytes('resident memory after the calls', ({ resident }) => resident),
    bytes('heap after a collection', ({ heap }) => heap),
  ]
}

function timesRow(figure: string, { large, small }: Pair<readonly number[]>, what: string): Row {
  const shares = large.length > 1 ? [0.5, 0.95] : [0.5]
  const all = (of: (share: number) => string) => shares.map(of).join(', ')
  const ratios = all((share) => ratio(quantile(large, share), quantile(small, share)))
  return [figure, all((share) => ms(quantile(large, share))), all((share) => ms(quantile(small, share))), ratios, what]
}

/** Returns a person's token from each tenant. */
async function tokensOf(urls: Pair<string>, personId: string): Promise<Pair<string>> {
  const of = (simulatorUrl: string) => tokenOf({ simulatorUrl }, personId)
  return { large: await of(urls.large), small: await of(urls.small) }
}
