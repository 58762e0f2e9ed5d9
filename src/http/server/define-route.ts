import { STATUS_CODES } from 'node:http'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import {
  type Actor,
  access,
  type Core,
  type Deciding,
  faultsOf,
  type Permission,
  refuseFields,
  withoutNulls,
} from '../../core/index.ts'
import type { Answer, AnswerOf, Answers, answered, Example, RequestHeader } from './answers.ts'
import type { Audience } from './authenticate.ts'
import { type ApiTexts, HttpError } from './problem.ts'
import type { ProblemCode } from './problem-codes.ts'
import type { Waiting } from './waiting.ts'

type Method = 'GET' | 'POST' | 'PUT'
/** The chapters of the API document, in its order. */
export const tags = {
  Sites: 'Request SharePoint sites.',
  Mailboxes: 'Request shared, equipment and room mailboxes.',
  Requests: 'Follow requests and decide them.',
  Templates: 'Templates for requests, and their policies.',
  Webhooks: 'Webhooks to receivers, and their delivery log.',
  Administration: 'Health and statistics of the service, audit, and failed jobs.',
  Service: 'Probes, metrics, the API document, pages, and the address of the bot.',
} as const
type Tag = keyof typeof tags

/** Handles one activity of a channel and writes the answer. `request.body` is parsed JSON and not trusted. */
type MessagesHandler = (request: Request, response: Response) => Promise<void>

/** Checks the token of an activity before its body is read. False: refused and answered. */
type AdmitsActivity = (request: Request, response: Response) => Promise<boolean>

/** Whether the service is ready, with one text for each part that it needs. */
export interface Health {
  /** Names this installation, the same for all its processes. */
  readonly serviceId?: string
  ready(): Promise<{ ok: boolean; checks: Record<string, string> }>
}

export interface Metrics {
  /** Metrics of this process (Prometheus, "Text-based format"); without those of the store while it does not answer. */
  text(): Promise<string>
  /** The token that a scraper must send. Without it nobody may read metrics, unless they are open. */
  readonly token?: string | undefined
  /** Only this machine can call the server, so no token is needed if none is set. */
  readonly isOpen: boolean
}

export interface OwnPages {
  readonly privacy?: string | undefined
  readonly terms?: string | undefined
}

export interface Services {
  readonly core: Core
  readonly texts: ApiTexts
  /** The secret of the bot's own subscription: `whsec_` and base64 (Standard Webhooks 1.0.0). */
  readonly webhookSecret: string
  readonly messages: MessagesHandler
  /** If absent, `messages` checks the token after it has read the body. */
  readonly admitsActivity?: AdmitsActivity
  readonly health: Health
  readonly metrics?: Metrics
  /** The serialised API document and its ETag. */
  readonly openApi: () => { readonly text: Uint8Array; readonly etag: string }
  /** How people sign in on the page /docs. */
  readonly docs: {
    readonly tokenUrl: string
    /** The client id of a registration with the page's redirect URI. Without it, people enter a client id. */
    readonly clientId: string | undefined
  }
  /** The organisation's own pages, which replace ours. */
  readonly ownPages?: OwnPages | undefined
  /** Calls that wait for a change. */
  readonly waiting: Waiting
}

export interface Scope {
  readonly services: Services
  readonly request: Request
  readonly response: Response
  readonly headers: Request['headers']
  /**
   * The id of a request that this call creates, and of its decision. A repeat under the same Idempotency-Key has the
   * same id.
   */
  readonly requestId: string
}
export interface ActorScope extends Scope {
  readonly actor: Actor
  readonly core: Core
}

export interface RawInput {
  readonly params: unknown
  readonly query: Readonly<Record<string, string | string[]>>
  readonly body: unknown
}

/** A body that core reads; the schema describes it. */
interface CheckedByCore {
  readonly documents: z.ZodType
  /** Removes absent fields. The rest is checked by the schema before core reads the body. */
  readonly present?: (body: unknown) => unknown
}
/** For a body that core validates as a whole: the handler gets the JSON unchanged. */
export const checkedByCore = (schema: z.ZodType): CheckedByCore => ({ documents: schema })
/** For a body that is validated here and passed on unchanged, so that core sees which fields were omitted. */
export const checkedWhole = (schema: z.ZodType, present: (body: unknown) => unknown): CheckedByCore => ({
  documents: schema,
  present,
})

