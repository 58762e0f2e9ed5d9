import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { z } from 'zod'

export type Row = Record<string, SQLOutputValue>

/** The tenant's state in one SQLite file. Each call is one transaction, which is on disk before its answer. */
export interface Tenant {
  rows(sql: string, ...values: SQLInputValue[]): Row[]
  row(sql: string, ...values: SQLInputValue[]): Row | undefined
  run(sql: string, ...values: SQLInputValue[]): void
  transaction<T>(work: () => T): T
  close(): void
  /**
   * Whether the tenant started without objects of administrators: registrations, consents, extensions, groups, apps of
   * the catalogue.
   */
  readonly isEmpty: boolean
  /** How long some calls do not find new objects of Entra ID. */
  readonly replicationSeconds: number
  /** Behaviour that a test or a person has chosen. */
  modes: Modes
  /** APIs of the organisation, for which Entra ID issues tokens. */
  apis: readonly ApiRegistration[]
}

const schema = `
  create table if not exists keys (kid text primary key, jwk text not null);
  create table if not exists groups (
    id text primary key, unified integer not null, mail_nickname text not null collate nocase, unique_name text unique,
    doc text not null, extension text, extension_at real, created_at text not null);
  create unique index if not exists one_nickname on groups (mail_nickname) where unified = 1;
  create table if not exists memberships (
    group_id text not null, role text not null, object_id text not null, primary key (group_id, role, object_id));
  create index if not exists memberships_of on memberships (object_id, role);
  create table if not exists sites (
    id text primary key, web_id text not null, path text not null unique collate nocase, group_id text unique,
    ready_at real not null, doc text not null, created_at text not null);
  create table if not exists site_owners (
    number integer primary key, site_id text not null, user_id text not null, unique (site_id, user_id));
  create table if not exists mailboxes (
    id text primary key, guid text not null unique, name text not null unique collate nocase,
    alias text not null unique collate nocase, type text not null, account_enabled integer not null,
    settled_at real not null, doc text not null, created_at text not null);
  create table if not exists mailbox_addresses (
    address text primary key collate nocase, mailbox_id text not null, is_primary integer not null);
  create index if not exists addresses_of on mailbox_addresses (mailbox_id, is_primary);
  create table if not exists mailbox_access (
    mailbox_id text not null, trustee_id text not null, access text not null, auto_mapping integer not null,
    primary key (mailbox_id, trustee_id, access));
  create table if not exists deleted_accounts (
    id text primary key, user_principal_name text not null, mail text not null, display_name text not null,
    deleted_at text not null);
  create table if not exists people_changed (id text primary key, state text not null, changed_at text);
  create table if not exists deleted_groups (
    id text primary key, mail_nickname text not null, display_name text not null, deleted_at text not null);
  create table if not exists installed_apps (
    id text primary key, user_id text not null, app_id text not null, unique (user_id, app_id));
  create table if not exists consents (resource text primary key, roles text not null);
  create table if not exists directory_objects (
    id text primary key, kind text not null, doc text not null, created_at real not null);
  create index if not exists objects_of_kind on directory_objects (kind);
  create table if not exists seeds (name text primary key);
  create table if not exists device_codes (
    device_code text primary key, user_code text not null unique, client_id text not null, scope text not null,
    expires_at real not null, user_id text, declined integer not null default 0, used integer not null default 0);
  create table if not exists device_polls (device_code text primary key, at real not null);
  create table if not exists authorization_codes (
    hash text primary key, doc text not null, expires_at real not null, used integer not null default 0);
  create table if not exists refresh_tokens (
    hash text primary key, user_id text not null, client_id text not null, scope text not null, expires_at real not null);
  create table if not exists calls (
    id integer primary key autoincrement, operation text not null, method text not null, path text not null,
    status integer not null, at text not null, client_request_id text not null, fault text, body text, traceparent text);
`

