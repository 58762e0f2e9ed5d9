import { randomUUID } from 'node:crypto'
import {
  asRecord,
  type Call,
  contoso,
  findPerson,
  type Operation,
  type Reply,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { type GraphSettings, notFound, page, parseFilter, refuse } from './wire.ts'

const path = /^\/v1\.0\/users\/([^/]+)\/teamwork\/installedApps$/
const catalogued = /^https?:\/\/[^/]+\/v1\.0\/appCatalogs\/teamsApps\/([^/]+)$/

/**
 * The apps that people have in Teams: installed for a person (201 without a body, 409 a second time), and listed. What
 * Teams tells the bot of it is Teams' own word, and nothing here speaks for Teams.
 */
export function installedAppOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  return [
    {
      name: 'graph.installedApps.add',
      method: 'POST',
      path,
      handle: (call) => install(tenant, call),
    },
    {
      name: 'graph.installedApps.list',
      method: 'GET',
      path,
      handle: (call) => {
        const filter = call.query.get('$filter')
        const docs = installedFor(tenant, teamsUser(call).id).filter(filter === null ? () => true : parseFilter(filter))
        const shown = docs.map(({ id, teamsApp }) =>
          call.query.get('$expand') === 'teamsApp' ? { id, teamsApp } : { id },
        )
        const context = `${url}/v1.0/$metadata#users('${call.params[0]}')/teamwork/installedApps`
        return { status: 200, body: { '@odata.context': context, ...page(shown, call.query, `${url}${call.path}`) } }
      },
    },
  ]
}

/** Who has no licence has no Teams, and a guest has it elsewhere. */
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
