import {
  asRecord,
  type Call,
  contoso,
  findPerson,
  installApp,
  type Operation,
  operation,
  type Reply,
  select,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { filterTest, type GraphSettings, listReply, notFound, refuse } from './wire.ts'

const path = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps$/
const chatPath = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps\/([^/]+)\/chat$/
const catalogued = /^https?:\/\/[^/]+\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)$/

/**
 * Apps in Teams: installation for a person (201 without a body, 409 the second time), the list, and the chat between the
 * person and the app. The activity that Teams then sends to the bot is not simulated.
 */
export function installedAppOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  return [
    operation('graph.installedApps.add', 'POST', path, (call) => install(tenant, call)),
    operation('graph.installedApps.list', 'GET', path, (call) => {
      const expands = call.query.get('$expand') === 'teamsApp'
      const shown = installedFor(tenant, teamsUser(call).id)
        .filter(filterTest(call))
        .map(({ id, teamsApp }) => (expands ? { id, teamsApp } : { id }))
      return listReply(call, url, `users('${call.params[0]}')/teamwork/installedApps`, shown)
    }),
    operation('graph.installedApps.chat', 'GET', chatPath, (call) => {
      const { id } = teamsUser(call)
      const own = installedFor(tenant, id).find((one) => one.id === call.params[1])
      if (!own) return refuse(call, 404, 'NotFound', 'No installation of an app was found with this id.')
      const chat = select(chatOf(id, own.teamsApp.externalId), call.query)
      return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#chats/$entity`, ...chat } }
    }),
  ]
}

/** Only people with a licence have Teams here; guests have it in their own organisation. */
function teamsUser(call: Call) {
  const id = call.params[0] ?? ''
  const person = findPerson(id) ?? notFound(call, id)
  return person.hasMailbox ? person : refuse(call, 404, 'NotFound', 'The user is not found in Microsoft Teams.')
}

function install(tenant: Tenant, call: Call): Reply {
  const person = teamsUser(call)
  const [, appId] = catalogued.exec(text(asRecord(call.body), 'teamsApp@odata.bind')) ?? []
  if (appId === undefined) return refuse(call, 400, 'BadRequest', 'Bind a teamsApp of the catalogue.')
  if (!contoso.teamsApps.some(({ id }) => id === appId.toLowerCase()))
    return refuse(call, 404, 'NotFound', 'No app definition was found in the catalogue.')
  if (!installApp(tenant, person, appId))
    return refuse(call, 409, 'Conflict', 'The app is already installed for the user.')
  return { status: 201 }
}

/** The chat of a person with the bot, whose id in the manifest is the app's `externalId`. */
const chatOf = (userId: string, botId: string) => ({
  id: `19:${botId}_${userId}@unq.gbl.spaces`,
  topic: null,
  createdDateTime: '2026-11-02T08:00:00Z',
  lastUpdatedDateTime: '2026-11-02T08:00:00Z',
  chatType: 'oneOnOne',
  tenantId: contoso.tenantId,
})

function installedFor(tenant: Tenant, userId: string) {
  return tenant
    .rows('select id, app_id from installed_apps where user_id = ? order by rowid', userId)
    .flatMap(({ id, app_id: appId }) => {
      const teamsApp = contoso.teamsApps.find((app) => app.id === appId)
      return teamsApp ? [{ id: String(id), teamsApp: { ...teamsApp, distributionMethod: 'organization' } }] : []
    })
}
