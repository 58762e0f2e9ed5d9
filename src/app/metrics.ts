import { setTimeout } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { RequestState, RequestStore, Telemetry } from '../core/index.ts'
import type { Queue } from '../jobs/index.ts'

/** Times for which people wait, in seconds: fine steps up to a second, and up to half a minute in all. */
const ofAnswers = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Times of jobs, in seconds. A job may take a minute and wait for hours. */
const ofWork = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]
const ofWaiting = [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600]

interface Definition {
  readonly type: 'counter' | 'histogram' | 'gauge'
  readonly help: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

/** Our own metrics. Labels have only our own values. docs/telemetry.md lists the metrics, generated from this table. */
export const definitions = {
  quartermaster_turns_total: {
    type: 'counter',
    help: 'Turns of the bot, by kind, by verb of the click or words of the command, and by what they came to.',
    labels: ['kind', 'what', 'outcome'],
  },
  quartermaster_turn_duration_seconds: {
    type: 'histogram',
    help: 'How long turns of the bot took.',
    labels: ['kind', 'what'],
    buckets: ofAnswers,
  },
  quartermaster_http_requests_total: {
    type: 'counter',
    help: 'HTTP requests, by route and class of status.',
    labels: ['method', 'route', 'status'],
  },
  quartermaster_http_request_duration_seconds: {
    type: 'histogram',
    help: 'How long HTTP requests took; held answers (Prefer: wait) among them.',
    labels: ['method', 'route'],
    buckets: ofAnswers,
  },
  quartermaster_requests: {
    type: 'gauge',
    help: 'Requests for resources that have not ended, by state. Of the whole service, as its store has them.',
    labels: ['state'],
  },
  quartermaster_request_transitions_total: {
    type: 'counter',
    help: 'Requests for resources that came into a state by this process.',
    labels: ['state'],
  },
  quartermaster_job_attempts_total: {
    type: 'counter',
    help: 'Attempts at jobs, by name and by what they came to.',
    labels: ['job', 'outcome'],
  },
  quartermaster_job_duration_seconds: {
    type: 'histogram',
    help: 'How long attempts at jobs took.',
    labels: ['job'],
    buckets: ofWork,
  },
  quartermaster_job_wait_seconds: {
    type: 'histogram',
    help: 'How long jobs that were due waited for a worker.',
    labels: ['job'],
    buckets: ofWaiting,
  },
  quartermaster_queue_jobs: {
    type: 'gauge',
    help: 'Jobs that wait, also for their time, or are at work. Of the whole service.',
    labels: [],
  },
  quartermaster_queue_oldest_due_job_age_seconds: {
    type: 'gauge',
    help: 'How long the oldest job that is due has waited; 0 = none is due. Of the whole service.',
    labels: [],
  },
  quartermaster_outgoing_calls_total: {
    type: 'counter',
    help: 'Calls to Microsoft 365, by service, purpose and class of status (none = no answer).',
    labels: ['service', 'purpose', 'status'],
  },
  quartermaster_outgoing_call_duration_seconds: {
    type: 'histogram',
    help: 'How long calls to Microsoft 365 took.',
    labels: ['service'],
    buckets: ofAnswers,
  },
  quartermaster_outgoing_calls_running: {
    type: 'gauge',
    help: 'Calls to Microsoft 365 that run now in this process; at most 24 to each service.',
    labels: ['service'],
  },
  quartermaster_outgoing_calls_waiting: {
    type: 'gauge',
    help: 'Calls to Microsoft 365 that wait for a place now in this process.',
    labels: ['service'],
  },
  quartermaster_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to deliver webhooks, to templates’ subscribers or to our own bot.',
    labels: ['subscriber', 'outcome'],
  },
  quartermaster_cards_total: {
    type: 'counter',
    help: 'Cards written into chats of our own accord, and updates of them.',
    labels: ['how', 'outcome'],
  },
  quartermaster_credential_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When the certificate and the bot’s secret expire, as Unix time. Left out where no date is known.',
    labels: ['credential'],
  },
  quartermaster_store_up: {
    type: 'gauge',
    help: 'Whether the store answered when it was last asked for these figures: 1 or 0. Without it the gauges of the whole service are left out.',
    labels: [],
  },
  quartermaster_build_info: {
    type: 'gauge',
    help: 'Always 1; the version stands in the label.',
    labels: ['version'],
  },
} as const satisfies Readonly<Record<`quartermaster_${string}`, Definition>>
type FigureName = keyof typeof definitions
type OfType<T extends Definition['type']> = {
  [N in FigureName]: (typeof definitions)[N]['type'] extends T ? N : never
}[FigureName]
type LabelsOf<N extends FigureName> = Readonly<Record<(typeof definitions)[N]['labels'][number], string>>

/** The values from the store. */
interface Readings {
  readonly requests: Readonly<Record<string, number>>
  readonly queue: { readonly waiting: number; readonly oldestSeconds: number }
}

/** Calls to Microsoft 365 that run and wait in this process, by service. */
type CallsUnderWay = Readonly<Record<string, { readonly running: number; readonly waiting: number }>>

/** When our credentials expire. Undefined or null: unknown or never. */
type Expiries = Readonly<Record<'certificate' | 'botSecret', Date | null | undefined>>

/** The figures of one service. */
interface Figures {
  readonly telemetry: Telemetry
  /** In Prometheus' text-based format. Without `readings` the store does not answer. */
  text(readings: Readings | undefined, calls?: CallsUnderWay, expiries?: Expiries): Promise<string>
}

