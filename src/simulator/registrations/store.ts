import { now, type Row, type Tenant } from '../tenant/index.ts'

/** Kinds of objects that administrators create through Graph. */
export type Kind =
  | 'application'
  | 'servicePrincipal'
  | 'appRoleAssignment'
  | 'oauth2PermissionGrant'
  | 'roleAssignment'
  | 'schemaExtension'
  | 'teamsApp'

/** A stored object. `at` is the time of its creation in milliseconds since 1970. */
export interface Stored<T> {
  readonly id: string
  readonly at: number
  readonly doc: T
}

const storedOf = <T>(row: Row): Stored<T> => ({
  id: String(row['id']),
  at: Number(row['created_at']),
  doc: JSON.parse(String(row['doc'])),
})

/** Returns all objects of a kind, oldest first. */
export const allOf = <T>(tenant: Tenant, kind: Kind): Stored<T>[] =>
  tenant.rows('select * from directory_objects where kind = ? order by rowid', kind).map((row) => storedOf<T>(row))

/** Creates an object. */
export function store<T>(tenant: Tenant, kind: Kind, id: string, doc: T): Stored<T> {
  const at = now()
  tenant.run(
    'insert into directory_objects (id, kind, doc, created_at) values (?, ?, ?, ?)',
    ...[id, kind, JSON.stringify(doc), at],
  )
  return { id, at, doc }
}

/** Replaces the content of an object. */
export function change<T>(tenant: Tenant, { id }: Stored<T>, doc: T): void {
  tenant.run('update directory_objects set doc = ? where id = ?', JSON.stringify(doc), id)
}

export const remove = (tenant: Tenant, { id }: Stored<unknown>): void =>
  tenant.run('delete from directory_objects where id = ?', id)

/**
 * Returns whether all of Entra ID's servers know an object written at this time. Until then some calls do not find it.
 */
export const isReplicated = (tenant: Tenant, at: number): boolean =>
  now() - at >= (tenant.modes.replicationSeconds ?? tenant.replicationSeconds) * 1000
