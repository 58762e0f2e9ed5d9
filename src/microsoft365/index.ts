/**
 * The only place that knows Microsoft's wire protocol. This file connects the rooms, fills core's ports and
 * checks the health of the services. Rooms import each other in one direction: `wire`, `directory`, `sites`, `mailboxes`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import {
  because,
  type Connection,
  createGate,
  type Directory,
  type Gate,
  type GateLimits,
  type GateState,
  type Reason,
  type ServiceHealth,
  type Tenant,
  TenantError,
} from '../core/index.ts'
import { createChatFinder, createDirectory } from './directory/index.ts'
import { createMailboxSteps, mailboxStepsOf } from './mailboxes/index.ts'
import { createProbes, type Probes, troubleOf } from './probes.ts'
import { createRemovals, type Removals } from './removal.ts'
import { createSiteSteps } from './sites/index.ts'
import {
  applicationIds,
  type CallLog,
  type ClientCertificate,
  consentDelay,
  createCaller,
  createCertificateFile,
  createExchange,
  createGraph,
  createSharePoint,
  createSignIn,
  type Endpoint,
  exchangeEndpoint,
  exchangeService,
  graphService,
  lackingIn,
  lackingReason,
  type Permission,
  permissions,
  type Services,
  type SharePointHost,
  sharePointService,
} from './wire/index.ts'

export type { Probes } from './probes.ts'
export type { Remain, Removals } from './removal.ts'
export {
  type CallLog,
  type CallOutcome,
  type ClientCertificate,
  certificateFromPem,
  localCertificate,
  type Permission,
  permissions,
  readCertificateFile,
  tryBotSecret,
} from './wire/index.ts'

/**
 * Limits of the calls to each service. A preview with 100 people needs some 15 calls, so one person may run several
 * calls at a time. `patience` leaves time for the call itself: Teams waits 15 seconds for the answer to a click.
 */
const callLimits: GateLimits = {
  running: 24,
  forIdentity: 6,
  runningOfOne: 9,
  waiting: 600,
  waitingOfOne: 60,
  patience: 5000,
  patienceOfJobs: 30_000,
}

/** The tenant's addresses and our credentials. URLs have no path: `https://graph.microsoft.com`. */
export interface Microsoft365Options {
  readonly tenantId: string
  readonly clientId: string
  readonly certificate: ClientCertificate
  /** The certificate's file. A new certificate in it replaces the current one. */
  readonly certificatePath?: string | undefined
  /** Opens an encrypted private key in this file. */
  readonly certificatePassword?: string | undefined
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
  /** The other hosts of a multi-geo tenant. */
  readonly otherSharePointHosts?: readonly SharePointHost[] | undefined
  readonly exchangeUrl: string
  /** Name of the schema extension on groups that carries the request id: `svc_group`. */
  readonly directoryExtension: string
  /** The bot's app in the organisation's catalogue. Without it the service looks up no chats and installs no apps. */
  readonly teamsAppId?: string | undefined
  /** Sends all HTTP requests. The app passes a function that refuses to run inside a database transaction. */
  readonly fetch: typeof fetch
  /** Called for each HTTP exchange. */
  readonly log?: CallLog
  /** Called for answers that seem wrong but do not stop the work. */
  readonly warn?: (message: string, fields: object) => void
  /** How long a fault must last before the ready check reports it. Seconds; default 300. */
  readonly settleSeconds?: number
  /** The clock of the caches, in milliseconds; default `Date.now`. */
  readonly now?: () => number
  /** How long a step may work before its job pauses. Seconds; default 60. */
  readonly workSeconds?: number
}

export interface Microsoft365 {
  readonly tenant: Tenant
  readonly directory: Directory
  readonly connection: Connection
  /** Probes whether the tenant lets the service do its work. */
  readonly probes: Probes
  /** Removes the marked resources of a trial. */
  readonly removals: Removals
  /** Number of running and waiting calls in this process, by the service's name for people. */
  underWay(): Readonly<Record<string, GateState>>
  /** Checks every minute whether the certificate's file has changed, until the returned function is called. */
  watchCertificate(): () => void
}

