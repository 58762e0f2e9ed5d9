import { z } from 'zod'
import {
  approvalPolicy,
  check,
  decision,
  deliveryAttempt,
  deliveryDetails,
  deliveryView,
  mailboxRequest,
  mailboxResource,
  person,
  problem,
  requestStep,
  requestView,
  siteRequest,
  siteResource,
  templateField,
  templateForUsers,
  webhookBody,
  webhookTestBody,
  webhookTestResult,
} from '../../core/index.ts'
import { explanationBody } from '../routes/explanations/index.ts'
import { deadLetter, healthBody, healthPartBody } from '../routes/operations/index.ts'
import { accepted } from '../routes/requests/index.ts'
import { templateForAdmins, templateToWrite } from '../routes/templates/index.ts'
import { type AnswerHeader, answerHeaders, headersOfAll, requestHeaders } from './answers.ts'
import { type ProblemBody, problemBody } from './problem.ts'
import { type ProblemCode, problemCodes, problemTitles, problemTypeOf } from './problem-codes.ts'
import problems from './problem-examples.json' with { type: 'json' }

type Named = readonly [name: string, schema: z.ZodType, description: string]

/** Request bodies. Their schemas differ from answers: fields with a default may be omitted. */
const inputs: readonly Named[] = [
  ['SiteRequest', siteRequest, 'A request for a site, as a client sends it.'],
  [
    'MailboxRequest',
    mailboxRequest,
    'A request for a mailbox, as a client sends it. The kind of its template determines the allowed fields.',
  ],
  ['TemplateToWrite', templateToWrite, 'A template, as an admin writes it. An omitted secret stays unchanged.'],
  ['ProvisioningWebhook', webhookBody, 'The webhook to a receiver. Read the request for more details.'],
  ['WebhookTest', webhookTestBody, 'The webhook with which an admin tests a receiver. It is about no request.'],
]

const outputs: readonly Named[] = [
  ['Accepted', accepted, 'An accepted request: queued, or waiting for approval.'],
  ['Request', requestView, 'A request with its status, approvals, steps and resource.'],
  ['Person', person, 'A person of the organisation. `id` is the Entra object id.'],
  [
    'ApprovalStage',
    requestView.options[0].shape.approvals.element,
    'A stage of the approval, with the people who may decide and their decisions.',
  ],
  ['Decision', decision, 'The decision of one approver.'],
  ['Explanation', explanationBody, 'One fact that explains a request. Branch on `code`; `detail` is for people.'],
  ['RequestStep', requestStep, 'One durable part of creating the resource.'],
  ['RequestProblem', problem, 'The reason why a step or the request stopped.'],
  ['Check', check, 'One requested value, read back from the tenant.'],
  ['SiteResource', siteResource, 'A created site, with its groups.'],
  ['MailboxResource', mailboxResource, 'A created mailbox.'],
  ['Template', templateForAdmins, 'A template with its policies, for admins. Secrets are never shown.'],
  ['TemplateForUsers', templateForUsers, 'A template, for people who may use it.'],
  ['TemplateField', templateField, 'A question of the template. `metadata` has the answer under its key.'],
  ['ApprovalPolicy', approvalPolicy, 'The approvers of each stage.'],
  ['Delivery', deliveryView, 'One webhook to one receiver. Without a `templateId`, the receiver is our own bot.'],
  ['DeliveryDetails', deliveryDetails, 'A delivery with its attempts, its body and the status of its receiver.'],
  ['DeliveryAttempt', deliveryAttempt, 'One attempt. `status`: of the answer, or the reason for no answer.'],
  ['WebhookTestResult', webhookTestResult, 'The result of one test. Branch on `delivered`, or on `meaning`.'],
  ['DeadLetter', deadLetter, 'A failed job without further attempts.'],
  [
    'HealthPart',
    healthPartBody,
    'The health of one part of the service or of one of its dependencies. The measures depend on the part.',
  ],
  ['Health', healthBody, 'The health of the service, with a short text for each part that it needs.'],
  ['Problem', problemBody, 'The reason why a call was refused (RFC 9457). Branch on `code`; `detail` is for people.'],
]

