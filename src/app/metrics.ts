import { setTimeout } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { RequestState, RequestStore, Telemetry } from '../core/index.ts'
import type { Queue } from '../jobs/index.ts'

/** Buckets for times that people wait, in seconds: fine steps up to a second. */
const ofAnswers = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Buckets for times of jobs, in seconds. A job may take a minute and wait for hours. */
const ofWork = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]
const ofWaiting = [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600]

interface Definition {
  readonly type: 'counter' | 'histogram' | 'gauge'
  readonly help: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

/** Our own metrics. Labels have only our own values. docs/telemetry.md has a list that is generated from this table. */
export const definitions = {
  quartermaster_turns_total: {
    type: 'counter',
    help: 'Turns of the bot by kind, by the click’s verb or the command’s name, and by outcome.',
    labels: ['kind', 'what', 'outcome'],
  },
  quartermaster_turn_duration_seconds: {
    type: 'histogram',
    help: 'Duration of turns of the bot.',
    labels: ['kind', 'what'],
    buckets: ofAnswers,
  },
  quartermaster_http_requests_total: {
    type: 'counter',
    help: 'HTTP requests by route and class of status.',
    labels: ['method', 'route', 'status'],
  },
  quartermaster_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of HTTP requests, including held answers (Prefer: wait).',
    labels: ['method', 'route'],
    buckets: ofAnswers,
  },
  quartermaster_requests: {
    type: 'gauge',
    help: 'Open requests for resources by status. For the whole service, from its store.',
    labels: ['state'],
  },
  quartermaster_request_transitions_total: {
    type: 'counter',
    help: 'Status changes of resource requests in this process, by the new status.',
    labels: ['state'],
  },
  quartermaster_job_attempts_total: {
    type: 'counter',
    help: 'Attempts of jobs by name and outcome. Each dead letter counts once as given-up, also if its process was killed.',
    labels: ['job', 'outcome'],
  },
  quartermaster_job_duration_seconds: {
    type: 'histogram',
    help: 'Duration of attempts of jobs.',
    labels: ['job'],
    buckets: ofWork,
  },
  quartermaster_job_wait_seconds: {
    type: 'histogram',
    help: 'Time that due jobs waited for a worker.',
    labels: ['job'],
    buckets: ofWaiting,
  },
  quartermaster_queue_jobs: {
    type: 'gauge',
    help: 'Jobs that are due, scheduled for later, or running. For the whole service.',
    labels: [],
  },
  quartermaster_queue_oldest_due_job_age_seconds: {
    type: 'gauge',
    help: 'Waiting time of the oldest due job; 0 without a due job. For the whole service.',
    labels: [],
  },
  quartermaster_outgoing_calls_total: {
    type: 'counter',
    help: 'Calls to Microsoft 365 by service, purpose and class of status (none: no answer).',
    labels: ['service', 'purpose', 'status'],
  },
  quartermaster_outgoing_call_duration_seconds: {
    type: 'histogram',
    help: 'Duration of calls to Microsoft 365.',
    labels: ['service'],
    buckets: ofAnswers,
  },
  quartermaster_outgoing_calls_running: {
    type: 'gauge',
    help: 'Calls to Microsoft 365 in progress in this process, at most 24 for each service.',
    labels: ['service'],
  },
  quartermaster_outgoing_calls_waiting: {
    type: 'gauge',
    help: 'Calls to Microsoft 365 that wait for a free slot in this process.',
    labels: ['service'],
  },
  quartermaster_webhook_attempts_total: {
    type: 'counter',
    help: 'Attempts to deliver webhooks to receivers of templates or to our own bot.',
    labels: ['subscriber', 'outcome'],
  },
  quartermaster_cards_total: {
    type: 'counter',
    help: 'Proactive cards (send) and their updates (update), by outcome.',
    labels: ['how', 'outcome'],
  },
  quartermaster_credential_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'Expiry of the certificate and of the bot’s secret, as Unix time. Absent if the date is unknown.',
    labels: ['credential'],
  },
  quartermaster_store_up: {
    type: 'gauge',
    help: 'Whether the store answered when these metrics were read: 1 or 0. If 0, the gauges of the whole service are absent.',
    labels: [],
  },
  quartermaster_build_info: {
    type: 'gauge',
    help: 'Always 1. The label has the version.',
    labels: ['version'],
  },
} as const satisfies Readonly<Record<`quartermaster_${string}`, Definition>>
type MetricName = keyof typeof definitions
type OfType<T extends Definition['type']> = {
  [N in MetricName]: (typeof definitions)[N]['type'] extends T ? N : never
}[MetricName]
type LabelsOf<N extends MetricName> = Readonly<Record<(typeof definitions)[N]['labels'][number], string>>

/** The values from the store. */
interface Readings {
  readonly requests: Readonly<Record<string, number>>
  readonly queue: { readonly waiting: number; readonly oldestSeconds: number }
}

/** Calls to Microsoft 365 that run and wait in this process, by service. */
type OpenCalls = Readonly<Record<string, { readonly running: number; readonly waiting: number }>>

/** The expiry of our credentials. Undefined or null: unknown or never. */
type Expiries = Readonly<Record<'certificate' | 'botSecret', Date | null | undefined>>

/** The metrics of one service. */
interface Metrics {
  readonly telemetry: Telemetry
  /** Returns the metrics in Prometheus' text-based format. `readings` is undefined while the store does not answer. */
  text(readings: Readings | undefined, calls?: OpenCalls, expiries?: Expiries): Promise<string>
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  const metrics = new Map(Object.entries(definitions).map(([name, one]) => [name, metricOf(name, one, registry)]))
  const count = <N extends OfType<'counter'>>(name: N, labels: LabelsOf<N>, times = 1): void =>
    (metrics.get(name) as Counter).inc(labels, times)
  const observe = <N extends OfType<'histogram'>>(name: N, labels: LabelsOf<N>, value: number): void =>
    (metrics.get(name) as Histogram).observe(labels, value)
  const set = <N extends OfType<'gauge'>>(name: N, labels: LabelsOf<N>, value: number): void =>
    (metrics.get(name) as Gauge).set(labels, value)
  set('quartermaster_build_info', { version }, 1)

  function take(known: Readings | undefined): void {
    set('quartermaster_store_up', {}, known ? 1 : 0)
    // Unknown values are absent, because an empty gauge would show 0.
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
  count: <N extends OfType<'counter'>>(name: N, labels: LabelsOf<N>, times?: number) => void,
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
      // Not every dead letter has a last attempt that ends, so `jobsGivenUp` counts them.
      if (outcome !== 'given-up') count('quartermaster_job_attempts_total', { job, outcome })
      observe('quartermaster_job_duration_seconds', { job }, seconds)
      observe('quartermaster_job_wait_seconds', { job }, waitedSeconds)
    },
    jobsGivenUp: (job, jobs) => count('quartermaster_job_attempts_total', { job, outcome: 'given-up' }, jobs),
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
    /** The states whose counts do not grow forever. */
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
