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

/** The API document as the service serves it, read by what the tests need of it. */
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

/** What a call is answered that gets to no route. */
const outside = ['no-such-address', 'method-not-allowed', 'malformed-request', 'starting', 'draining']
/** Headers of HTTP itself. */
const transport = ['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding']

/**
 * What an answer has that the API document does not declare: its status, its content type, its headers or its body; or
 * that a body was taken which is not as documented. undefined when all is as it says.
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
  const asked = path.replace(/[?#].*$/, '').replace(/\/$/, '')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const [, operations] =
    Object.entries(contract.paths).find(([one]) => new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(asked)) ??
    []
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

function headerFault(declared: Response, given: Headers): string | undefined {
  const names = Object.entries(declared.headers)
  const required = names.filter(([, { $ref }]) => contract.components.headers[$ref.replace(/.*\//, '')]?.required)
  const missing = required.find(([name]) => !given.has(name))
  if (missing) return `the header ${missing[0]} is declared, and missing`
  const known = new Set([...names.map(([name]) => name.toLowerCase()), ...transport])
  const more = [...given.keys()].find((name) => !known.has(name))
  return more && `the header ${more} is not declared`
}

/** What was taken must be as it is documented, or the document would have clients leave out what they may send. */
function faultOfBody({ requestBody }: Operation, { body }: Call, { status }: Answered): string | undefined {
  const media = requestBody?.content['application/json']
  if (!media || status >= 300 || body === undefined || typeof body === 'string') return undefined
  return misfit(media.schema, JSON.parse(JSON.stringify(body)), 'open')
}

// Without inlining or optimizing: most checks run a few times, and compiling them is what takes long.
const ajv = formats.default(
  new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } }),
)
// Of zod: the pattern beside it says the same.
ajv.addFormat('starts_with', true)
const { schemas } = contract.components
// Once for all checks: a schema that many answers share is compiled once.
ajv.addSchema({ $id: 'open:', components: { schemas } })
ajv.addSchema({ $id: 'closed:', components: { schemas: closed(schemas) } })
const checks = new Map<object, ReturnType<typeof ajv.compile>>()

/** How a value differs from a schema of the document. `closed`: a field that it does not name is a difference too. */
function misfit(named: object, value: unknown, how: 'open' | 'closed'): string | undefined {
  const check = checks.get(named) ?? ajv.compile(within(how, how === 'closed' ? closed(named) : named))
  checks.set(named, check)
  if (check(value)) return undefined
  return ajv.errorsText(check.errors, { separator: '\n' })
}

/** A schema whose references lead into the components that were added. */
const within = (how: 'open' | 'closed', schema: unknown): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${how}:#/`))

/** The same schemas, with no other fields than they name. The document leaves answers open, so that they can get more. */
function closed(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, isPart))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]) => [key, closed(member, key === 'allOf')])
  const isOpen = ('allOf' in value || 'properties' in value) && !('additionalProperties' in value) && !isPart
  return { ...Object.fromEntries(entries), ...(isOpen && isSchema(value) && { unevaluatedProperties: false }) }
}

/** A schema, and not a map of fields one of which is called `properties`. */
function isSchema(value: object): boolean {
  return 'allOf' in value || ('type' in value && value.type === 'object')
}