function registryOf(all: readonly Named[]) {
  const registry = z.registry<{ id: string; description: string }>()
  for (const [id, schema, description] of all) registry.add(schema, { id, description })
  return registry
}
/** Names and descriptions of the schemas that the document defines once. All other schemas are inlined. */
const schemaNames = { input: registryOf(inputs), output: registryOf(outputs) } as const

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** The named schemas of the document, and references to them. */
export interface SchemaBook {
  /** For parameters: unknown ones are refused. */
  input(schema: z.ZodType): JsonSchema
  /** For bodies of requests: optional fields may be omitted or null, and unknown fields are refused. */
  body(schema: z.ZodType): JsonSchema
  /** For answers: fields with a default are present. Later versions may add fields. */
  output(schema: z.ZodType): JsonSchema
  readonly components: Readonly<Record<string, JsonSchema>>
}

/** Converts zod schemas to JSON Schema. Named schemas are collected and replaced by references. */
export function createSchemaBook(): SchemaBook {
  const components: Record<string, JsonSchema> = {}
  const add = (name: string, schema: JsonSchema): void => {
    const known = components[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`the schema ${name} differs between requests and answers`)
    components[name] = schema
  }
  const convert = (schema: z.ZodType, io: 'input' | 'output', isBody = false): JsonSchema => {
    const {
      $schema: _,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, {
      io,
      metadata: schemaNames[io],
      unrepresentable: 'any',
      override: (context) => tidy(context, io),
    })
    for (const [name, definition] of Object.entries($defs)) {
      const isAnswered = outputs.some(([id]) => id === name)
      add(name, referring(isBody && !isAnswered ? withNulls(definition) : definition))
    }
    return referring(own)
  }
  return {
    input: (schema) => convert(schema, 'input'),
    body: (schema) => withNulls(convert(schema, 'input', true)),
    output: (schema) => convert(schema, 'output'),
    components,
  }
}

/** Adds null to optional fields of a body and to values of metadata, as `withoutNulls` of the core reads them. */
function withNulls(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items } = schema
  const isList = typeof items === 'object' && !Array.isArray(items)
  if (!properties) return isList ? { ...schema, items: withNulls(items) } : schema
  const all = Object.entries(properties).map(([name, property]): [string, JsonSchema | boolean] => {
    if (typeof property !== 'object') return [name, property]
    const values = property.additionalProperties
    const inner =
      name === 'metadata' && typeof values === 'object'
        ? { ...property, additionalProperties: orNull(values) }
        : withNulls(property)
    return [name, required.includes(name) ? inner : orNull(inner)]
  })
  return { ...schema, properties: Object.fromEntries(all) }
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: values, const: value, description, ...rest } = schema
  if (JSON.stringify([type, anyOf]).includes('"null"')) return schema
  if (typeof type === 'string' && values === undefined && value === undefined)
    return { ...schema, type: [type, 'null'] as never }
  if (anyOf !== undefined && Object.keys(rest).length === 0)
    return { ...(description !== undefined && { description }), anyOf: [...anyOf, { type: 'null' }] }
  return { ...(description !== undefined && { description }), anyOf: [schema, { type: 'null' }] }
}

