import { asRecord, contoso, findPerson, type Tenant } from '../tenant/index.ts'
import { allExtensions, type ExtensionDoc } from './applications.ts'
import { allTeamsApps, type TeamsAppDoc } from './catalogue.ts'
import { assignRole, hasRole } from './grants.ts'
import { directoryRoles } from './microsoft.ts'
import { store } from './store.ts'

const administrator = 'sam@contoso.example'

/**
 * Writes the objects that the administrators of a new tenant have created. The empty tenant has only its first
 * administrator.
 */
export function seedAdministration(tenant: Tenant, extensionName: string): void {
  claim(tenant)
  const principalId = findPerson(administrator)?.id ?? ''
  const roleDefinitionId = directoryRoles['Global Administrator'] ?? ''
  if (!hasRole(tenant, principalId, ['Global Administrator']))
    assignRole(tenant, { principalId, roleDefinitionId, directoryScopeId: '/' })
  if (tenant.isEmpty) return
  seedExtension(tenant, extensionName)
  seedApps(tenant)
}

function seedApps(tenant: Tenant): void {
  for (const { id, externalId, displayName } of contoso.teamsApps) {
    if (allTeamsApps(tenant).some((app) => app.id === id)) continue
    const definition = {
      ...{ id: Buffer.from(`${id}##1.0.0##Published`).toString('base64'), version: '1.0.0', displayName },
      ...{ shortDescription: null, description: null, publishingState: 'published' as const },
      lastModifiedDateTime: '2026-01-05T08:00:00Z',
    }
    store<TeamsAppDoc>(tenant, 'teamsApp', id, { externalId, definitions: [definition] })
  }
}

/** Ties a folder to one tenant permanently: Contoso's groups must not appear in an empty tenant. */
function claim(tenant: Tenant): void {
  const [own, other] = tenant.isEmpty ? ['empty', 'contoso'] : ['contoso', 'empty']
  if (tenant.row('select 1 from seeds where name = ?', `tenant ${other}`)) {
    throw new Error(
      `The data folder has the simulated tenant '${other}'. Set DATA_DIR to another folder, or SIMULATOR_TENANT=${other}.`,
    )
  }
  tenant.run('insert into seeds (name) values (?) on conflict do nothing', `tenant ${own}`)
}

/**
 * Adds Contoso's schema extension, which all servers know. Older states contain its values without the extension's
 * name.
 */
function seedExtension(tenant: Tenant, name: string): void {
  if (allExtensions(tenant).some(({ id }) => id === name)) return
  const doc: ExtensionDoc = {
    description: 'What the provisioning service writes on its security groups',
    targetTypes: ['Group'],
    status: 'Available',
    owner: '00000000-0000-4000-8000-000000000365',
    properties: ['requestId', 'extensionAttribute1', 'extensionAttribute3'].map((each) => ({
      name: each,
      type: 'String',
    })),
  }
  tenant.run(
    "insert into directory_objects (id, kind, doc, created_at) values (?, 'schemaExtension', ?, 0)",
    name,
    JSON.stringify(doc),
  )
  for (const { id, extension } of tenant.rows('select id, extension from groups where extension is not null')) {
    const value = asRecord(JSON.parse(String(extension)))
    const isNamed = Object.values(value).every((each) => typeof each === 'object')
    if (!isNamed)
      tenant.run('update groups set extension = ? where id = ?', JSON.stringify({ [name]: value }), String(id))
  }
}
