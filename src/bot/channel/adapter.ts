import { AsyncLocalStorage } from 'node:async_hooks'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  type Activity,
  CloudAdapter,
  ConfigurationBotFrameworkAuthentication,
  type InvokeResponse,
  type ResourceResponse,
  type TurnContext,
} from 'botbuilder'
import {
  ClaimsIdentity,
  type ConnectorClient,
  type ConnectorFactory,
  type UserTokenClient,
} from 'botframework-connector'
import { isRecord, traceparentNow } from '../../core/index.ts'
import { type Connector, connectors } from './connectors.ts'
import type { IncomingActivity } from './guard.ts'

export interface Credentials {
  readonly appId: string
  readonly password: string | undefined
  readonly tenantId: string
  readonly type: string
}

/**
 * The state of a call to the connector. `left`: its request was sent, so it may have arrived. A call that is `givenUp`
 * before is never sent.
 */
export interface Leaving {
  left: boolean
  givenUp: boolean
}
export const leaving = new AsyncLocalStorage<Leaving>()
/** Sends the trace id to the connector, so that its support can find a card. */
const nameTrace = {
  name: 'nameTrace',
  sendRequest<Request extends { readonly headers: { set(name: string, value: string): unknown } }, Answer>(
    request: Request,
    next: (request: Request) => Answer,
  ): Answer {
    const traceparent = traceparentNow()
    if (traceparent !== undefined) request.headers.set('traceparent', traceparent)
    return next(request)
  },
}
/** Runs after the token was added, directly before the request is sent. */
const noteLeaving = {
  name: 'noteLeaving',
  sendRequest<Request, Answer>(request: Request, next: (request: Request) => Answer): Answer {
    const call = leaving.getStore()
    if (call?.givenUp) throw new Error('the call timed out before its request was sent')
    if (call) call.left = true
    return next(request)
  },
}

/**
 * Removes the SDK's retry policy, because the SDK has no option for this. The policy repeats a POST whose answer is
 * lost, which would send a card twice. The card sender decides about retries.
 */
class OnceOnlyAuthentication extends ConfigurationBotFrameworkAuthentication {
  readonly #freshConnections = freshConnections()
  /** One client for each address. The SDK would create one, with its pipeline, in every turn. */
  readonly #clients = new Map<string, Promise<ConnectorClient>>()
  #userTokens: Promise<UserTokenClient> | undefined

