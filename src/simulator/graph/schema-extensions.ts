import { randomInt } from 'node:crypto'
import { z } from 'zod'
import {
  allExtensions,
  change,
  type Extension,
  type ExtensionDoc,
  findApplication,
  remove,
  store,
} from '../registrations/index.ts'
import { asRecord, type Call, contoso, type Operation, operation, select, type Tenant } from '../tenant/index.ts'
import { badRequest, denied, filterTest, type GraphSettings, listReply, notFound, refuse } from './wire.ts'

const collection = /^\/v1\.0\/schemaExtensions$/
const one = /^\/v1\.0\/schemaExtensions\/([^/]+)$/

/** `/schemaExtensions`: properties that applications add to objects of the directory. */
export function extensionOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  const context = `${url}/v1.0/$metadata#schemaExtensions/$entity`
  return [
    operation('graph.schemaExtensions.list', 'GET', collection, (call) => {
      const docs = allExtensions(tenant).map(extensionDoc).filter(filterTest(call))
      return listReply(
        call,
        url,
        'schemaExtensions',
        docs.map((doc) => select(doc, call.query)),
      )
    }),
    operation('graph.schemaExtensions.create', 'POST', collection, (call) => ({
      status: 201,
      body: { '@odata.context': context, ...extensionDoc(create(tenant, call)) },
    })),
    operation('graph.schemaExtensions.get', 'GET', one, (call) => ({
      status: 200,
      body: { '@odata.context': context, ...select(extensionDoc(extensionOf(tenant, call)), call.query) },
    })),
    operation('graph.schemaExtensions.update', 'PATCH', one, (call) => {
      const extension = ownExtension(tenant, call)
      change(tenant, extension, withChanges(call, extension.doc))
      return { status: 204 }
    }),
    operation('graph.schemaExtensions.delete', 'DELETE', one, (call) => {
      const extension = ownExtension(tenant, call)
      if (extension.doc.status !== 'InDevelopment')
        badRequest(call, 'Only schema extensions with the status InDevelopment can be deleted.')
      remove(tenant, extension)
      return { status: 204 }
    }),
  ]
}

const extensionDoc = ({ id, doc }: Extension): Record<string, unknown> => ({ id, ...doc })

function extensionOf(tenant: Tenant, call: Call): Extension {
  const [id = ''] = call.params
  return allExtensions(tenant).find((each) => each.id === id) ?? notFound(call, id)
}

/** Returns the extension in the path for its owner: the application, or a person who owns the application. */
function ownExtension(tenant: Tenant, call: Call): Extension {
  const extension = extensionOf(tenant, call)
  if (!owns(tenant, call, extension.doc.owner)) denied(call)
  return extension
}

function owns(tenant: Tenant, { caller }: Call, appId: string): boolean {
  if (caller.userId === undefined) return caller.clientId === appId
  return findApplication(tenant, 'appId', appId)?.doc.owners.includes(caller.userId) ?? false
}

const property = z.strictObject({
  name: z.string().regex(/^[A-Za-z]\w{0,27}$/),
  type: z.enum(['Binary', 'Boolean', 'DateTime', 'Integer', 'String']),
})
const body = z.strictObject({
  '@odata.type': z.string().optional(),
  id: z.string().regex(/^\w+$/),
  description: z.string().nullish(),
  targetTypes: z
    .array(
      z.enum(['AdministrativeUnit', 'Contact', 'Device', 'Event', 'Group', 'Message', 'Organization', 'Post', 'User']),
    )
    .nonempty(),
  owner: z.guid().optional(),
  properties: z.array(property).nonempty(),
  status: z.literal('InDevelopment').optional(),
})

function read<T>(call: Call, schema: z.ZodType<T>): T {
  const result = schema.safeParse(call.body ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue?.code === 'unrecognized_keys')
    return badRequest(call, `The property '${issue.keys[0]}' does not exist on type 'microsoft.graph.schemaExtension'.`)
  const name = issue?.path.join('/') ?? ''
  return badRequest(call, `Property '${name}' of resource 'SchemaExtension' has an invalid value or is required.`)
}

/**
 * Creates an extension. A name without a domain gets the prefix `ext`, eight random characters and an underscore. An
 * unverified domain is rejected.
 */
function create(tenant: Tenant, call: Call): Extension {
  const { id, owner = call.caller.clientId, description = null, targetTypes, properties } = read(call, body)
  if (!owns(tenant, call, owner)) denied(call)
  const name = nameOf(call, id)
  if (allExtensions(tenant).some((each) => each.id === name)) {
    const message = `Another object with the same value for property id already exists.`
    refuse(call, 409, 'Request_MultipleObjectsWithSameKeyValue', message)
  }
  const doc: ExtensionDoc = { description, targetTypes, status: 'InDevelopment', owner, properties }
  return store(tenant, 'schemaExtension', name, doc)
}

function nameOf(call: Call, id: string): string {
  const [, domain] = /^([^_]+)_\w+$/.exec(id) ?? []
  if (domain === undefined) return `ext${randomName()}_${id}`
  const isVerified = contoso.domains.some((each) => /^([^.]+)\.(com|net|gov|edu|org)$/.exec(each)?.[1] === domain)
  return isVerified
    ? id
    : badRequest(call, `Domain '${domain}' in the id '${id}' is not a verified domain of the organization.`)
}

const nameCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789'
const randomName = (): string =>
  Array.from({ length: 8 }, () => nameCharacters[randomInt(nameCharacters.length)]).join('')

const changeBody = body
  .pick({ description: true, targetTypes: true, owner: true, properties: true })
  .partial()
  .extend({
    status: z.enum(['InDevelopment', 'Available', 'Deprecated']).optional(),
  })

/**
 * Returns an extension with the changes of a call. After InDevelopment, properties can only be added. Available and Deprecated
 * can change into each other, but not back to InDevelopment.
 */
function withChanges(call: Call, before: ExtensionDoc): ExtensionDoc {
  const { '@odata.type': _, ...changes } = asRecord(call.body)
  const after = read({ ...call, body: changes }, changeBody)
  const next = after.status ?? before.status
  const allowed = {
    InDevelopment: ['InDevelopment', 'Available'],
    Available: ['Available', 'Deprecated'],
    Deprecated: ['Deprecated', 'Available'],
  }
  if (!allowed[before.status].includes(next))
    badRequest(call, `The status of a schema extension cannot change from ${before.status} to ${next}.`)
  const properties = after.properties ?? before.properties
  const isReduced = before.properties.some(
    ({ name, type }) => !properties.some((each) => each.name === name && each.type === type),
  )
  if (isReduced && before.status !== 'InDevelopment')
    badRequest(call, 'Properties of a schema extension can be added, but not changed or removed.')
  return {
    description: after.description === undefined ? before.description : after.description,
    targetTypes: after.targetTypes ?? before.targetTypes,
    status: next,
    owner: before.owner,
    properties,
  }
}
