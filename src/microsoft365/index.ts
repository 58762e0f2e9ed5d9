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
import { createAppInstall, createDirectory } from './directory/index.ts'
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
  type Door,
  exchangeDoor,
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
 * A preview that names 100 people makes some 15 calls, so one person can have several of them answered at a time. People's
 * patience leaves room for the call itself within the 15 seconds that Teams waits for the answer to a click.
 */
const callLimits: GateLimits = {
  ...{ running: 24, forIdentity: 6, runningOfOne: 9 },
  ...{ waiting: 600, waitingOfOne: 60 },
  ...{ patience: 5000, patienceOfJobs: 30_000 },
}

/** Where the tenant is and who we are to it. URLs without a trailing path: `https://graph.microsoft.com`. */
export interface Microsoft365Options {
  readonly tenantId: string
  readonly clientId: string
  readonly certificate: ClientCertificate
  /** The file that it was read from: another one there takes its place. */
  readonly certificatePath?: string | undefined
  readonly loginUrl: string
  readonly directoryUrl: string
  readonly sharePointUrl: string
  readonly sharePointAdminUrl: string
  readonly exchangeUrl: string
  /** Name of the schema extension on groups that carries the request id: `svc_group`. */
  readonly directoryExtension: string
  /** The bot's app in the organisation's catalogue; without it it is installed for nobody. */
  readonly teamsAppId?: string | undefined
  /** The only way out: `app.ts` gives one that refuses to run inside a database transaction. */
  readonly fetch: typeof fetch
  /** Told of each HTTP exchange. */
  readonly log?: CallLog
  /** Told of answers that look wrong but can be lived with. */
  readonly warn?: (message: string, fields: object) => void
  /** For how long the ready check looks again before it believes a fault. Seconds; five minutes unless told. */
  readonly settleSeconds?: number
  /** The clock of what is remembered, in milliseconds; the process's own unless told. */
  readonly now?: () => number
  /** For how long a step may be at work before its job is put off. Seconds; one minute unless told. */
  readonly workSeconds?: number
}

export interface Microsoft365 {
  readonly tenant: Tenant
  readonly directory: Directory
  readonly connection: Connection
  /** How many calls to each service run and wait in this process, by the service's name for people. */
  underWay(): Readonly<Record<string, GateState>>
  /** Looks every minute whether the certificate's file has changed, until the returned function is called. */
  watchCertificate(): () => void
}

/** Fills core's ports with Microsoft 365: Graph, SharePoint and Exchange, app-only. */
export function connectMicrosoft365(options: Microsoft365Options): Microsoft365 {
  const { fetch, log, directoryExtension: extension } = options
  const directoryUrl = options.directoryUrl.replace(/\/+$/, '')
  const signIn = createSignIn(options)
  const gates = new Map<string, Gate>()
  const callerOf = (door: Door) => {
    const gate = gates.get(door.service) ?? createGate(`calls to ${door.service}`, callLimits)
    gates.set(door.service, gate)
    return createCaller(door, { token: signIn.token, gate, fetch, log })
  }
  const callGraph = callerOf({ service: graphService, resource: directoryUrl })
  const sharePointDoor = (url: string) =>
    callerOf({ service: sharePointService, resource: new URL(url).origin, headers: sharePointHeaders })
  const graph = createGraph(callGraph, directoryUrl, extension)
  const sharePoint = createSharePoint({
    call: sharePointDoor(options.sharePointUrl),
    callAdmin: sharePointDoor(options.sharePointAdminUrl),
    sharePointUrl: options.sharePointUrl,
    sharePointAdminUrl: options.sharePointAdminUrl,
  })
  const exchange = createExchange(callerOf(exchangeDoor(options.exchangeUrl)), options)
  const { teamsAppId, warn = () => undefined, settleSeconds = 300, workSeconds = 60 } = options
  const certificate = createCertificateFile({
    path: options.certificatePath,
    first: options.certificate,
    use: (next) => signIn.change(next, directoryUrl),
    warn,
  })
  return {
    tenant: {
      siteSteps: createSiteSteps({ graph, sharePoint, settleSeconds }),
      mailboxSteps: createMailboxSteps({ graph, exchange, settleSeconds, workSeconds }),
      mailboxStepsOf,
      siteRoot: sharePoint.siteRoot,
      outlookRoot: outlookRootOf(options.exchangeUrl),
      installApp: createAppInstall({ call: callGraph, root: graph.root, teamsAppId, warn }),
      health: () => healthOf({ graph, sharePoint, exchange }),
    },
    directory: createDirectory({
      ...{ graph, call: callGraph, sharePoint, exchange, extension, warn },
      ...(options.now && { now: options.now }),
    }),
    connection: { signIn: signIn.facts, certificate: certificate.facts, readCertificate: certificate.read },
    underWay: () => Object.fromEntries([...gates].map(([service, gate]) => [service, gate.state()])),
    watchCertificate: certificate.watch,
  }
}

/** Which service an entry of the {@link CallLog} is of. */
export const serviceNames: Readonly<Record<string, ServiceHealth['name']>> = {
  [graphService]: 'graph',
  [sharePointService]: 'sharePoint',
  [exchangeService]: 'exchange',
}

/** Outlook on the web is on a host of its own; whoever plays Exchange elsewhere plays Outlook too. */
function outlookRootOf(exchangeUrl: string): string {
  const { hostname, origin } = new URL(exchangeUrl)
  return hostname.endsWith('office365.com') ? 'https://outlook.office.com/' : `${origin}/`
}