/** Removes redundant keywords, and `additionalProperties: false` from answers. */
function tidy({ zodSchema, jsonSchema }: TidyContext, io: 'input' | 'output'): void {
  const { description } = z.globalRegistry.get(zodSchema) ?? {}
  if (description !== undefined) jsonSchema.description ??= description
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}
type TidyContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** With references to the components of the document. */
function referring(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

export type Part = Readonly<Record<string, unknown>>

/** References to headers of answers: those of `always` are in every answer, those of `sometimes` in some. */
export function headersOf(always: readonly AnswerHeader[], sometimes: readonly AnswerHeader[] = []): Part {
  const names = [...new Set([...headersOfAll, ...always, ...sometimes])]
  const must = new Set<AnswerHeader>([...headersOfAll, ...always])
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${must.has(name) ? name : `${name}-sometimes`}` }]),
  )
}

/** Each header twice: required and optional. */
export const headerComponents = (): Part =>
  Object.fromEntries(
    Object.entries(answerHeaders).flatMap(([name, { description, schema, example }]) => [
      [name, { description, schema, example, required: true }],
      [`${name}-sometimes`, { description, schema, example }],
    ]),
  )

/** The content of a refusal with one of these codes, all of one status. */
export function problemContent(codes: readonly ProblemCode[]): Part {
  const status = [...new Set(codes.map((code) => problemCodes[code].status))]
  const narrowed: JsonSchema = {
    type: 'object',
    properties: {
      status: { enum: status },
      code: { enum: [...codes] },
      type: { enum: codes.map(problemTypeOf) },
    },
  }
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } }
}

export const describeProblems = (codes: readonly ProblemCode[]): string =>
  codes.map((code) => `\`${code}\`: ${problemCodes[code].means} ${problemCodes[code].remedy}`).join('\n\n')

function headersOfProblems(codes: readonly ProblemCode[], sometimes: readonly AnswerHeader[]): Part {
  const each = codes.map((code) => problemCodes[code].headers)
  const always = (each[0] ?? []).filter((name) => each.every((headers) => headers.includes(name)))
  const perhaps = codes.flatMap((code) => problemCodes[code].sometimes ?? [])
  return headersOf(always, [...each.flat(), ...perhaps, ...sometimes])
}

/** The refusals of one status as a response that the document defines once, and a reference to it. */
export interface RefusalBook {
  refused(codes: readonly ProblemCode[], sometimes: readonly AnswerHeader[]): Part
  readonly components: Part
}

export function createRefusalBook(): RefusalBook {
  const components: Record<string, Part> = {}
  return {
    components,
    refused(codes, sometimes) {
      const name = `${sometimes.length > 0 ? '' : 'public.'}${codes.join('.')}`
      components[name] ??= {
        description: describeProblems(codes),
        headers: headersOfProblems(codes, sometimes),
        content: problemContent(codes),
      }
      return { $ref: `#/components/responses/${name}` }
    },
  }
}

/** Address, detail and fields of an example for each code. A test makes the service answer each. */
const problemFacts: Readonly<
  Record<ProblemCode, Pick<ProblemBody, 'instance' | 'detail' | 'errors' | 'tokenClaims' | 'requestId'>>
> = problems

function problemExample(code: ProblemCode): ProblemBody {
  const { status } = problemCodes[code]
  const { instance, detail, errors, tokenClaims, requestId } = problemFacts[code]
  const title = problemTitles[status] ?? ''
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const facts = { ...(errors && { errors }), ...(tokenClaims && { tokenClaims }), ...(requestId && { requestId }) }
  return { type: problemTypeOf(code), title, status, detail, instance, code, traceId, ...facts }
}

export const problemExampleComponents = (): Part =>
  Object.fromEntries(
    (Object.keys(problemCodes) as ProblemCode[]).map((code) => [
      code,
      { summary: problemCodes[code].means, value: problemExample(code) },
    ]),
  )

/** The page /docs sends the `example` of a parameter, so an optional header has its example in the text. */
export const headerParameters = (): Part =>
  Object.fromEntries(
    Object.entries(requestHeaders).map(([name, { description, schema, example, required = false }]) => {
      const shown = required ? { description, example } : { description: `${description} For example \`${example}\`.` }
      return [name, { name, in: 'header', required, schema, ...shown }]
    }),
  )

/** Where callers get tokens, and for which scopes. */
export interface Access {
  readonly baseUrl: string
  /** `{login}/{tenant}`: where people and applications sign in. */
  readonly authority: string
  /** The scope of each API. They are the same if one registration has both APIs. */
  readonly scopes: { readonly collab: string; readonly mail: string }
}

export const scopesOf = ({ scopes: { collab, mail } }: Access) => ({
  collab,
  mail,
  application: mail.replace(/[^/]+$/, '.default'),
})

export const tokenUrlOf = (authority: string): string => `${authority}/oauth2/v2.0/token`

/** The security schemes of the document (API document, "Authentication"). */
export function securitySchemes(access: Access): Part {
  const { collab, mail, application } = scopesOf(access)
  const tokenUrl = tokenUrlOf(access.authority)
  const people =
    collab === mail
      ? { [collab]: 'Sites and mailboxes, on behalf of a person' }
      : { [collab]: 'Sites, on behalf of a person', [mail]: 'Mailboxes, on behalf of a person' }
  return {
    entra: {
      type: 'oauth2',
      description:
        'Register an application in Microsoft Entra ID and sign people in by device code ' +
        `(${access.authority}/oauth2/v2.0/devicecode) or by authorization code with PKCE. Applications in ` +
        '`MAIL_APP_CLIENTS` may request mailboxes without a person. Sites always need a person.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${access.authority}/oauth2/v2.0/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes: people,
        },
        clientCredentials: { tokenUrl, scopes: { [application]: 'Mailboxes, without a person' } },
      },
    },
    token: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token that you already have.',
    },
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'webhook-signature',
      description: 'The signature of Standard Webhooks 1.0.0.',
    },
    metrics: {
      type: 'http',
      scheme: 'bearer',
      description:
        'The value of `METRICS_TOKEN`. If it is not set, local mode without `MICROSOFT_APP_ID` needs no token.',
    },
    connector: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A token of the Bot connector for the app id of the bot. Local mode needs no token.',
    },
  }
}