/** Implements core's ports with Graph, SharePoint and Exchange, app-only. */
export function connectMicrosoft365(options: Microsoft365Options): Microsoft365 {
  const { fetch, directoryExtension: extension } = options
  let aheadSeconds: number | null = null
  const log: CallLog = (entry) => {
    aheadSeconds = entry.aheadSeconds ?? aheadSeconds
    options.log?.(entry)
  }
  const directoryUrl = options.directoryUrl.replace(/\/+$/, '')
  const signIn = createSignIn(options)
  const gates = new Map<string, Gate>()
  const resourceOf = resourcesOf(options)
  const needed = permissions.filter(({ setting }) => setting === undefined || options.teamsAppId !== undefined)
  const callerOf = (endpoint: Endpoint) => {
    const gate = gates.get(endpoint.service) ?? createGate(endpoint.service, callLimits)
    gates.set(endpoint.service, gate)
    const name = serviceNames[endpoint.service]
    const ofService = needed.filter(({ service }) => service === name)
    return createCaller(endpoint, { token: signIn.token, gate, fetch, log, permissions: ofService })
  }
  const callGraph = callerOf({ service: graphService, resource: resourceOf('graph', directoryUrl) })
  const graph = createGraph(callGraph, directoryUrl, extension)
  const sharePoint = createSharePoint({
    callerFor: (url, headers) =>
      callerOf({ service: sharePointService, resource: resourceOf('sharePoint', url), headers }),
    hosts: [
      { url: options.sharePointUrl, adminUrl: options.sharePointAdminUrl },
      ...(options.otherSharePointHosts ?? []),
    ],
  })
  const exchange = createExchange(callerOf(exchangeEndpoint(resourceOf('exchange', options.exchangeUrl))), options)
  const { teamsAppId, warn = () => undefined, settleSeconds = 300, workSeconds = 60 } = options
  const certificate = createCertificateFile({
    path: options.certificatePath,
    password: options.certificatePassword,
    first: options.certificate,
    use: (next) => signIn.replaceCertificate(next, resourceOf('graph', directoryUrl)),
    warn,
  })
  const urls = { graph: directoryUrl, sharePoint: options.sharePointUrl, exchange: options.exchangeUrl }
  const lacking: Lacking = async (name) => {
    // Only Exchange knows whether a role group replaces the directory role.
    const roles = needed.filter(({ service, kind }) => service === name && kind === 'application permission')
    const resource = resourceOf(name, urls[name])
    const token = await signIn.token(resource)
    if (lackingIn(token, roles).length === 0) return []
    const renewed = signIn.token(resource, { refused: token, every: consentDelay, by: 'check' })
    return lackingIn(await renewed.catch(() => token), roles)
  }
  return {
    tenant: {
      siteSteps: createSiteSteps({ graph, sharePoint, settleSeconds }),
      mailboxSteps: createMailboxSteps({ graph, exchange, settleSeconds, workSeconds }),
      mailboxStepsOf,
      siteRoot: sharePoint.siteRoot,
      otherSiteOrigins: sharePoint.otherOrigins,
      outlookRoot: outlookRootOf(options.exchangeUrl),
      findChat: createChatFinder({ call: callGraph, root: graph.root, teamsAppId, warn, now: options.now }),
      health: () => healthOf({ graph, sharePoint, exchange }, lacking),
    },
    directory: createDirectory({ graph, call: callGraph, sharePoint, exchange, extension, warn, now: options.now }),
    connection: {
      signIn: signIn.facts,
      clock: () => ({ aheadSeconds }),
      certificate: certificate.facts,
      readCertificate: certificate.read,
    },
    removals: createRemovals({ graph, sharePoint, exchange, call: callGraph }),
    probes: createProbes({ graph, sharePoint, exchange, call: callGraph, needed, extension, teamsAppId }),
    underWay: () => Object.fromEntries([...gates].map(([service, gate]) => [service, gate.state()])),
    watchCertificate: certificate.watch,
  }
}

/** Core's name for each service in the {@link CallLog}. */
export const serviceNames: Readonly<Record<string, ServiceHealth['name']>> = {
  [graphService]: 'graph',
  [sharePointService]: 'sharePoint',
  [exchangeService]: 'exchange',
}

