import { z } from 'zod'
import { access, anyWebhookBody } from '../../core/index.ts'
import examples from '../routes/webhooks/examples.json' with { type: 'json' }
import type { AnswerHeader, AnswerSpec, Example, RequestHeader } from './answers.ts'
import { type ActorRoute, type BodySpec, type Route, tags } from './define-route.ts'
import {
  type Access,
  createRefusalBook,
  createSchemaBook,
  describeProblems,
  headerComponents,
  headerParameters,
  headersOf,
  type JsonSchema,
  type Part,
  problemContent,
  problemExampleComponents,
  type RefusalBook,
  type SchemaBook,
  scopesOf,
  securitySchemes,
} from './openapi-components.ts'
import { problemBody } from './problem.ts'
import { type ProblemCode, problemCodes } from './problem-codes.ts'

const description = `Requests Microsoft 365 mailboxes and SharePoint sites by templates and their policies.

The service **accepts a request at once and creates the resource later**. It answers 202 with a \`requestId\`. Read the
request at \`Location\` after \`Retry-After\` seconds, then every ten seconds, until its \`status\` is succeeded, failed,
rejected, expired or cancelled. Or let the template’s webhook notify you.

- Send an **Idempotency-Key** with every POST: a repeat with the same key does nothing twice.
- **Errors** are RFC 9457 problems: branch on \`code\`, show \`detail\` to people.
- **Times** are ISO 8601 in UTC; **ids** are UUIDs, in any case.
- Addresses work with and without a slash at the end. Each GET address also answers HEAD. The answer to any other
  method is 405 \`method-not-allowed\` with Allow.
- Later versions may add fields to answers. A body with an undocumented field is refused.
- In a body, **null** in an optional field means that the field is absent. In a field of another kind of resource,
  \`false\`, \`""\`, \`[]\` and \`{}\` mean the same, so a typed client may send every field.
- \`errors\` has one entry for each field.`

/** The API document, built from the routes, as OpenAPI 3.1.1 (https://spec.openapis.org/oas/v3.1.1). */
export function openApiOf(routes: readonly Route[], settings: Access): Part & { readonly openapi: '3.1.1' } {
  const books = { schemas: createSchemaBook(), refusals: createRefusalBook() }
  books.schemas.output(problemBody)
  const paths = pathsOf(routes, books, settings)
  const webhooks = { provisioning: webhookOf(books.schemas) }
  return withoutUnused({
    openapi: '3.1.1' as const,
    info: {
      title: 'Quartermaster',
      version: '1.0.0',
      summary: 'Provisions mailboxes and sites on request, by templates and their policies.',
      description,
      contact: { name: 'Administrators of this service', url: `${settings.baseUrl}/about` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: settings.baseUrl, description: 'This service' }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    paths,
    webhooks,
    components: {
      schemas: books.schemas.components,
      responses: books.refusals.components,
      parameters: headerParameters(),
      headers: headerComponents(),
      examples: problemExampleComponents(),
      securitySchemes: securitySchemes(settings),
    },
  })
}

/** Removes unused components. Security schemes stay, because they are referred to by name. */
function withoutUnused<D extends { readonly components: Readonly<Record<string, Part>> }>(document: D): D {
  const text = JSON.stringify(document)
  const components = Object.entries(document.components).map(([kind, parts]) => {
    const isUsed = (name: string) => kind === 'securitySchemes' || text.includes(`"#/components/${kind}/${name}"`)
    return [kind, Object.fromEntries(Object.entries(parts).filter(([name]) => isUsed(name)))]
  })
  return { ...document, components: Object.fromEntries(components) }
}

/** Returns the path of a route in OpenAPI's syntax: `/requests/v1/{requestId}`, `/collab/v1/spo/`. */
const openApiPath = ({ path, endsWithSlash }: Pick<Route, 'path' | 'endsWithSlash'>): string =>
  `${path.replace(/:([^/]+)/g, '{$1}')}${endsWithSlash ? '/' : ''}`

function pathsOf(routes: readonly Route[], books: Books, settings: Access): Part {
  const paths: Record<string, Record<string, Part>> = {}
  for (const route of routes) {
    const path = openApiPath(route)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, books, settings) }
  }
  return paths
}

