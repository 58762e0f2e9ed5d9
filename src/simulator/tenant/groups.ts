import { randomUUID } from 'node:crypto'
import { contoso, defaultDomain } from './contoso.ts'
import { now, type Row, stamp, type Tenant } from './state.ts'

export type Role = 'owners' | 'members'

/** A stored group. `extensionAt` (ms since 1970) is the time of the last change of a schema extension's value. */
export interface Group {
  readonly id: string
  readonly unified: boolean
  readonly mailNickname: string
  readonly uniqueName: string | undefined
  /** The plain properties: displayName, description, visibility, securityEnabled, assignedLabels … */
  readonly doc: Record<string, unknown>
  /** The values of schema extensions, by the extension's name. */
  readonly extensions: Readonly<Record<string, Record<string, unknown>>>
  readonly extensionAt: number | undefined
  readonly createdAt: string
}

function groupOf(row: Row): Group {
  return {
    id: String(row['id']),
    unified: row['unified'] === 1,
    mailNickname: String(row['mail_nickname']),
    uniqueName: row['unique_name'] === null ? undefined : String(row['unique_name']),
    doc: JSON.parse(String(row['doc'])),
    extensions: row['extension'] === null ? {} : JSON.parse(String(row['extension'])),
    extensionAt: row['extension_at'] === null ? undefined : Number(row['extension_at']),
    createdAt: String(row['created_at']),
  }
}

/** Creates Contoso's security groups in a new state. An empty tenant has no groups. */
export function seedGroups(tenant: Tenant): void {
  if (tenant.isEmpty) return
  for (const group of contoso.groups) {
    const doc = { displayName: group.displayName, description: group.description, visibility: null }
    tenant.run(
      'insert into groups (id, unified, mail_nickname, doc, created_at) values (?, 0, ?, ?, ?) on conflict do nothing',
      group.id,
      group.mailNickname,
      JSON.stringify(doc),
      '2026-01-05T08:00:00Z',
    )
    for (const role of ['owners', 'members'] as const) {
      for (const object of group[role]) {
        tenant.run(
          'insert into memberships (group_id, role, object_id) values (?, ?, ?) on conflict do nothing',
          group.id,
          role,
          object,
        )
      }
    }
  }
}

export function findGroup(tenant: Tenant, by: 'id' | 'unique_name', value: string): Group | undefined {
  const row = tenant.row(`select * from groups where ${by} = ?`, by === 'id' ? value.toLowerCase() : value)
  return row && groupOf(row)
}

/** Finds the Microsoft 365 group with a mailNickname. Security groups may share a mailNickname. */
export function findUnifiedByNickname(tenant: Tenant, mailNickname: string): Group | undefined {
  const row = tenant.row('select * from groups where mail_nickname = ? and unified = 1', mailNickname)
  return row && groupOf(row)
}

export const allGroups = (tenant: Tenant): Group[] =>
  tenant.rows('select * from groups order by created_at, rowid').map(groupOf)

