import type { z } from 'zod'
import type { AnswerHeader } from './headers.ts'

/** One answer of a route that is no problem. The handler gives what stands here: the body and each header. */
export interface AnswerSpec {
  /** What it means, in one sentence. */
  readonly says: string
  /** null = no body. A schema that takes `undefined`: with or without one. */
  readonly body: z.ZodType | null
  /** Where the handler gives the text or bytes itself: which of these they are. */
  readonly mediaTypes?: readonly string[]
  /** Beside those that every answer carries. */
  readonly headers?: readonly AnswerHeader[]
  /** Those that some of them carry. */
  readonly sometimes?: readonly AnswerHeader[]
}
/** The answers of a route by status. Problems are the same everywhere, so a route names only their codes. */
export type Answers = Readonly<Record<number, AnswerSpec>>

/** An answer as it is written. `body` is checked against its schema by tests, not while serving. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly mediaType?: string | undefined
}

type HeadersOf<S extends AnswerSpec> = S extends { readonly headers: readonly (infer H extends AnswerHeader)[] }
  ? { readonly headers: Readonly<Record<H, string>> & PerhapsOf<S> }
  : { readonly headers?: undefined }
type PerhapsOf<S extends AnswerSpec> = S extends { readonly sometimes: readonly (infer H extends AnswerHeader)[] }
  ? { readonly [P in H]?: string }
  : unknown
type BodyOf<S extends AnswerSpec> = S extends { readonly mediaTypes: readonly string[] }
  ? { readonly body: string | Uint8Array }
  : S['body'] extends z.ZodType
    ? { readonly body: z.input<S['body']> }
    : { readonly body?: undefined }

type MediaOf<S extends AnswerSpec> = S extends { readonly mediaTypes: readonly (infer M extends string)[] }
  ? { readonly mediaType: M }
  : { readonly mediaType?: undefined }

/** What a handler gives back: one of its route's answers, with its body and all of its headers. */
export type AnswerOf<A extends Answers> = {
  [S in keyof A & number]: { readonly status: S } & HeadersOf<A[S]> & BodyOf<A[S]> & MediaOf<A[S]>
}[keyof A & number]

/** Given back by a handler that has written the answer itself. */
export const answered = Symbol('answered')

/** One call of a route with its answer, as the API document shows it; a test makes each and compares. */
export interface Example {
  readonly summary: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  readonly answer?: unknown
}
/** A value that is written down once, and changed by nobody. */
type Written<T> = T extends readonly (infer E)[]
  ? readonly Written<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Written<T[K]> }
    : T

/** An example whose body and answer fit the schemas of its route. */
export type ExampleOf<P, Q, B, A extends Answers> = Omit<Example, 'body' | 'status' | 'answer'> &
  (P extends z.ZodType ? { readonly params: Readonly<Record<keyof z.output<P> & string, string>> } : unknown) &
  (Q extends z.ZodType ? { readonly query?: { readonly [K in keyof z.output<Q>]?: string } } : unknown) &
  (B extends undefined ? { readonly body?: undefined } : { readonly body?: Written<B> }) &
  { [S in keyof A & number]: { readonly status: S } & AnswerIn<A[S]> }[keyof A & number]
type AnswerIn<S extends AnswerSpec> = S extends { readonly mediaTypes: readonly string[] }
  ? { readonly answer?: S['body'] extends z.ZodType ? Written<z.input<S['body']>> : undefined }
  : S['body'] extends z.ZodType
    ? undefined extends z.input<S['body']>
      ? { readonly answer?: Written<z.input<S['body']>> }
      : { readonly answer: Written<z.input<S['body']>> }
    : { readonly answer?: undefined }