  override createConnectorFactory(identity: ClaimsIdentity): ConnectorFactory {
    const factory = super.createConnectorFactory(identity)
    return {
      create: (serviceUrl, audience) => {
        // Every identity here has our own app id, so clients differ only by these two.
        const address = `${serviceUrl} ${audience}`
        const known = this.#clients.get(address)
        if (known) return known
        const client = factory.create(serviceUrl, audience).then((made) => this.#prepared(made))
        if (this.#clients.size >= maxClients) this.#clients.clear()
        this.#clients.set(address, client)
        client.catch(() => this.#clients.delete(address))
        return client
      },
    }
  }

  /** Returns one client for all turns. The SDK puts it into each turn for sign-in dialogs, which this bot does not have. */
  override createUserTokenClient(identity: ClaimsIdentity): Promise<UserTokenClient> {
    if (this.#userTokens) return this.#userTokens
    const client = super.createUserTokenClient(identity)
    this.#userTokens = client
    client.catch(() => {
      this.#userTokens = undefined
    })
    return client
  }

  #prepared(client: ConnectorClient): ConnectorClient {
    const { pipeline } = client['client']
    if (pipeline.removePolicy({ name: 'defaultRetryPolicy' }).length === 0) {
      throw new Error('the connector client has no retry policy; check its pipeline')
    }
    pipeline.addPolicy(nameTrace)
    pipeline.addPolicy(noteLeaving, { afterPhase: 'Sign' })
    pipeline.addPolicy(this.#freshConnections, { afterPhase: 'Sign' })
    return client
  }
}

/** Maximum number of connector clients. A tenant has one address, and its region may have a few. */
const maxClients = 20

/** Runs activities that our guard has verified. The SDK's own token check never runs. */
export class GuardedAdapter extends CloudAdapter {
  readonly appId: string
  readonly connector: Connector
  /** Without credentials: local mode, where the chat is the Playground. */
  readonly #isPlayground: boolean

  constructor(credentials: Credentials | undefined, connector: Connector = connectors.public) {
    const known = credentials && {
      MicrosoftAppId: credentials.appId,
      MicrosoftAppPassword: credentials.password ?? '',
      MicrosoftAppTenantId: credentials.tenantId,
      MicrosoftAppType: credentials.type,
      ChannelService: connector.channelService,
    }
    super(new OnceOnlyAuthentication(known ?? {}))
    this.appId = credentials?.appId ?? ''
    this.connector = connector
    this.#isPlayground = credentials === undefined
  }

  override sendActivities(context: TurnContext, activities: Partial<Activity>[]): Promise<ResourceResponse[]> {
    return super.sendActivities(context, this.#isPlayground ? activities.map(forPlayground) : activities)
  }

  override updateActivity(context: TurnContext, activity: Partial<Activity>) {
    return super.updateActivity(context, this.#isPlayground ? forPlayground(activity) : activity)
  }

  /** Runs a verified activity. Returns the answer of an invoke. */
  async hear(
    verified: IncomingActivity,
    claims: Record<string, unknown>,
    logic: (context: TurnContext) => Promise<void>,
  ): Promise<InvokeResponse | undefined> {
    const identity = new ClaimsIdentity(
      Object.entries({ ...claims, aud: this.appId, appid: this.appId }).map(([type, value]) => ({
        type,
        value: String(value),
      })),
      true,
    )
    const connectorFactory = this.botFrameworkAuthentication.createConnectorFactory(identity)
    return this.processActivity(
      {
        audience: this.connector.audience,
        claimsIdentity: identity,
        connectorFactory,
        callerId: '',
      },
      asActivity(verified),
      logic,
    )
  }
}

/** Converts the type: the SDK requires fields that Teams may omit. The guard has checked the fields that we use. */
function asActivity(verified: IncomingActivity): Activity {
  const { timestamp, localTimestamp, ...rest } = verified
  const times = { ...dated('timestamp', timestamp), ...dated('localTimestamp', localTimestamp) }
  return { ...rest, ...times, ...(timestamp && { rawTimestamp: timestamp }) } as Partial<Activity> as Activity
}

const dated = (name: 'timestamp' | 'localTimestamp', at: string | undefined) =>
  at !== undefined && !Number.isNaN(Date.parse(at)) ? { [name]: new Date(at) } : {}

/** The longest idle time after which a connection is used again, in milliseconds. */
const freshMilliseconds = 2000

/** The part of the SDK's request that chooses its connection. */
interface ConnectorRequest {
  readonly url: string
  agent?: HttpAgent
}

/**
 * Creates a policy of the connector client that reuses a connection only shortly after its last use. A server closes an
 * idle connection after some seconds (Node's after 5). A request that is sent at that moment is lost and cannot be
 * repeated, because it may have arrived: the person would see an error. The policy reads the clock in addition to the
 * agent's timer, because a busy process runs its timers late. The policy does not change a connection through a proxy.
 */
export function freshConnections(now: () => number = () => performance.now()) {
  const options = { keepAlive: true, timeout: freshMilliseconds }
  const [http, https] = [new HttpAgent(options), new HttpsAgent(options)]
  let usedAt = Number.NEGATIVE_INFINITY
  return {
    name: 'freshConnections',
    async sendRequest<Request extends ConnectorRequest, Answer>(
      request: Request,
      next: (request: Request) => Promise<Answer>,
    ): Promise<Answer> {
      const agent = request.url.startsWith('https:') ? https : http
      if (now() - usedAt > freshMilliseconds) closeIdle(agent)
      request.agent ??= agent
      usedAt = now()
      try {
        return await next(request)
      } finally {
        usedAt = now()
      }
    },
  }
}

function closeIdle(agent: HttpAgent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
}

/**
 * Changes an activity for the Agents Playground, whose renderer throws on buttons that type a command
 * (`msteams: { type: 'imBack' }`): there the buttons send the command as data. Teams gets them unchanged.
 */
export function forPlayground(activity: Partial<Activity>): Partial<Activity> {
  const { attachments, value } = activity
  return {
    ...activity,
    ...(attachments && { attachments: attachments.map((one) => ({ ...one, content: sending(one.content) })) }),
    ...(activity.type === 'invokeResponse' && { value: sending(value) }),
  }
}

/** Returns a copy of a part of a card, with data instead of commands. */
function sending(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(sending)
  if (!isRecord(part)) return part
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(part)) {
    const typed = name === 'data' && isRecord(member) && isRecord(member['msteams']) ? member['msteams'] : undefined
    copy[name] = typed?.['type'] === 'imBack' ? { types: typed['value'] } : sending(member)
  }
  return copy
}
