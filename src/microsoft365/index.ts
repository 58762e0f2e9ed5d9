/**
 * The only place that knows Microsoft's wire protocol. This file connects the rooms and fills core's ports. Rooms import
 * each other in one direction: `wire`, `directory`, `sites`, `mailboxes`.
 */
import {
  type Connection,
  createGate,
  type Directory,
  type Gate,
  type GateLimits,
  type GateState,
  type ServiceHealth,
  type Tenant,
} from '../core/index.ts'
import { createChatFinder, createDirectory } from './directory/index.ts'
import { createMailboxSteps, mailboxStepsOf } from './mailboxes/index.ts'
import { createSiteSteps } from './sites/index.ts'
import {
  type CallLog,
  type ClientCertificate,
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
  healthOf,
  sharePointHeaders,
  sharePointService,
} from './wire/index.ts'

export {
  type CallLog,
  type CallOutcome,
  type ClientCertificate,
  certificateFromPem,
  localCertificate,
} from './wire/index.ts'

/**
 * Limits of the calls to each service. A preview with 100 people needs some 15 calls, so one person may run several at a
 * time. `patience` leaves time for the call itself: Teams waits 15 seconds for the answer to a click.
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
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
  readonly exchangeUrl: string
  /** Name of the schema extension on groups that carries the request id: `svc_group`. */
  readonly directoryExtension: string
  /** The bot's app in the organisation's catalogue. Without it no chat is looked up and no app is installed. */
  readonly teamsAppId?: string | undefined
  /** Sends all HTTP. The app passes one that refuses to run inside a database transaction. */
  readonly fetch: typeof fetch
  /** Called for each HTTP exchange. */
  readonly log?: CallLog
  /** Called for answers that look wrong but do not stop the work. */
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
  /** Number of running and waiting calls in this process, by the service's name for people. */
  underWay(): Readonly<Record<string, GateState>>
  /** Checks every minute whether the certificate's file has changed, until the returned function is called. */
  watchCertificate(): () => void
}

/** Implements core's ports with Graph, SharePoint and Exchange, app-only. */
export function connectMicrosoft365(options: Microsoft365Options): Microsoft365 {
  const { fetch, log, directoryExtension: extension } = options
  const directoryUrl = options.directoryUrl.replace(/\/+$/, '')
  const signIn = createSignIn(options)
  const gates = new Map<string, Gate>()
  const callerOf = (endpoint: Endpoint) => {
    const gate = gates.get(endpoint.service) ?? createGate(`calls to ${endpoint.service}`, callLimits)
    gates.set(endpoint.service, gate)
    return createCaller(endpoint, { token: signIn.token, gate, fetch, log })
  }
  const callGraph = callerOf({ service: graphService, resource: directoryUrl })
  const sharePointCaller = (url: string) =>
    callerOf({ service: sharePointService, resource: new URL(url).origin, headers: sharePointHeaders })
  const graph = createGraph(callGraph, directoryUrl, extension)
  const sharePoint = createSharePoint({
    call: sharePointCaller(options.sharePointUrl),
    callAdmin: sharePointCaller(options.sharePointAdminUrl),
    sharePointUrl: options.sharePointUrl,
    sharePointAdminUrl: options.sharePointAdminUrl,
  })
  const exchange = createExchange(callerOf(exchangeEndpoint(options.exchangeUrl)), options)
  const { teamsAppId, warn = () => undefined, settleSeconds = 300, workSeconds = 60 } = options
  const certificate = createCertificateFile({
    path: options.certificatePath,
    first: options.certificate,
    use: (next) => signIn.replaceCertificate(next, directoryUrl),
    warn,
  })
  return {
    tenant: {
      siteSteps: createSiteSteps({ graph, sharePoint, settleSeconds }),
      mailboxSteps: createMailboxSteps({ graph, exchange, settleSeconds, workSeconds }),
      mailboxStepsOf,
      siteRoot: sharePoint.siteRoot,
      outlookRoot: outlookRootOf(options.exchangeUrl),
      findChat: createChatFinder({ call: callGraph, root: graph.root, teamsAppId, warn, now: options.now }),
      health: () => healthOf({ graph, sharePoint, exchange }),
    },
    directory: createDirectory({ graph, call: callGraph, sharePoint, exchange, extension, warn, now: options.now }),
    connection: { signIn: signIn.facts, certificate: certificate.facts, readCertificate: certificate.read },
    underWay: () => Object.fromEntries([...gates].map(([service, gate]) => [service, gate.state()])),
    watchCertificate: certificate.watch,
  }
}

/** Core's name of each service in the {@link CallLog}. */
export const serviceNames: Readonly<Record<string, ServiceHealth['name']>> = {
  [graphService]: 'graph',
  [sharePointService]: 'sharePoint',
  [exchangeService]: 'exchange',
}

/** Root of Outlook on the web: Microsoft's own host, or the simulator's. */
function outlookRootOf(exchangeUrl: string): string {
  const { hostname, origin } = new URL(exchangeUrl)
  return hostname.endsWith('office365.com') ? 'https://outlook.office.com/' : `${origin}/`
}
