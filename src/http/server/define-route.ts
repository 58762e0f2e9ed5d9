import { STATUS_CODES } from 'node:http'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import {
  type Actor,
  access,
  type Core,
  type Deciding,
  type Explanation,
  faultsOf,
  type HealthPart,
  type Permission,
  refuseFields,
} from '../../core/index.ts'
import type { Answer, AnswerOf, Answers, answered, Example, RequestHeader } from './answers.ts'
import type { Audience } from './authenticate.ts'
import { HttpError } from './problem.ts'
import type { ProblemCode } from './problem-codes.ts'
import type { Waiting } from './waiting.ts'

type Method = 'GET' | 'POST' | 'PUT'
/** What a route is about: the chapters of the API document, in its order. */
export const tags = {
  Sites: 'Ask for SharePoint sites.',
  Mailboxes: 'Ask for shared, equipment and room mailboxes.',
  Requests: 'Follow what was asked for, and decide it.',
  Templates: 'What can be asked for, and under which policies.',
  Webhooks: 'What was sent to subscribers, and what they get.',
  Administration: 'How the service does, and work that was given up.',
  Service: 'How the service does, its description, and the address of its bot.',
} as const
type Tag = keyof typeof tags

/** Takes one activity of a channel and writes the answer. `request.body` is the parsed JSON; nothing of it is trusted. */
type MessagesHandler = (request: Request, response: Response) => Promise<void>

/** Judges the token of an activity before its body is read. False: refused, and answered. */
type AdmitsActivity = (request: Request, response: Response) => Promise<boolean>

/** Whether the service can do its work, with one word about each part it needs. */
export interface Health {
  ready(): Promise<{ ok: boolean; checks: Record<string, string> }>
}

/** What Prometheus reads. */
export interface Metrics {
  /** The figures of this process, as text (Prometheus, "Text-based format"). Tells what is known when the store does not answer. */
  text(): Promise<string>
  /** What a scraper has to show; without it nobody may read them, unless they are open. */
  readonly token?: string | undefined
  /** Only this machine can ask: then it may without a token, if none is set. */
  readonly isOpen: boolean
}

/** The sentences that people read beside the codes of an answer. The composition root has them from the message catalogue. */
interface ApiTexts {
  explanation(line: Explanation): string
  healthPart(part: HealthPart): string
}

/** What the handlers of routes use. */
export interface Services {
  readonly core: Core
  readonly texts: ApiTexts
  /** `whsec_` and base64: what the bot's own subscription is signed with (Standard Webhooks 1.0.0). */
  readonly webhookSecret: string
  readonly messages: MessagesHandler
  /** Without it `messages` judges the token too, when the body has been read. */
  readonly admitsActivity?: AdmitsActivity
  readonly health: Health
  /** Without it there is nothing to read. */
  readonly metrics?: Metrics
  /** The API document as it is sent, and its ETag. */
  readonly openApi: () => { readonly text: Uint8Array; readonly etag: string }
  /** Calls whose answers are held until something changes. */
  readonly waiting: Waiting
}

/** What a public handler may use. */
export interface Scope {
  readonly services: Services
  readonly request: Request
  readonly response: Response
  readonly headers: Request['headers']
  /**
   * The id that a request which comes of this call gets, and by which a decision is known that it made. A repeat under the
   * same Idempotency-Key has the same.
   */
  readonly requestId: string
}
/** What a handler may use that acts for somebody. */
export interface ActorScope extends Scope {
  readonly actor: Actor
  readonly core: Core
}

/** What came in, not trusted yet. */
export interface RawInput {
  readonly params: unknown
  readonly query: Readonly<Record<string, string | string[]>>
  readonly body: unknown
}

/** A body whose schema the route names, and that core reads. */
interface CheckedByCore {
  readonly documents: z.ZodType
  /** Core's is the second look: what the schema finds wrong is refused before. */
  readonly isChecked?: true
}
/** For a body that core judges as a whole: the handler gets the JSON as it came. `schema` is what it documents. */
export const checkedByCore = (schema: z.ZodType): CheckedByCore => ({ documents: schema })
/** For a body whose form is checked, and that core gets as it came all the same, so that it knows what was left out. */
export const checkedWhole = (schema: z.ZodType): CheckedByCore => ({ documents: schema, isChecked: true })