/** Creates a group. */
export function insertGroup(
  tenant: Tenant,
  group: Pick<Group, 'unified' | 'mailNickname' | 'uniqueName' | 'doc' | 'extensions'>,
): Group {
  const id = randomUUID()
  const extension = serialized(group.extensions)
  const created: Group = { ...group, id, extensionAt: extension === null ? undefined : now(), createdAt: stamp() }
  tenant.run(
    `insert into groups (id, unified, mail_nickname, unique_name, doc, extension, extension_at, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    created.unified ? 1 : 0,
    created.mailNickname,
    created.uniqueName ?? null,
    JSON.stringify(created.doc),
    extension,
    created.extensionAt ?? null,
    created.createdAt,
  )
  return created
}

const serialized = (extensions: Group['extensions']): string | null =>
  Object.keys(extensions).length === 0 ? null : JSON.stringify(extensions)

/**
 * Changes a group; null removes an extension's value. Writing an unchanged value does not count as a change, so the
 * filter still finds it.
 */
export function updateGroup(
  tenant: Tenant,
  group: Group,
  change: {
    doc: Record<string, unknown>
    mailNickname?: string | undefined
    extensions?: Readonly<Record<string, Record<string, unknown> | null>>
  },
): void {
  const merged = Object.entries({ ...group.extensions, ...change.extensions })
  const before = serialized(group.extensions)
  const after = serialized(
    Object.fromEntries(merged.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
  )
  const at = after === null ? null : after === before ? (group.extensionAt ?? null) : now()
  tenant.run(
    'update groups set doc = ?, mail_nickname = ?, extension = ?, extension_at = ? where id = ?',
    JSON.stringify({ ...group.doc, ...change.doc }),
    change.mailNickname ?? group.mailNickname,
    after,
    at,
    group.id,
  )
}

/** Deletes a group with its memberships. Only a group with mail stays in the list of deleted groups. */
export function deleteGroup(tenant: Tenant, { id, unified, mailNickname, doc }: Group): void {
  if (unified)
    tenant.run(
      'insert into deleted_groups (id, mail_nickname, display_name, deleted_at) values (?, ?, ?, ?)',
      ...[id, mailNickname, String(doc['displayName']), stamp()],
    )
  tenant.run('delete from memberships where group_id = ? or object_id = ?', id, id)
  tenant.run('delete from groups where id = ?', id)
}

/** Returns deleted groups as Graph lists them. Entra ID removes them after 30 days, this tenant never does. */
export const deletedGroups = (tenant: Tenant): Record<string, unknown>[] =>
  tenant.rows('select * from deleted_groups order by rowid').map((row) => ({
    id: row['id'],
    displayName: row['display_name'],
    mail: `${row['mail_nickname']}@${defaultDomain}`,
    mailNickname: row['mail_nickname'],
    deletedDateTime: row['deleted_at'],
  }))

export const objectsOf = (tenant: Tenant, groupId: string, role: Role): string[] =>
  tenant
    .rows('select object_id from memberships where group_id = ? and role = ? order by rowid', groupId, role)
    .map((row) => String(row['object_id']))

/** Adds a reference. Returns false when it exists already. */
export function addObject(tenant: Tenant, groupId: string, role: Role, objectId: string): boolean {
  const existing = tenant.row(
    'select 1 from memberships where group_id = ? and role = ? and object_id = ?',
    groupId,
    role,
    objectId,
  )
  if (existing) return false
  tenant.run('insert into memberships (group_id, role, object_id) values (?, ?, ?)', groupId, role, objectId)
  return true
}

export function removeObject(tenant: Tenant, groupId: string, role: Role, objectId: string): void {
  tenant.run(
    'delete from memberships where group_id = ? and role = ? and object_id = ?',
    groupId,
    role,
    objectId.toLowerCase(),
  )
}

/** Returns the groups of an object, with nested groups if `transitive`. */
export function groupsOf(tenant: Tenant, objectId: string, transitive: boolean): Group[] {
  const direct = (id: string) =>
    tenant
      .rows("select group_id from memberships where object_id = ? and role = 'members'", id)
      .map((row) => String(row['group_id']))
  const found = new Set(direct(objectId))
  // Iteration over a Set includes entries that are added during the iteration.
  if (transitive) for (const id of found) for (const parent of direct(id)) found.add(parent)
  return [...found].flatMap((id) => findGroup(tenant, 'id', id) ?? [])
}

/** Returns the objects in a group and its nested groups. */
export function transitiveMembers(tenant: Tenant, groupId: string): string[] {
  const found = new Set(objectsOf(tenant, groupId, 'members'))
  for (const id of found) for (const inner of objectsOf(tenant, id, 'members')) found.add(inner)
  return [...found]
}

/** Returns a group as Graph does, with names and order of a recorded answer (pnp/pnpcore, SiteCreationTests). */
export function groupDoc(group: Group): Record<string, unknown> {
  const { doc, unified } = group
  const mail = unified ? `${group.mailNickname}@${defaultDomain}` : null
  return {
    id: group.id,
    deletedDateTime: null,
    classification: null,
    createdDateTime: group.createdAt,
    creationOptions: [],
    description: doc['description'] ?? null,
    displayName: doc['displayName'],
    expirationDateTime: null,
    groupTypes: unified ? ['Unified'] : [],
    isAssignableToRole: doc['isAssignableToRole'] ?? null,
    mail,
    mailEnabled: unified,
    mailNickname: group.mailNickname,
    membershipRule: null,
    membershipRuleProcessingState: null,
    preferredDataLocation: doc['preferredDataLocation'] ?? null,
    preferredLanguage: doc['preferredLanguage'] ?? null,
    proxyAddresses: mail === null ? [] : [`SMTP:${mail}`],
    renewedDateTime: group.createdAt,
    resourceBehaviorOptions: doc['resourceBehaviorOptions'] ?? [],
    resourceProvisioningOptions: [],
    securityEnabled: doc['securityEnabled'] ?? !unified,
    theme: doc['theme'] ?? null,
    uniqueName: group.uniqueName ?? null,
    visibility: doc['visibility'] ?? null,
    assignedLabels: doc['assignedLabels'] ?? [],
    ...Object.fromEntries(
      Object.entries(group.extensions).map(([name, value]) => [
        name,
        { '@odata.type': '#microsoft.graph.ComplexExtensionValue', ...value },
      ]),
    ),
  }
}

/** Returns the properties of a group in an answer without `$select`: all but extensions and labels. */
export const groupDefaults = (group: Group): string[] =>
  Object.keys(groupDoc(group)).filter((name) => name !== 'assignedLabels' && !(name in group.extensions))