interface SignedBody {
  readonly signed: z.ZodType
}
/** For a signed body: the handler gets its bytes. */
export const signedBody = (schema: z.ZodType): SignedBody => ({ signed: schema })

/** A schema that accepts `undefined` allows an empty body. */
export type BodySpec = z.ZodType | SignedBody | CheckedByCore
type Parsed<S, Raw> = S extends z.ZodType
  ? z.output<S>
  : S extends SignedBody
    ? Raw
    : S extends CheckedByCore
      ? unknown
      : undefined
interface Input<P, Q, B> {
  readonly params: Parsed<P, never>
  readonly query: Parsed<Q, never>
  readonly body: Parsed<B, Buffer>
}

interface InputSchemas<P, Q, B> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
}
interface Common<P, Q, B, A extends Answers> extends InputSchemas<P, Q, B> {
  /** The `operationId` for generated clients. */
  readonly id: string
  readonly tag: Tag
  readonly method: Method
  /** In restify's syntax, without a slash at the end; both forms are served. */
  readonly path: string
  /** Whether OpenAPI shows the address with a slash at the end. Both forms are served. */
  readonly endsWithSlash?: true
  readonly summary: string
  /** The effect of the call for a caller, in one to three sentences. */
  readonly description: string
  /** Headers that the handler reads. The server adds Idempotency-Key and If-None-Match. */
  readonly headers?: readonly RequestHeader[]
  readonly answers: A
  /** Calls with their answers, from the room's `examples.json`. A test checks each against the schemas. */
  readonly examples: Readonly<Record<string, Example>>
  /** The problems of the handler. The problems of the server are added. */
  readonly refusals: readonly ProblemCode[]
  /** A POST that writes nothing: counted as a read. */
  readonly onlyReads?: true
  /** How many more reads a body costs. The body is not validated yet. */
  readonly extraReads?: (body: unknown) => number
  /** Whether a body only requests a check, so its answer is not stored for repeats. The body is not validated yet. */
  readonly changesNothing?: (body: unknown) => boolean
  /** Accepts an Idempotency-Key. */
  readonly idempotent?: true
  /** Ignores Accept: the answer is not JSON, or nobody reads it. */
  readonly anyAccept?: true
  /** How long the handler may take, if it is longer than other calls. Seconds. */
  readonly longestSeconds?: number
  /** The body's limits, if they differ from the API's. */
  readonly largest?: { readonly bytes: number; readonly depth: number }
}
interface ActorSpec<P, Q, B, A extends Answers> extends Common<P, Q, B, A> {
  /** The permission of core's access table. Core checks permissions that depend on one request. */
  readonly permission: Permission
  readonly audience: Audience
  /** The API that a body belongs to, if the body names it: the token must be for this API. */
  readonly audienceOf?: (body: unknown) => Audience
  /** A decision about a request: the attempt of a person without access is audited. */
  readonly decides?: Deciding
  /**
   * Throws unless the caller may still make this call. It runs before a stored answer is repeated. Every idempotent
   * route needs it if its permission depends on the request or the batch.
   */
  readonly mayStill?: (scope: ActorScope, params: Input<P, Q, B>['params']) => Promise<unknown>
  handle(scope: ActorScope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>>>
}
interface PublicSpec<P, Q, B, A extends Answers> extends Common<P, Q, B, A> {
  readonly permission: 'public'
  readonly audience: null
  /** The credential that replaces an access token; the handler checks it. */
  readonly credential?: 'signature' | 'connector' | 'metrics'
  /** Checks the caller before the body is read. False: refused and answered. */
  readonly admit?: (scope: Scope) => Promise<boolean>
  handle(scope: Scope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>> | typeof answered>
}

type AnySchema = z.ZodType | undefined
type AnyBody = BodySpec | undefined
export interface ActorRoute extends Omit<ActorSpec<AnySchema, AnySchema, AnyBody, Answers>, 'handle' | 'mayStill'> {
  /** Throws unless the caller may still see the stored answer of this call. */
  recheck(raw: RawInput, scope: ActorScope): Promise<unknown>
  /** Validates the input and returns the call. Throws 404 for an address, 422 for a query or body. */
  prepare(raw: RawInput): (scope: ActorScope) => Promise<Answer>
}
export interface PublicRoute extends Omit<PublicSpec<AnySchema, AnySchema, AnyBody, Answers>, 'handle'> {
  prepare(raw: RawInput): (scope: Scope) => Promise<Answer | typeof answered>
}
export type Route = ActorRoute | PublicRoute

/** Defines a route for signed-in callers (DESIGN §5): address, permission, schemas and handler in one value. */
export function defineRoute<
  const A extends Answers,
  P extends AnySchema = undefined,
  Q extends AnySchema = undefined,
  B extends BodySpec | undefined = undefined,
>(spec: ActorSpec<P, Q, B, A>): ActorRoute {
  const { mayStill } = spec
  if (spec.idempotent && !mayStill && !isDecidedHere(spec.permission))
    throw new Error(`the route ${spec.id} stores answers, so it needs mayStill`)
  return {
    ...spec,
    recheck: async (raw, scope) => mayStill?.(scope, paramsOf(spec, raw)),
    prepare(raw) {
      const input = parseInput(spec, raw)
      return (scope) => spec.handle(scope, input)
    },
  }
}

/** Whether a permission does not depend on one request. Core checks the others when it has read the request. */
export function isDecidedHere(permission: Permission): boolean {
  const roles: readonly string[] = access[permission]
  return !roles.includes('requester') && !roles.includes('approver')
}

/** Defines a route for callers without an access token: signed webhooks, the bot's channel, health. */
export function definePublicRoute<
  const A extends Answers,
  P extends AnySchema = undefined,
  Q extends AnySchema = undefined,
  B extends BodySpec | undefined = undefined,
>(spec: PublicSpec<P, Q, B, A>): PublicRoute {
  return {
    ...spec,
    prepare(raw) {
      const input = parseInput(spec, raw)
      return (scope) => spec.handle(scope, input)
    },
  }
}

/** All routes of a server. Throws at start if two have the same call or id, or a status does not exist. */
export function routeRegistry(...routes: readonly Route[]): readonly Route[] {
  const known = new Set<string>()
  for (const { id, method, path, answers } of routes) {
    const call = `${method} ${path.replace(/:[^/]+/g, ':')}`
    if (known.has(call)) throw new Error(`two routes serve ${method} ${path}`)
    if (!path.startsWith('/') || path.endsWith('/'))
      throw new Error(`the path ${path} must start with a slash and must not end with one`)
    const unknown = Object.keys(answers).find((status) => !(status in STATUS_CODES))
    if (unknown !== undefined) throw new Error(`${method} ${path} has the unknown status ${unknown}`)
    if (known.has(id)) throw new Error(`two routes have the id ${id}`)
    known.add(call).add(id)
  }
  return routes
}

function parseInput<P, Q, B>(spec: InputSchemas<P, Q, B>, raw: RawInput): Input<P, Q, B> {
  const params = paramsOf(spec, raw)
  const query = spec.query instanceof z.ZodType ? parseFields(spec.query, raw.query) : undefined
  const body = parseBody(spec.body as BodySpec | undefined, raw.body)
  return { params, query, body } as Input<P, Q, B>
}

function paramsOf<P, Q, B>({ params }: InputSchemas<P, Q, B>, raw: RawInput): Input<P, Q, B>['params'] {
  return (params instanceof z.ZodType ? parseParams(params, raw.params) : undefined) as Input<P, Q, B>['params']
}

function parseParams(schema: z.ZodType, params: unknown): unknown {
  const parsed = schema.safeParse(params)
  if (!parsed.success) throw new HttpError('no-such-address', 'The API has no such address.')
  return parsed.data
}

function parseBody(spec: BodySpec | undefined, body: unknown): unknown {
  if (spec === undefined || 'signed' in spec) return body
  const schema = spec instanceof z.ZodType ? spec : undefined
  if (body === undefined && !schema?.safeParse(undefined).success)
    throw new HttpError('malformed-json', 'The body is empty. Send a JSON object.')
  if (schema) return parseFields(schema, withoutNulls(schema, body))
  if ('present' in spec && spec.present) parseFields(spec.documents, spec.present(body))
  return body
}

function parseFields(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : refuseFields(faultsOf(parsed.error, value))
}