/** The webhook to a template's receiver (DESIGN §5). */
function webhookOf(book: SchemaBook): Part {
  const headers = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }))
  return {
    post: {
      operationId: 'provisioningWebhook',
      tags: ['Webhooks'],
      summary: 'The webhook to the receiver of a template, signed by Standard Webhooks',
      description:
        'The service sends it when a resource is ready or a request ends without one. Answer 2xx within 15 seconds.',
      security: [{ signature: [] }],
      parameters: headers,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: book.input(anyWebhookBody),
            examples: {
              provisioned: { summary: 'A site is ready', value: examples.receiveWebhook.ready.body },
              test: { summary: 'An admin tests the receiver', value: examples.receiveWebhook.test.body },
            },
          },
        },
      },
      responses: {
        '2XX': {
          description:
            'Accepted. After any other answer the service retries: after 5 s, 5 min, 30 min, then for three days.',
        },
        410: { description: 'The receiver is gone. The service sends nothing to it any more.' },
      },
    },
  }
}

interface Books {
  readonly schemas: SchemaBook
  readonly refusals: RefusalBook
}

function operationOf(route: Route, books: Books, settings: Access): Part {
  const { schemas: book } = books
  const body = route.body && bodyOf(route, route.body, book)
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: `${route.description}\n\n${tokenText(route, settings)}`,
    security: securityOf(route, settings),
    parameters: [...parametersOf(route, book), ...headersAccepted(route).map(referTo)],
    ...(body && { requestBody: body }),
    responses: responsesOf(route, books),
  }
}

function parametersOf({ params, query, examples }: Route, book: SchemaBook): Part[] {
  const [example] = Object.values(examples)
  const inPath = params ? fieldsOf(book.input(params)) : []
  const inQuery = query ? fieldsOf(book.output(query)) : []
  return [
    ...inPath.map(([name, schema]) => ({
      name,
      in: 'path',
      required: true,
      schema,
      ...(example?.params?.[name] && { example: example.params[name] }),
    })),
    ...inQuery.map(([name, schema]) => ({ name, in: 'query', schema })),
  ]
}

const fieldsOf = ({ properties = {} }: JsonSchema): [string, unknown][] => Object.entries(properties)

/** The headers of a call: those that the handler reads, and those of serving. */
function headersAccepted(route: Route): RequestHeader[] {
  const { headers = [], idempotent } = route
  return [
    ...headers,
    ...(idempotent ? ['Idempotency-Key' as const] : []),
    ...(isVersioned(route) ? ['If-None-Match' as const] : []),
    'traceparent',
  ]
}
const isVersioned = ({ method, answers }: Route): boolean =>
  method === 'GET' && answers[200]?.headers?.includes('ETag') === true
const referTo = (name: RequestHeader): Part => ({ $ref: `#/components/parameters/${name}` })

