import { STATUS_CODES } from 'node:http'
import type { Request, Response } from 'restify'
import { z } from 'zod'
import { type Actor, faultsOf, type Permission, type Provisioning, refuseFields } from '../core/index.ts'
import type { Audience } from './authenticate.ts'
import { HttpError } from './problem.ts'
import type { Services } from './services.ts'

export type Method = 'GET' | 'POST' | 'PUT'

/** What each success answers, by status; null = no body. Errors are the same everywhere: `problemBody`. */
export type Answers = Readonly<Record<number, z.ZodType | null>>
/** What a handler gives back. `body` is checked against the route's schema by tests, not while serving. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}
type AnswerOf<A extends Answers> = {
  [S in keyof A & number]: {
    readonly status: S
    readonly headers?: Readonly<Record<string, string>>
  } & (A[S] extends z.ZodType ? { readonly body: z.input<A[S]> } : { readonly body?: undefined })
}[keyof A & number]

/** Given back by a handler that has written the answer itself. */
export const answered = Symbol('answered')

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
  readonly provisioning: Provisioning
}

/** What came in, not trusted yet. */
export interface RawInput {
  readonly params: unknown
  readonly query: Readonly<Record<string, string | string[]>>
  readonly body: unknown
}

/** A body whose schema the route names, and that core reads. */
export interface CheckedByCore {
  readonly documents: z.ZodType
}
/** For a body that core judges as a whole: the handler gets the JSON as it came. `schema` is what it documents. */
export const checkedByCore = (schema: z.ZodType): CheckedByCore => ({ documents: schema })

/** `raw`: the bytes themselves, for a signature over them. A schema that takes `undefined` allows an empty body. */
export type BodySpec = z.ZodType | 'raw' | CheckedByCore
type Parsed<S, Raw> = S extends z.ZodType
  ? z.output<S>
  : S extends 'raw'
    ? Raw
    : S extends CheckedByCore
      ? unknown
      : undefined
interface Input<P, Q, B> {
  readonly params: Parsed<P, never>
  readonly query: Parsed<Q, never>
  readonly body: Parsed<B, Buffer>
}

interface Common<P, Q, B, A extends Answers> {
  readonly method: Method
  /** As restify reads it, without the slash at the end; both forms are served. */
  readonly path: string
  readonly summary: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly answers: A
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
  handle(scope: ActorScope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>>>
}
interface PublicSpec<P, Q, B, A extends Answers> extends Common<P, Q, B, A> {
  readonly permission: 'public'
  readonly audience: null
  handle(scope: Scope, input: Input<P, Q, B>): Promise<AnswerOf<NoInfer<A>> | typeof answered>
}

type AnySchema = z.ZodType | undefined
interface Described extends Common<AnySchema, AnySchema, BodySpec | undefined, Answers> {}
export interface ActorRoute extends Described {
  readonly permission: Permission
  readonly audience: Audience
  /** Checks the input and gives the call that it makes. Throws 404 for an address, 422 for a query or body. */
  prepare(raw: RawInput): (scope: ActorScope) => Promise<Answer>
}
export interface PublicRoute extends Described {
  readonly permission: 'public'
  readonly audience: null
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
  return {
    ...spec,
    prepare(raw) {
      const input = parseInput(spec, raw)
      return (scope) => spec.handle(scope, input)
    },
  }
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

/** All routes of a server. Throws at start when two answer to the same call, or one claims a status that HTTP has not. */
export function routeRegistry(...routes: readonly Route[]): readonly Route[] {
  const known = new Set<string>()
  for (const { method, path, answers } of routes) {
    const call = `${method} ${path.replace(/:[^/]+/g, ':')}`
    if (known.has(call)) throw new Error(`two routes answer to ${method} ${path}`)
    if (!path.startsWith('/') || path.endsWith('/'))
      throw new Error(`${path} must begin with a slash and not end with one`)
    const unknown = Object.keys(answers).find((status) => !(status in STATUS_CODES))
    if (unknown !== undefined) throw new Error(`${method} ${path} claims the status ${unknown}`)
    known.add(call)
  }
  return routes
}

function parseInput<P, Q, B>(spec: Common<P, Q, B, Answers>, raw: RawInput): Input<P, Q, B> {
  const params = spec.params instanceof z.ZodType ? parseParams(spec.params, raw.params) : undefined
  const query = spec.query instanceof z.ZodType ? parseFields(spec.query, raw.query) : undefined
  const body = parseBody(spec.body, raw.body)
  return { params, query, body } as Input<P, Q, B>
}

function parseParams(schema: z.ZodType, params: unknown): unknown {
  const parsed = schema.safeParse(params)
  if (!parsed.success) throw new HttpError('no-such-address', 'There is nothing at this address.')
  return parsed.data
}

function parseBody(spec: unknown, body: unknown): unknown {
  if (spec === undefined || spec === 'raw') return body
  const schema = spec instanceof z.ZodType ? spec : undefined
  if (body === undefined && !schema?.safeParse(undefined).success)
    throw new HttpError('malformed-json', 'The body is empty; a JSON object is expected.')
  return schema ? parseFields(schema, body) : body
}

function parseFields(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value)
  return parsed.success ? parsed.data : refuseFields(faultsOf(parsed.error, value))
}