export function createFigures(version: string): Figures {
  const registry = new Registry()
  const metrics = new Map(Object.entries(definitions).map(([name, one]) => [name, metricOf(name, one, registry)]))
  const count = <N extends OfType<'counter'>>(name: N, labels: LabelsOf<N>): void =>
    (metrics.get(name) as Counter).inc(labels)
  const observe = <N extends OfType<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void =>
    (metrics.get(name) as Histogram).observe(labels, value)
  const set = <N extends OfType<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void =>
    (metrics.get(name) as Gauge).set(labels, value)
  set('quartermaster_build_info', { version }, 1)

  function take(known: Readings | undefined): void {
    set('quartermaster_store_up', {}, known ? 1 : 0)
    // Unknown values are left out. An empty gauge would show 0, which is wrong.
    for (const name of ofTheStore) registry.removeSingleMetric(name)
    if (!known) return
    for (const name of ofTheStore) registry.registerMetric(metrics.get(name) as Gauge)
    for (const [state, number] of Object.entries(known.requests)) set('quartermaster_requests', { state }, number)
    set('quartermaster_queue_jobs', {}, known.queue.waiting)
    set('quartermaster_queue_oldest_due_job_age_seconds', {}, known.queue.oldestSeconds)
  }

  return {
    telemetry: telemetryOf(count, observe),
    text(readings, calls = {}, expiries) {
      take(readings)
      for (const [service, { running, waiting }] of Object.entries(calls)) {
        set('quartermaster_outgoing_calls_running', { service }, running)
        set('quartermaster_outgoing_calls_waiting', { service }, waiting)
      }
      for (const [credential, at] of Object.entries(expiries ?? {}))
        if (at) set('quartermaster_credential_expiry_timestamp_seconds', { credential }, at.getTime() / 1000)
      return Registry.merge([registry, ofThisProcess()]).metrics()
    },
  }
}

const ofTheStore = [
  'quartermaster_requests',
  'quartermaster_queue_jobs',
  'quartermaster_queue_oldest_due_job_age_seconds',
] as const

function telemetryOf(
  count: <N extends OfType<'counter'>>(name: N, labels: LabelsOf<N>) => void,
  observe: <N extends OfType<'histogram'>>(name: N, labels: LabelsOf<N>, value: number) => void,
): Telemetry {
  return {
    turnEnded({ kind, what, outcome, seconds }) {
      count('quartermaster_turns_total', { kind, what, outcome })
      observe('quartermaster_turn_duration_seconds', { kind, what }, seconds)
    },
    requestAnswered({ method, route, status, seconds }) {
      count('quartermaster_http_requests_total', { method, route, status: classOf(status) })
      observe('quartermaster_http_request_duration_seconds', { method, route }, seconds)
    },
    stateReached: (state) => count('quartermaster_request_transitions_total', { state }),
    jobTried({ job, outcome, seconds, waitedSeconds }) {
      count('quartermaster_job_attempts_total', { job, outcome })
      observe('quartermaster_job_duration_seconds', { job }, seconds)
      observe('quartermaster_job_wait_seconds', { job }, waitedSeconds)
    },
    serviceCalled({ service, purpose, status, seconds }) {
      count('quartermaster_outgoing_calls_total', { service, purpose, status: classOf(status) })
      observe('quartermaster_outgoing_call_duration_seconds', { service }, seconds)
    },
    webhookTried: (attempt) => count('quartermaster_webhook_attempts_total', attempt),
    cardWritten: (card) => count('quartermaster_cards_total', card),
  }
}

const classOf = (status: number | undefined): string =>
  status === undefined ? 'none' : `${Math.floor(status / 100)}xx`

function metricOf(name: string, { type, help, labels, buckets }: Definition, registry: Registry): Metric {
  const about = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'counter') return new Counter(about)
  if (type === 'gauge') return new Gauge(about)
  return new Histogram({ ...about, ...(buckets && { buckets: [...buckets] }) })
}

let processRegistry: Registry | undefined
/** The metrics of Node and its event loop, once for each process. In tests a process has many services. */
function ofThisProcess(): Registry {
  if (processRegistry) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({ register: processRegistry })
  return processRegistry
}

/** How long the values from the store are cached, in milliseconds. */
const KEPT_MILLISECONDS = 15_000
/** How long a scrape waits for the store, in milliseconds. Scrapers time out after ten seconds, without any metrics. */
const PATIENCE_MILLISECONDS = 2000

/** Reads the values from the store. Undefined if it does not answer in time; the next scrape reads again. */
export function createReadings(
  {
    requests,
    queue,
    tenantId,
    states,
  }: {
    requests: Pick<RequestStore, 'countByState'>
    queue: Pick<Queue, 'state'>
    tenantId: string
    /** The states whose numbers do not grow forever. */
    states: readonly RequestState[]
  },
  now: () => number = () => performance.now(),
): () => Promise<Readings | undefined> {
  let kept: { readonly at: number; readonly readings: Readings } | undefined
  let reading: Promise<Readings | undefined> | undefined
  const read = async (): Promise<Readings> => {
    const [counts, state] = await Promise.all([requests.countByState(tenantId, states), queue.state()])
    const all = Object.fromEntries(states.map((one) => [one, counts[one] ?? 0]))
    const readings = { requests: all, queue: state }
    kept = { at: now(), readings }
    return readings
  }
  return async () => {
    if (kept && now() - kept.at < KEPT_MILLISECONDS) return kept.readings
    // One read at a time, also if an earlier scrape has timed out.
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return Promise.race([reading, setTimeout(PATIENCE_MILLISECONDS, undefined, { ref: false })])
  }
}
