import { randomUUID } from 'node:crypto'
import {
  type AppDefinition,
  allTeamsApps,
  change,
  hasRole,
  remove,
  store,
  type TeamsApp,
  type TeamsAppDoc,
  teamsAppDoc,
} from '../registrations/index.ts'
import { type Call, contoso, now, type Operation, operation, type Reply, select, type Tenant } from '../tenant/index.ts'
import { type Manifest, readAppPackage } from './app-package.ts'
import { filterTest, type GraphSettings, listReply, refuse } from './wire.ts'

const collection = /^\/v1\.0\/appCatalogs\/teamsApps$/
const one = /^\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)$/
const definitions = /^\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)\/appDefinitions$/

/** `/appCatalogs/teamsApps`: the organisation's own apps in Teams. */
export function catalogueOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  const context = `${url}/v1.0/$metadata#appCatalogs/teamsApps/$entity`
  return [
    operation('graph.teamsApps.list', 'GET', collection, (call) => {
      const docs = allTeamsApps(tenant).map((app) => expanded(call, app))
      return listReply(
        call,
        url,
        'appCatalogs/teamsApps',
        docs.filter(filterTest(call)).map((doc) => select(doc, call.query)),
      )
    }),
    operation('graph.teamsApps.get', 'GET', one, (call) => ({
      status: 200,
      body: { '@odata.context': context, ...select(expanded(call, appOf(tenant, call)), call.query) },
    })),
    operation('graph.teamsApps.publish', 'POST', collection, (call) => {
      const app = publish(tenant, call)
      const headers = { location: `${url}/v1.0/appCatalogs/teamsApps/${app.id}` }
      return { status: 201, headers, body: { '@odata.context': context, ...teamsAppDoc(app) } }
    }),
    operation('graph.teamsApps.delete', 'DELETE', one, (call) => {
      requireTeamsAdmin(tenant, call)
      const app = appOf(tenant, call)
      tenant.run('delete from installed_apps where app_id = ?', app.id)
      remove(tenant, app)
      return { status: 204 }
    }),
    operation('graph.teamsApps.definitions.list', 'GET', definitions, (call) => {
      const app = appOf(tenant, call)
      const docs = app.doc.definitions.map((definition) => definitionDoc(app, definition))
      return listReply(call, url, `appCatalogs/teamsApps('${app.id}')/appDefinitions`, docs.filter(filterTest(call)))
    }),
    operation('graph.teamsApps.definitions.add', 'POST', definitions, (call) => update(tenant, call)),
  ]
}

function appOf(tenant: Tenant, call: Call): TeamsApp {
  const id = (call.params[0] ?? '').toLowerCase()
  const app = allTeamsApps(tenant).find((each) => each.id === id)
  return app ?? refuse(call, 404, 'NotFound', 'No app was found in the catalogue with this id.')
}

function expanded(call: Call, app: TeamsApp): Record<string, unknown> {
  const doc = teamsAppDoc(app)
  const expand = call.query.get('$expand')
  if (expand === null) return doc
  if (!/^appDefinitions(\(.*\))?$/.test(expand))
    refuse(call, 400, 'BadRequest', `Could not find a property named '${expand}' on type 'microsoft.graph.teamsApp'.`)
  return { ...doc, appDefinitions: app.doc.definitions.map((definition) => definitionDoc(app, definition)) }
}

const definitionDoc = (app: TeamsApp, definition: AppDefinition): Record<string, unknown> => ({
  ...definition,
  teamsAppId: app.id,
  createdBy: null,
})

const requiresReview = (call: Call): boolean => call.query.get('requiresReview')?.toLowerCase() === 'true'

/** Only Teams administrators publish; other people may submit an app for review. */
function requireTeamsAdmin(tenant: Tenant, call: Call): void {
  const { userId } = call.caller
  if (userId !== undefined && hasRole(tenant, userId, ['Teams Administrator', 'Global Administrator'])) return
  refuse(
    call,
    403,
    'Forbidden',
    'The user does not have the required Teams administrator role to manage the catalogue.',
  )
}

/** Refuses a publication without the needed permission. Without a review, `AppCatalog.Submit` does not suffice. */
function mayPublish(tenant: Tenant, call: Call): void {
  if (requiresReview(call)) return
  requireTeamsAdmin(tenant, call)
  const larger = ['AppCatalog.ReadWrite.All', 'Directory.ReadWrite.All']
  if (!call.caller.permissions.some((name) => larger.includes(name)))
    refuse(
      call,
      403,
      'Forbidden',
      `Missing scope permissions on the request. API requires one of '${larger.join(', ')}'.`,
    )
}

function publish(tenant: Tenant, call: Call): TeamsApp {
  mayPublish(tenant, call)
  const manifest = readAppPackage(call)
  if (allTeamsApps(tenant).some(({ doc }) => doc.externalId === manifest.id)) {
    const ids = `Tenant Id: '${contoso.tenantId}', App Id: '${manifest.id}'`
    refuse(call, 409, 'Conflict', `App with same id already exists in the tenant. ${ids}.`)
  }
  const doc: TeamsAppDoc = { externalId: manifest.id, definitions: [definitionOf(call, manifest)] }
  return store(tenant, 'teamsApp', randomUUID(), doc)
}

/** Adds a version to an app. The version in the manifest must be higher than all earlier ones. */
function update(tenant: Tenant, call: Call): Reply {
  mayPublish(tenant, call)
  const app = appOf(tenant, call)
  const manifest = readAppPackage(call)
  if (manifest.id !== app.doc.externalId)
    refuse(
      call,
      400,
      'BadRequest',
      `The manifest's id '${manifest.id}' is not the app's external id '${app.doc.externalId}'.`,
    )
  const latest = app.doc.definitions.at(-1)?.version ?? '0.0.0'
  if (compare(manifest.version, latest) <= 0)
    refuse(
      call,
      409,
      'Conflict',
      `App version '${manifest.version}' must be higher than the existing version '${latest}'.`,
    )
  const definition = definitionOf(call, manifest)
  change(tenant, app, { ...app.doc, definitions: [...app.doc.definitions, definition] })
  return requiresReview(call) ? { status: 201, body: definitionDoc(app, definition) } : { status: 204 }
}

function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number))
  const difference = left?.map((part, index) => part - (right?.[index] ?? 0)).find((each) => each !== 0)
  return difference ?? 0
}

function definitionOf(call: Call, manifest: Manifest): AppDefinition {
  const { name, description, version } = manifest
  return {
    id: Buffer.from(`${randomUUID()}##${version}##Published`).toString('base64'),
    version,
    displayName: name.short,
    shortDescription: description.short,
    description: description.full,
    publishingState: requiresReview(call) ? 'submitted' : 'published',
    lastModifiedDateTime: new Date(now()).toISOString(),
  }
}