/** A body whose bytes the handler gets, for a signature over them. */
interface SignedBody {
  readonly signed: z.ZodType
}
/** For a body that is signed: the handler gets its bytes. `schema` is what it documents. */
export const signedBody = (schema: z.ZodType): SignedBody => ({ signed: schema })

/** A schema that takes `undefined` allows an empty body. */
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

/** What a route takes in. */
interface InputSchemas<P, Q, B> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
}
interface Common<P, Q, B, A extends Answers> extends InputSchemas<P, Q, B> {
  /** What clients that are made of the API document call it (`operationId`). */
  readonly id: string
  readonly tag: Tag
  readonly method: Method
  /** As restify reads it, without the slash at the end; both forms are served. */
  readonly path: string
  readonly summary: string
  /** The headers that it reads, beside those that come with how it is served (Idempotency-Key, If-None-Match). */
  readonly headers?: readonly RequestHeader[]
  readonly answers: A
  /** Calls with their answers, from the `examples.json` of the room. A test checks each against the schemas. */
  readonly examples: Readonly<Record<string, Example>>
  /** The codes of the problems that its own work can end in; those of how it is served come to them. */
  readonly refusals: readonly ProblemCode[]
  /** Is a POST and yet writes nothing: counted as a read. */
  readonly onlyReads?: true
  /** How many reads a body costs beside the call itself, by the work that it orders. The body was not checked yet. */
  readonly extraReads?: (body: unknown) => number
  /** Whether a body only orders a check: its answer is not kept for repeats. The body was not checked yet. */
  readonly changesNothing?: (body: unknown) => boolean
  /** Takes an Idempotency-Key. */
  readonly idempotent?: true
  /** Media other than JSON is answered, or nobody reads the answer: Accept is not looked at. */
  readonly anyAccept?: true
  /** Bytes and nesting that the body may have, where they differ from the API's. */
  readonly largest?: { readonly bytes: number; readonly depth: number }
}
interface ActorSpec<P, Q, B, A extends Answers> extends Common<P, Q, B, A> {
  /** What the caller needs, by core's access table. What depends on one request is decided by core when it has read it. */
  readonly permission: Permission
  readonly audience: Audience
  /** Which API a body belongs to, where it says so itself: the token has to be for that one. */
  readonly audienceOf?: (body: unknown) => Audience
  /** A decision about a request: that somebody tried who is let into nothing is written down. */
  readonly decides?: Deciding
  /**
   * Throws unless the caller may still make this call. It runs before a stored answer is given again. Every idempotent route
   * needs it whose permission depends on the request or the batch; for the others the permission alone decides.
   */
  readonly mayStill?: (scope: ActorScope, params: Input<P, Q, B>['params']) => Promise<unknown>
  handle(scope: ActorScope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>>>
}
interface PublicSpec<P, Q, B, A extends Answers> extends Common<P, Q, B, A> {
  readonly permission: 'public'
  readonly audience: null
  /** What the handler itself asks for in place of an access token. */
  readonly credential?: 'signature' | 'connector' | 'metrics'
  /** Judges who calls before the body is read. False: refused, and answered. */
  readonly admit?: (scope: Scope) => Promise<boolean>
  handle(scope: Scope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>> | typeof answered>
}

type AnySchema = z.ZodType | undefined
type Described = Common<AnySchema, AnySchema, BodySpec | undefined, Answers>
export interface ActorRoute extends Described {
  readonly permission: Permission
  readonly audience: Audience
  readonly audienceOf?: (body: unknown) => Audience
  readonly decides?: Deciding
  /** Throws unless the caller may still have the answer that was stored for this call. */
  recheck(raw: RawInput, scope: ActorScope): Promise<unknown>
  /** Checks the input and gives the call that it makes. Throws 404 for an address, 422 for a query or body. */
  prepare(raw: RawInput): (scope: ActorScope) => Promise<Answer>
}
export interface PublicRoute extends Described {
  readonly permission: 'public'
  readonly audience: null
  readonly credential?: 'signature' | 'connector' | 'metrics'
  readonly admit?: (scope: Scope) => Promise<boolean>
  prepare(raw: RawInput): (scope: Scope) => Promise<Answer | typeof answered>
}
export type Route = ActorRoute | PublicRoute

/** One verb of the REST contract (DESIGN §5) for signed-in callers: address, permission, schemas and handler in one value. */
export function defineRoute<
  const A extends Answers,
  P extends AnySchema = undefined,
  Q extends AnySchema = undefined,
  B extends BodySpec | undefined = undefined,
>(spec: ActorSpec<P, Q, B, A>): ActorRoute {
  const { mayStill } = spec
  if (spec.idempotent && !mayStill && !isDecidedHere(spec.permission))
    throw new Error(`${spec.id} stores answers and does not say who may still have them`)
  return {
    ...spec,
    recheck: async (raw, scope) => mayStill?.(scope, paramsOf(spec, raw)),
    prepare(raw) {
      const input = parseInput(spec, raw)
      return (scope) => spec.handle(scope, input)
    },
  }
}

/** A permission that nobody has by what they are to one request. The others are decided by core, which reads it. */
export function isDecidedHere(permission: Permission): boolean {
  const roles: readonly string[] = access[permission]
  return !roles.includes('requester') && !roles.includes('approver')
}

/** The same for callers that show no token: signed webhooks, the bot's channel, health. */
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

/** All routes of a server. Throws at start when two answer to the same call or id, or one claims a status that HTTP has not. */
export function routeRegistry(...routes: readonly Route[]): readonly Route[] {
  const known = new Set<string>()
  for (const { id, method, path, answers } of routes) {
    const call = `${method} ${path.replace(/:[^/]+/g, ':')}`
    if (known.has(call)) throw new Error(`two routes answer to ${method} ${path}`)
    if (!path.startsWith('/') || path.endsWith('/'))
      throw new Error(`${path} must begin with a slash and not end with one`)
    const unknown = Object.keys(answers).find((status) => !(status in STATUS_CODES))
    if (unknown !== undefined) throw new Error(`${method} ${path} claims the status ${unknown}`)
    if (known.has(id)) throw new Error(`two routes are called ${id}`)
    known.add(call).add(id)
  }
  return routes
}

function parseInput<P, Q, B>(spec: InputSchemas<P, Q, B>, raw: RawInput): Input<P, Q, B> {
  const params = paramsOf(spec, raw)
  const query = spec.query instanceof z.ZodType ? parseFields(spec.query, raw.query) : undefined
  const body = parseBody(spec.body, raw.body)
  return { params, query, body } as Input<P, Q, B>
}

function paramsOf<P, Q, B>({ params }: InputSchemas<P, Q, B>, raw: RawInput): Input<P, Q, B>['params'] {
  return (params instanceof z.ZodType ? parseParams(params, raw.params) : undefined) as Input<P, Q, B>['params']
}

function parseParams(schema: z.ZodType, params: unknown): unknown {
  const parsed = schema.safeParse(params)
  if (!parsed.success) throw new HttpError('no-such-address', 'There is nothing at this address.')
  return parsed.data
}

const isSigned = (spec: unknown): boolean => typeof spec === 'object' && spec !== null && 'signed' in spec

const isCheckedWhole = (spec: unknown): spec is CheckedByCore =>
  typeof spec === 'object' && spec !== null && 'isChecked' in spec

function parseBody(spec: unknown, body: unknown): unknown {
  if (spec === undefined || isSigned(spec)) return body
  const schema = spec instanceof z.ZodType ? spec : undefined
  if (body === undefined && !schema?.safeParse(undefined).success)
    throw new HttpError('malformed-json', 'The body is empty; a JSON object is expected.')
  if (isCheckedWhole(spec)) parseFields(spec.documents, body)
  return schema ? parseFields(schema, body) : body
}

function parseFields(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : refuseFields(faultsOf(parsed.error, value))
}
