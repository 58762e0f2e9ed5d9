import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { z } from 'zod'
import { openApiOf, routes } from '../../src/http/index.ts'

const schema = z.looseObject({})
const response = z.object({
  description: z.string(),
  headers: z.record(z.string(), z.object({ $ref: z.string() })).default({}),
  content: z.record(z.string(), z.object({ schema })).optional(),
})
const operation = z.looseObject({
  operationId: z.string(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema })) }).optional(),
  responses: z.record(z.string(), z.union([z.object({ $ref: z.string() }), response])),
})
const openApi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    headers: z.record(z.string(), z.looseObject({ required: z.boolean().optional() })),
    responses: z.record(z.string(), response),
    schemas: z.record(z.string(), schema),
  }),
})

/** The API document that the service publishes, reduced to the parts that the tests need. */
export const contract = openApi.parse(
  openApiOf(routes, {
    baseUrl: 'https://provisioning.contoso.example',
    authority: 'https://login.contoso.example/t',
    scopes: { collab: 'api://sites/App.ReadWrite.All', mail: 'api://mailboxes/App.ReadWrite.All' },
  }),
)

export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
}

/** Answers to calls that reach no route. */
const outside = ['no-such-address', 'method-not-allowed', 'malformed-request', 'starting', 'draining']
/** Headers of HTTP itself. */
const transport = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding']

/**
 * Returns the parts of an answer that the API document does not declare: status, content type, headers or body; or an
 * accepted body that differs from the document. Returns undefined without a difference.
 */
export function contractFault(call: Call, answer: Answered): string | undefined {
  const about = `${call.method} ${call.path} → ${answer.status} ${answer.headers.get('content-type') ?? ''}`
  const found = operationOf(call)
  const code = z.object({ code: z.string() }).safeParse(answer.body).data?.code ?? ''
  if (!found) return outside.includes(code) || call.method === 'HEAD' ? undefined : `${about}: no such operation`
  const fault = faultOfAnswer(found, call, answer) ?? faultOfBody(found, call, answer)
  return fault && `${about}: ${fault}\n${answer.text}`
}

type Operation = z.output<typeof operation>
type Response = z.output<typeof response>

function operationOf({ method, path }: Call): Operation | undefined {
  const requestPath = path.replace(/[?#].*$/, '').replace(/\/$/, '')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const [, operations] =
    Object.entries(contract.paths).find(([one]) =>
      new RegExp(`^${one.replace(/\/$/, '').replace(/\{\w+\}/g, '[^/]+')}$`).test(requestPath),
    ) ?? []
  return operations?.[verb]
}

function faultOfAnswer({ operationId, responses }: Operation, { method }: Call, answer: Answered): string | undefined {
  const { status, headers, text, body } = answer
  const declared = resolved(responses[String(status)])
  if (!declared) return `${operationId} does not declare this status`
  const wrong = headerFault(declared, headers)
  if (wrong !== undefined || method === 'HEAD') return wrong
  if (text === '')
    return declared.content === undefined || operationId === 'receiveActivity' ? undefined : 'a body is declared'
  const mediaType = headers.get('content-type')?.split(';')[0] ?? ''
  const media = declared.content?.[mediaType]
  return media
    ? misfit(media.schema, mediaType.endsWith('json') ? body : text, 'closed')
    : `${operationId} does not declare this content type`
}

function resolved(one: Operation['responses'][string] | undefined): Response | undefined {
  if (one === undefined || !('$ref' in one)) return one
  return contract.components.responses[one.$ref.replace('#/components/responses/', '')]
}

function headerFault(declared: Response, actual: Headers): string | undefined {
  const names = Object.entries(declared.headers)
  const required = names.filter(([, { $ref }]) => contract.components.headers[$ref.replace(/.*\//, '')]?.required)
  const missing = required.find(([name]) => !actual.has(name))
  if (missing) return `the header ${missing[0]} is declared, and missing`
  const known = new Set([...names.map(([name]) => name.toLowerCase()), ...transport])
  const more = [...actual.keys()].find((name) => !known.has(name))
  return more && `the header ${more} is not declared`
}

/**
 * Returns the difference between an accepted body and the document. Otherwise the document would hide fields that
 * clients may send.
 */
function faultOfBody({ requestBody }: Operation, { body }: Call, { status }: Answered): string | undefined {
  const media = requestBody?.content['application/json']
  if (!media || status >= 300 || body === undefined || typeof body === 'string') return undefined
  return misfit(media.schema, JSON.parse(JSON.stringify(body)), 'open')
}

// Without inlining or optimization: most checks run a few times, and compiling is the slow part.
const ajv = formats.default(
  new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } }),
)
// A format of zod; the pattern has the same meaning.
ajv.addFormat('starts_with', true)
const { schemas } = contract.components
// Compiles a schema that many answers share only once.
ajv.addSchema({ $id: 'open:', components: { schemas } })
ajv.addSchema({ $id: 'closed:', components: { schemas: closed(schemas) } })
const checks = new Map<object, ReturnType<typeof ajv.compile>>()

/**
 * Returns the difference between a value and a schema of the document. `closed`: additional fields are differences too.
 */
function misfit(named: object, value: unknown, how: 'open' | 'closed'): string | undefined {
  const check = checks.get(named) ?? ajv.compile(within(how, how === 'closed' ? closed(named) : named))
  checks.set(named, check)
  if (check(value)) return undefined
  return ajv.errorsText(check.errors, { separator: '\n' })
}

/** Returns a schema whose references lead to the added components. */
const within = (how: 'open' | 'closed', schema: unknown): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${how}:#/`))

/** Returns the same schemas without additional fields. The document leaves answers open for later fields. */
function closed(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, isPart))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, closed(member, key === 'allOf')])
  const isOpen = ('allOf' in value || 'properties' in value) && !('additionalProperties' in value) && !isPart
  return { ...Object.fromEntries(entries), ...(isOpen && isSchema(value) && { unevaluatedProperties: false }) }
}

/** Returns whether a value is a schema, not a map of fields with the name `properties`. */
function isSchema(value: object): boolean {
  return 'allOf' in value || ('type' in value && value.type === 'object')
}