/**
 * Returns the resource of the tokens for an address of a service: its origin, or Microsoft's application id where several
 * services have this origin on this computer, as in the simulator. Any other shared host gets no token for these services.
 */
function resourcesOf({ directoryUrl, sharePointUrl, exchangeUrl }: Microsoft365Options) {
  const origins = [directoryUrl, sharePointUrl, exchangeUrl].map((url) => new URL(url).origin)
  return (service: ServiceHealth['name'], url: string): string => {
    const { origin, hostname } = new URL(url)
    const isShared = origins.filter((one) => one === origin).length > 1
    return isShared && loopback.test(hostname) ? applicationIds[service] : origin
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Root of Outlook on the web: the public cloud's own host, or that of Exchange (GCC High, the simulator). */
function outlookRootOf(exchangeUrl: string): string {
  const { hostname, origin } = new URL(exchangeUrl)
  return hostname.endsWith('office365.com') ? 'https://outlook.office.com/' : `${origin}/`
}

/** Returns the permissions that our token for a service lacks. */
type Lacking = (service: ServiceHealth['name']) => Promise<readonly Permission[]>

/** Time limit of a health check. Seconds. */
const limitSeconds = 5

/** Checks all services of Microsoft 365 at the same time. Reports problems and does not throw them. */
function healthOf({ graph, sharePoint, exchange }: Services, lacking: Lacking): Promise<ServiceHealth[]> {
  const measured = (...[name, service, call]: [ServiceHealth['name'], string, HealthCall]) =>
    measure({ name, service, call, lacking: () => lacking(name) })
  return Promise.all([
    measured('graph', graphService, (signal) => graph.ping(signal)),
    measured('sharePoint', sharePointService, (signal) => sharePoint.ping(signal)),
    measured('exchange', exchangeService, (signal) =>
      exchange.read('Get-Mailbox', { ResultSize: 1 }, z.unknown(), { signal }),
    ),
  ])
}

type HealthCall = (signal: AbortSignal) => Promise<unknown>

async function measure(part: {
  name: ServiceHealth['name']
  service: string
  call: HealthCall
  lacking: () => Promise<readonly Permission[]>
}): Promise<ServiceHealth> {
  const { name, service, call, lacking } = part
  let missing: readonly Permission[] = []
  const started = performance.now()
  const over = new AbortController()
  const late = new TenantError('timeout', because('serviceSlow', { service, seconds: limitSeconds }), {
    retryable: true,
  })
  // The sign-in before the call cannot be aborted, so the race ends without it.
  const limit = pause(limitSeconds * 1000, undefined, { signal: over.signal, ref: false }).then(() =>
    Promise.reject(late),
  )
  limit.catch(() => undefined)
  const work = async () => {
    // If the sign-in fails, the call below reports the failure.
    missing = await lacking().catch(() => [])
    await call(over.signal)
  }
  const refusal = await Promise.race([work(), limit])
    .then(() => undefined)
    .catch((error: unknown) => {
      if (error instanceof TenantError) return error
      throw error
    })
    // Metrics count the abort reason as a time-out.
    .finally(() => over.abort(late))
  const milliseconds = Math.round(performance.now() - started)
  if (missing.length > 0) {
    // Hidden accounts have a consequence of their own, so that message comes first.
    const hidden = refusal?.code === 'accounts-hidden' ? [refusal.reason] : []
    const isOptional = missing.every(({ setting }) => setting !== undefined) && refusal === undefined
    const trouble = isOptional ? 'optionalPermissionMissing' : 'permissionMissing'
    return {
      name,
      milliseconds,
      problem: because('faults', { faults: [...hidden, lackingReason(service, missing)] }),
      trouble,
    }
  }
  return { name, milliseconds, ...(refusal && { problem: describe(refusal), trouble: troubleOf(refusal) }) }
}

const describe = ({ message, code, reason }: TenantError): Reason =>
  message.includes(code) || code === 'permission-missing' ? reason : because('withCode', { reason, error: code })