function bodyOf({ examples }: Route, spec: BodySpec, book: SchemaBook): Part {
  const schema = documented(spec)
  const shown = Object.entries(examples).filter(([, { body }]) => body !== undefined)
  return {
    required: !schema.safeParse(undefined).success,
    content: {
      'application/json': {
        schema: spec instanceof z.ZodType || !('signed' in spec) ? book.body(schema) : book.input(schema),
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

/** Headers that answers to callers with a token may have. */
const ofCallers = ['RateLimit-Policy', 'RateLimit'] as const

function responsesOf(route: Route, books: Books): Part {
  const codes = refusalsOf(route)
  const sometimes: readonly AnswerHeader[] = codes.includes('rate-limited') ? ofCallers : []
  const refusals = byStatus(codes)
  const answered = Object.entries(route.answers).map(([status, spec]) => {
    const codes = refusals.get(Number(status)) ?? []
    return [status, answerOf(route, Number(status), spec, codes, books.schemas, sometimes)]
  })
  const { headers = [], sometimes: perhaps = [] } = route.answers[200] ?? {}
  const unchanged = {
    description: 'The resource has not changed.',
    headers: headersOf(['ETag'], [...headers, ...perhaps, ...sometimes]),
  }
  const refused = [...refusals]
    .filter(([status]) => !(status in route.answers))
    .map(([status, codes]) => [status, books.refusals.refused(codes, sometimes)])
  return Object.fromEntries([...answered, ...(isVersioned(route) ? [[304, unchanged]] : []), ...refused])
}

function answerOf(
  route: Route,
  status: number,
  { description, body, mediaTypes = ['application/json'], headers = [], sometimes: perhaps = [] }: AnswerSpec,
  codes: readonly ProblemCode[],
  book: SchemaBook,
  sometimes: readonly AnswerHeader[],
): Part {
  const shown = Object.entries(route.examples).filter(([, one]) => one.status === status && one.answer !== undefined)
  const examples = shown.length > 0 && { examples: examplesOf(shown, ({ answer }) => answer) }
  const content = {
    ...(body && Object.fromEntries(mediaTypes.map((one) => [one, { schema: book.output(body), ...examples }]))),
    ...(codes.length > 0 && problemContent(codes)),
  }
  const replayed: readonly AnswerHeader[] = route.idempotent ? ['Idempotency-Replayed'] : []
  return {
    description: [description, ...(codes.length > 0 ? [describeProblems(codes)] : [])].join('\n\n'),
    headers: headersOf(codes.length > 0 ? [] : headers, [...headers, ...perhaps, ...sometimes, ...replayed]),
    ...(Object.keys(content).length > 0 && { content }),
  }
}

/** Whether an application without a person can have the permission: it requests mailboxes, and decides nothing. */
const takesApplications = ({ permission, audience }: ActorRoute): boolean =>
  audience !== 'collab' && access[permission].some((role) => role === 'member' || role === 'requester')

/** The credentials that a route accepts: any one of these. */
/** Returns the scopes of which a person's token needs one, and the scope of an application without a person. */
function scopesFor({ audience }: ActorRoute, settings: Access) {
  const { collab, mail, application } = scopesOf(settings)
  const people = { collab: [collab], mail: [mail], any: [collab, mail] }[audience]
  return { people: [...new Set(people)], application }
}

function securityOf(route: Route, settings: Access): Part[] {
  if (route.permission === 'public') return route.credential ? [{ [route.credential]: [] }] : []
  const { people, application } = scopesFor(route, settings)
  const scopes = [...people, ...(takesApplications(route) ? [application] : [])]
  return [...scopes.map((scope) => ({ entra: [scope] })), { token: [] }]
}

const credentialTexts = {
  signature: 'Needs no access token. The service checks `webhook-signature`.',
  metrics: 'Needs the value of `METRICS_TOKEN` as bearer token.',
  connector: 'Needs a token of the Bot connector for the app id of the bot.',
}

/** Describes the token that a call needs. */
function tokenText(route: Route, settings: Access): string {
  if (route.permission === 'public') return route.credential ? credentialTexts[route.credential] : 'Needs no token.'
  const { people, application } = scopesFor(route, settings)
  const scopes = people.map((scope) => `\`${scope}\``).join(' or ')
  const isForAdmins = access[route.permission].every((role) => role === 'admin')
  const person = `Needs an access token of ${isForAdmins ? 'an admin' : 'a person'} (delegated) for the scope ${scopes}.`
  const others = takesApplications(route)
    ? `An application without a person can use a token for \`${application}\`, if \`MAIL_APP_CLIENTS\` lists the application.`
    : 'Applications without a person cannot make this call.'
  const byBody = route.audienceOf ? ' The token must be for the API of the resource in the body.' : ''
  return `${person} ${others}${byBody}`
}

/** Addresses that answer in every phase, for probes. */
const always = ['/healthz', '/readyz', '/metrics']

/**
 * Returns every code with which a call of this route can be refused: the codes of the handler, and those of the server in
 * the order of `serve-route.ts`. Tests compare all answers with this list.
 */
function refusalsOf(route: Route): ProblemCode[] {
  const { params, query, body, permission, idempotent, anyAccept, refusals, path } = route
  const codes: [when: boolean, ...codes: ProblemCode[]][] = [
    [!always.includes(path), 'starting', 'draining'],
    [!anyAccept, 'not-acceptable'],
    [permission !== 'public', 'unauthenticated', 'invalid-token', 'insufficient-scope', 'keys-unreachable'],
    [permission !== 'public', 'rate-limited', 'forbidden', 'unavailable'],
    [idempotent === true, 'idempotency-key-malformed', 'idempotency-key-in-flight', 'idempotency-key-reused'],
    [params !== undefined, 'no-such-address'],
    [query !== undefined, 'validation-failed'],
    [body !== undefined, 'request-timeout', 'body-too-large', 'unsupported-media-type'],
    [body !== undefined, 'malformed-json', 'duplicate-key', 'too-deep', 'validation-failed'],
    [true, 'malformed-request', 'headers-too-large', 'internal'],
  ]
  const served = codes.flatMap(([when, ...some]) => (when ? some : []))
  const all = Object.keys(problemCodes) as ProblemCode[]
  return all.filter((code) => served.includes(code) || refusals.includes(code))
}

function byStatus(codes: readonly ProblemCode[]): Map<number, ProblemCode[]> {
  const groups = Map.groupBy(codes, (code) => problemCodes[code].status)
  return new Map([...groups].sort(([one], [other]) => one - other))
}
