import { z } from 'zod'
import type { BodySpec, Route } from './define-route.ts'
import { type AnswerHeader, type RequestHeader, requestHeaders } from './headers.ts'
import { describeProblems, headersOf, type Part, problemContent, type RefusalBook } from './openapi-problems.ts'
import type { JsonSchema, SchemaBook } from './openapi-schemas.ts'
import { type Access, securityOf } from './openapi-security.ts'
import type { ProblemCode } from './problem-codes.ts'
import { byStatus, refusalsOf } from './refusals.ts'
import type { AnswerSpec, Example } from './route-answers.ts'

/** What stands once in the document. */
export interface Books {
  readonly schemas: SchemaBook
  readonly refusals: RefusalBook
}

/** One route as an OpenAPI operation. */
export function operationOf(route: Route, books: Books, access: Access): Part {
  const { schemas: book } = books
  const body = route.body && bodyOf(route, route.body, book)
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    security: securityOf(route, access),
    parameters: [...parametersOf(route, book), ...headersTaken(route).map(referTo)],
    ...(body && { requestBody: body }),
    responses: responsesOf(route, books),
  }
}

function parametersOf({ params, query, examples }: Route, book: SchemaBook): Part[] {
  const [example] = Object.values(examples)
  const inPath = params ? fieldsOf(book.taken(params)) : []
  const inQuery = query ? fieldsOf(book.answered(query)) : []
  return [
    ...inPath.map(([name, schema]) => ({
      ...{ name, in: 'path', required: true, schema },
      ...(example?.params?.[name] && { example: example.params[name] }),
    })),
    ...inQuery.map(([name, schema]) => ({ name, in: 'query', schema })),
  ]
}

const fieldsOf = ({ properties = {} }: JsonSchema): [string, unknown][] => Object.entries(properties)

/** The headers that a call may have: its own, and those that come with how it is served. */
export function headersTaken({ headers = [], idempotent, method, answers }: Route): RequestHeader[] {
  const isVersioned = method === 'GET' && answers[200]?.headers?.includes('ETag') === true
  return [
    ...headers,
    ...(idempotent ? ['Idempotency-Key' as const] : []),
    ...(isVersioned ? ['If-None-Match' as const] : []),
    'traceparent',
  ]
}
const referTo = (name: RequestHeader): Part => ({ $ref: `#/components/parameters/${name}` })

export const headerParameters = (): Part =>
  Object.fromEntries(
    Object.entries(requestHeaders).map(([name, { required = false, ...header }]) => [
      name,
      { name, in: 'header', required, ...header },
    ]),
  )

function bodyOf({ examples }: Route, spec: BodySpec, book: SchemaBook): Part {
  const schema = documented(spec)
  const shown = Object.entries(examples).filter(([, { body }]) => body !== undefined)
  return {
    required: !schema.safeParse(undefined).success,
    content: {
      'application/json': {
        schema: book.taken(schema),
        ...(shown.length > 0 && { examples: examplesOf(shown, ({ body }) => body) }),
      },
    },
  }
}

function documented(spec: BodySpec): z.ZodType {
  if (spec instanceof z.ZodType) return spec
  return 'signed' in spec ? spec.signed : spec.documents
}

const examplesOf = (shown: [string, Example][], pick: (example: Example) => unknown): Part =>
  Object.fromEntries(shown.map(([name, example]) => [name, { summary: example.summary, value: pick(example) }]))

/** What every answer to somebody whose calls are counted may carry: how much of the limits of use is left. */
const ofCallers = ['RateLimit-Policy', 'RateLimit'] as const

function responsesOf(route: Route, books: Books): Part {
  const codes = refusalsOf(route)
  const sometimes: readonly AnswerHeader[] = codes.includes('rate-limited') ? ofCallers : []
  const refusals = byStatus(codes)
  const answered = Object.entries(route.answers).map(([status, spec]) => {
    const codes = refusals.get(Number(status)) ?? []
    return [status, answerOf(route, Number(status), spec, codes, books.schemas, sometimes)]
  })
  const unchanged = headersTaken(route).includes('If-None-Match') && route.method === 'GET'
  const refused = [...refusals]
    .filter(([status]) => !(status in route.answers))
    .map(([status, codes]) => [status, books.refusals.refused(codes, sometimes)])
  return Object.fromEntries([
    ...answered,
    ...(unchanged
      ? [
          [
            304,
            {
              description: 'It has not changed.',
              headers: headersOf(
                ['ETag'],
                [...(route.answers[200]?.headers ?? []), ...(route.answers[200]?.sometimes ?? []), ...sometimes],
              ),
            },
          ],
        ]
      : []),
    ...refused,
  ])
}

function answerOf(
  route: Route,
  status: number,
  { says, body, mediaTypes = ['application/json'], headers = [], sometimes: perhaps = [] }: AnswerSpec,
  codes: readonly ProblemCode[],
  book: SchemaBook,
  sometimes: readonly AnswerHeader[],
): Part {
  const shown = Object.entries(route.examples).filter(([, one]) => one.status === status && one.answer !== undefined)
  const examples = shown.length > 0 && { examples: examplesOf(shown, ({ answer }) => answer) }
  const content = {
    ...(body && Object.fromEntries(mediaTypes.map((one) => [one, { schema: book.answered(body), ...examples }]))),
    ...(codes.length > 0 && problemContent(codes)),
  }
  const replayed: readonly AnswerHeader[] = route.idempotent ? ['Idempotency-Replayed'] : []
  return {
    description: [says, ...(codes.length > 0 ? [describeProblems(codes)] : [])].join('\n\n'),
    headers: headersOf(codes.length > 0 ? [] : headers, [...headers, ...perhaps, ...sometimes, ...replayed]),
    ...(Object.keys(content).length > 0 && { content }),
  }
}
