import { randomUUID } from 'node:crypto'
import {
  asRecord,
  type Call,
  contoso,
  findPerson,
  type Operation,
  operation,
  type Reply,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { filterTest, type GraphSettings, listReply, notFound, refuse } from './wire.ts'

const path = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps$/
const catalogued = /^https?:\/\/[^/]+\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)$/

/**
 * Apps in Teams: installation for a person (201 without a body, 409 the second time) and the list. The activity that Teams
 * then sends to the bot is not simulated.
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
  const { id } = person
  if (tenant.row('select 1 from installed_apps where user_id = ? and app_id = ?', id, appId.toLowerCase()))
    return refuse(call, 409, 'Conflict', 'The app is already installed for the user.')
  tenant.run('insert into installed_apps (id, user_id, app_id) values (?, ?, ?)', randomUUID(), id, appId.toLowerCase())
  return { status: 201 }
}

function installedFor(tenant: Tenant, userId: string) {
  return tenant
    .rows('select id, app_id from installed_apps where user_id = ? order by rowid', userId)
    .flatMap(({ id, app_id: appId }) => {
      const teamsApp = contoso.teamsApps.find((app) => app.id === appId)
      return teamsApp ? [{ id: String(id), teamsApp: { ...teamsApp, distributionMethod: 'organization' } }] : []
    })
}