/** Opens the state in `{dataDir}/simulator.sqlite`, and creates it when it does not exist. */
export function openTenant(
  dataDir: string,
  options: Partial<Pick<Tenant, 'isEmpty' | 'replicationSeconds'>> = {},
): Tenant {
  const db = new DatabaseSync(privateFile(dataDir, 'simulator.sqlite'))
  // A killed process loses no data. Only a power cut may lose data, which is acceptable here.
  db.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000')
  db.exec(schema)
  addLateColumns(db)
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const prepared = (sql: string) => {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return {
    rows: (sql, ...values) => prepared(sql).all(...values),
    row: (sql, ...values) => prepared(sql).get(...values),
    run: (sql, ...values) => {
      prepared(sql).run(...values)
    },
    transaction: (work) => {
      db.exec('begin immediate')
      try {
        const result = work()
        db.exec('commit')
        return result
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    close: () => db.close(),
    modes: usualModes(),
    apis: [],
    isEmpty: options.isEmpty ?? false,
    replicationSeconds: options.replicationSeconds ?? 0,
  }
}

/** Creates a file and a folder for the owner only: the file contains sign-ins of the simulated people. */
function privateFile(folder: string, name: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A sticky folder such as /tmp is for all users. There only the files are private.
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o1000) === 0) chmodSync(folder, 0o700)
  const path = join(folder, name)
  closeSync(openSync(path, 'a', 0o600))
  // SQLite copies the file's mode to its log only when it creates the log.
  for (const each of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(each)) chmodSync(each, 0o600)
  return path
}

/** Adds columns that tables of an older version do not have. */
function addLateColumns(db: DatabaseSync): void {
  for (const [table, column] of [
    ['calls', 'traceparent'],
    ['people_changed', 'changed_at'],
    ['refresh_tokens', 'platform'],
  ] as const) {
    const known = db
      .prepare(`pragma table_info(${table})`)
      .all()
      .map(({ name }) => name)
    if (!known.includes(column)) db.exec(`alter table ${table} add column ${column} text`)
  }
}

/** The tenant's clock, in milliseconds since 1970. */
export const now = (): number => Date.now()

/** The current time in Microsoft's format: ISO 8601 UTC without fractions. */
export const stamp = (): string => new Date(now()).toISOString().replace(/\.\d{3}Z$/, 'Z')

/**
 * Behaviour of Microsoft 365 that differs between organisations and days. A test or a person changes it by `POST
 * /control/tenant`. It is in memory only: a restart restores the defaults. Times are seconds.
 */
export const modesSchema = z.strictObject({
  /** Version of the access tokens for our own APIs: 2 has the API's client id as `aud`, 1 its App ID URI. */
  apiTokenVersion: z.union([z.literal(1), z.literal(2)]).default(2),
  /** Prefix of the group naming policy. Name and alias of new Microsoft 365 groups must start with it. */
  groupPrefix: z.string().max(30).default(''),
  /**
   * Graph's reaction to a name without the prefix. `refuses`: 400 MissingPrefixSuffix with the name to use, one
   * property at a time (msgraph-sdk-dotnet #1153, microsoft-teams-apps-requestateam #250). `adds`: adds the prefix, as
   * Microsoft's apps do ("Enforce a naming policy on Microsoft 365 groups"). Only administrator roles are exempt, so
   * apps are not.
   */
  groupPrefixConduct: z.enum(['refuses', 'adds']).default('refuses'),
  /** False while groups do not accept the schema extension yet, as just after its creation. */
  groupsAcceptExtension: z.boolean().default(true),
  /**
   * How long some calls do not find a new registration, service principal, credential or schema extension. `null`: the
   * simulator's own setting.
   */
  replicationSeconds: z.number().min(0).max(3600).nullable().default(null),
  /** How long lists and reads by the alternate key do not find a new group. Its names are taken at once. */
  newGroupSeconds: z.number().min(0).max(3600).default(0),
  /**
   * How much the manager of sites shows of a site that exists. `noId`: its status without its id. `nothing`: it answers
   * "not found" (sp-dev-docs #6798).
   */
  siteStatusShows: z.enum(['all', 'noId', 'nothing']).default('all'),
  /** How long a new site is not ready. `null`: the simulator's own setting, also for sites that are not ready yet. */
  siteReadySeconds: z.number().min(0).max(604_800).nullable().default(null),
  /**
   * Whether the manager of sites refuses app-only calls with `odata-version` (CIPP-API, Invoke-DeleteSharepointSite).
   */
  refusesODataVersion: z.boolean().default(false),
  /**
   * Host name of new group sites, as in a multi-geo tenant where the group's data location determines the host.
   * `localhost` is a second name of the simulator. `null`: the host of the tenant.
   */
  newSitesHost: z.string().nullable().default(null),
  /** How long Get-Place shows the former values of a room. */
  placeLagSeconds: z.number().min(0).max(604_800).default(0),
  /** How long Get-Place does not know a new room. Meanwhile it returns all places. */
  newPlaceSeconds: z.number().min(0).max(604_800).default(0),
  /** Cmdlets that the app's role group lacks. Exchange does not know their names then. */
  missingCmdlets: z.array(z.string()).default([]),
  /** By how many seconds the tenant's `Date` header differs from this machine's clock. */
  dateOffsetSeconds: z.number().min(-86_400).max(86_400).default(0),
  /** Whether mailboxes have a licence, which allows more than 50 GB. */
  mailboxesAreLicensed: z.boolean().default(false),
})
export type Modes = z.infer<typeof modesSchema>

export const usualModes = (): Modes => modesSchema.parse({})

/** An API of the organisation itself, registered with Entra ID. */
export const apiRegistration = z.strictObject({
  /** Entra ID's id of the registration (application id). */
  clientId: z.uuid().toLowerCase(),
  /** The URIs by which clients name the API in a scope; the client id works as well. */
  appIdUris: z.array(z.string().regex(/^[a-z]+:\/\/\S*[^\s/]$/, 'must be an address without a slash at the end')),
  /** Names of the delegated scopes, and of the app roles. */
  permissions: z.array(z.string()).default(['App.ReadWrite.All']),
})
export type ApiRegistration = z.output<typeof apiRegistration>

type Registrations = { apis: readonly ApiRegistration[] }

/** Finds the API in the part of a scope before its last slash: by client id or App ID URI. */
export function findApi({ apis }: Readonly<Registrations>, resource: string): ApiRegistration | undefined {
  const key = resource.toLowerCase()
  return apis.find(({ clientId, appIdUris }) => clientId === key || appIdUris.some((uri) => uri.toLowerCase() === key))
}

/** Registers an API, or adds App ID URIs to its registration. In memory only: a restart removes it. */
export function registerApi(tenant: Registrations, registration: z.input<typeof apiRegistration>): ApiRegistration {
  const api = apiRegistration.parse(registration)
  const known = findApi(tenant, api.clientId)
  const registered = { ...api, appIdUris: [...new Set([...(known?.appIdUris ?? []), ...api.appIdUris])] }
  tenant.apis = [...tenant.apis.filter((each) => each !== known), registered]
  return registered
}
