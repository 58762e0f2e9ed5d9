import { randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import {
  type Account,
  type Actor,
  asWritten,
  type Candidate,
  type Core,
  createCheckResults,
  createCore,
  type Directory,
  type HeldAddress,
  isForMailbox,
  mailboxSteps,
  type Person,
  type Ports,
  type Profile,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
  type Settings,
  siteSteps,
  type Template,
  type Tenant,
  TenantError,
  template,
} from '../../src/core/index.ts'
import { createStores, type Database } from '../../src/store/index.ts'
import { dana, kim, omar, priya, siteRoot, tenantId } from './card-world.ts'
import { type EngineName, withLentDatabase } from './database.ts'
import { rowCounts } from './rows.ts'

export { dana, kim, omar, priya, tenantId }
export const approversGroup = '22222222-bbbb-4bbb-8bbb-000000000001'

export const mailDomains = { default: 'contoso.example', accepted: ['contoso.example', 'contoso-labs.example'] }

/** The organisation of these tests. A call inside a transaction fails with an error. */
export interface World {
  readonly people: Map<string, Account>
  readonly groups: Map<string, Account[]>
  readonly owners: Map<string, Account[]>
  /** Ids of external people. */
  readonly external: Set<string>
  readonly profiles: Map<string, Profile>
  readonly managers: Map<string, Account>
  /** Mail addresses of people, by id. */
  readonly addresses: Map<string, string[]>
  /** Taken names in the tenant: addresses of sites, names of mailboxes, mail addresses. */
  readonly taken: Set<string>
  /** Deleted objects that can be restored, by address or alias. */
  readonly deleted: Map<string, Date>
  /** The addresses in use. */
  inUse: readonly HeldAddress[]
  /** The tenant's resources with similar names, for every query. */
  similar: readonly Candidate[]
  /** Ids of people who are unknown to Exchange. */
  readonly withoutMailbox: Set<string>
  /** Ids of guests. */
  readonly guests: Set<string>
  /** Whether the directory answers. */
  up: boolean
}

export interface CoreFixture {
  readonly database: Database
  readonly world: World
  readonly ports: Ports
  readonly provisioning: Core
  /** Returns the same core with some parts or settings changed. */
  with(parts: Partial<Ports>, settings?: Partial<Settings>): Core
  /** Stores a template, by default a team site without approval. */
  template(more?: object): Promise<Template>
  /** Returns the number of rows of each table. */
  rows(): Promise<Record<string, number>>
  orderedJobs(requestId: string): Promise<string[]>
  /** Returns the jobs of a request in the order of their submission. */
  orders(requestId: string): Promise<Ordered[]>
}
export interface Ordered {
  readonly name: string
  readonly payload: Record<string, unknown>
  readonly startAfter: Date | null
}

export const actorOf = (person: Person, isAdmin = false): Actor => ({ ...person, tenantId, isAdmin })
/** A person of the organisation without a role. */
export const stranger: Person = {
  id: '11111111-aaaa-4aaa-8aaa-000000000099',
  displayName: 'Sasha Moreau',
  userPrincipalName: 'sasha@contoso.example',
}

/** Returns a request as a site request. Throws for other kinds. */
export function asSite(request: Request): RequestForSite {
  if (!isForMailbox(request)) return request
  throw new Error(`${request.requestId} is for a ${request.kind}`)
}
export function asMailbox(request: Request): RequestForMailbox {
  if (isForMailbox(request)) return request
  throw new Error(`${request.requestId} is for a ${request.kind}`)
}

/**
 * Creates the core with a real store for the tests of a block. Submitted jobs are rows of a table, which their
 * transaction commits.
 */
export function withCore(engine: EngineName = 'embedded'): CoreFixture {
  const store = withLentDatabase(engine)
  let ports: Ports | undefined
  const world: World = {
    people: new Map([kim, dana, omar, priya, stranger].map((one) => [one.id, one])),
    groups: new Map([[approversGroup, [dana, omar, kim]]]),
    owners: new Map(),
    external: new Set(),
    profiles: new Map(),
    managers: new Map([[kim.id, dana]]),
    addresses: new Map(),
    taken: new Set(),
    deleted: new Map(),
    inUse: [],
    similar: [],
    withoutMailbox: new Set(),
    guests: new Set(),
    up: true,
  }
  const settings: Settings = {
    tenantId,
    admins: [priya.id],
    openRequestsPerPerson: 0,
    approvals: { reachMinutes: 10, remindAfterHours: 24, escalateAfterHours: 72, expireAfterDays: 14 },
    followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 },
    digest: null,
    followUpWebhookUrl: null,
    webhookAllowCidrs: [],
    exportLinks: { root: 'https://contoso.example', key: Buffer.alloc(32, 1) },
  }
  beforeAll(async () => {
    const { database } = store
    await database.query(
      `CREATE TABLE IF NOT EXISTS ordered_jobs (id text PRIMARY KEY, name text NOT NULL, payload jsonb NOT NULL,
         start_after timestamptz, place serial)`,
    )
    ports = {
      ...createStores(database),
      clock: { now: () => new Date() },
      work: database,
      jobs: jobsIn(database),
      deadLetters: noDeadLetters,
      directory: directoryOf(world, database),
      tenant: noTenant,
      resolveHost: async () => [],
      sendWebhook: unexpected('a webhook to be sent now'),
      rateLimits: { takeWrite: async () => ({ taken: true, againInMilliseconds: 0 }), takeReads: async () => 0 },
      connection: localConnection,
      ownHealth: { read: unexpected('a health check of the service') },
      installation: soundInstallation,
      checkResults: createCheckResults(),
    }
  })
  const known = (): Ports => {
    if (!ports) throw new Error('the core is there only while the tests of its block run')
    return ports
  }
  return {
    world,
    get database() {
      return store.database
    },
    get ports() {
      return known()
    },
    get provisioning() {
      return createCore(known(), settings)
    },
    with: (parts, more = {}) => createCore({ ...known(), ...parts }, { ...settings, ...more }),
    async template(more = {}) {
      const made = template.parse({ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Working group', ...more })
      if (!(await known().templates.put(tenantId, made, 0))) throw new Error(`template ${made.id} is there already`)
      return made
    },
    rows: () => rowCounts(store.database),
    async orderedJobs(requestId) {
      const { rows } = await store.database.query<{ name: string }>(
        `SELECT name FROM ordered_jobs WHERE payload->>'requestId' = $1 ORDER BY name`,
        [requestId],
      )
      return rows.map(({ name }) => name)
    },
    async orders(requestId) {
      const { rows } = await store.database.query<Ordered>(
        `SELECT name, payload, start_after AS "startAfter" FROM ordered_jobs
         WHERE payload->>'requestId' = $1 ORDER BY place`,
        [requestId],
      )
      return rows
    },
  }
}

/** A queue without dead letters. */
export const noDeadLetters: Ports['deadLetters'] = {
  list: async () => [],
  find: async () => undefined,
  settle: async () => false,
  replay: async () => false,
}

/** The tenant connection of local mode: no sign-in yet, and a key that does not expire. */
export const localConnection: Ports['connection'] = {
  signIn: () => ({ tokens: [], refusal: undefined }),
  certificate: () => ({ endsAt: null, problem: undefined }),
  readCertificate: async () => 'none',
  clock: () => ({ aheadSeconds: 0 }),
}

/** An installation without any fault. */
export const soundInstallation: Ports['installation'] = {
  database: async () => ({ engine: 'embedded', use: 'open' }),
  permissions: async () => [{ name: 'Group.ReadWrite.All' }, { name: 'User.Read.All' }],
  siteHosts: async () => [{ name: 'https://contoso.sharepoint.com' }],
  adminHosts: async () => [{ name: 'https://contoso-admin.sharepoint.com' }],
  extension: async () => ({ name: 'svc_group' }),
  cmdlets: async () => [{ name: 'New-Mailbox' }],
  botToken: async () => 'notNeeded',
  endpoint: async () => ({ answer: 'own' }),
  catalogueApp: async () => 'notSet',
  auditKey: async () => ({ name: 'AUDIT_SECRET' }),
}

const jobsIn = (database: Database): Ports['jobs'] => ({
  async enqueue(orders) {
    for (const { id = randomUUID(), name, payload, startAfter } of orders) {
      const values = [id, name, JSON.stringify(payload), startAfter?.toISOString() ?? null]
      await database.query('INSERT INTO ordered_jobs VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', values)
    }
  },
  async dueAt(name, requestIds) {
    const { rows } = await database.query<{ id: string; at: Date }>(
      `SELECT payload->>'requestId' AS id, min(start_after) AS at FROM ordered_jobs
       WHERE name = $1 AND payload->>'requestId' = ANY($2) AND start_after > now() GROUP BY 1`,
      [name, requestIds],
    )
    return new Map(rows.map(({ id, at }) => [id, at]))
  },
})

function directoryOf(world: World, database: Database): Directory {
  const ask = async <T>(what: string, answer: () => T): Promise<T> => {
    database.assertOutside(what)
    if (!world.up) throw new TenantError('unavailable', asWritten('The directory is away.'), { retryable: true })
    return answer()
  }
  const marked = (one: Account): Account => (world.guests.has(one.id) ? { ...one, isGuest: true } : one)
  return {
    person: (id) =>
      ask('person', () => {
        const known = world.people.get(id)
        return known && marked(known)
      }),
    people: (ids) => ask('people', () => ids.flatMap((id) => world.people.get(id) ?? []).map(marked)),
    profile: (id) => ask('profile', () => world.profiles.get(id) ?? {}),
    addressesOf: (id) => ask('addressesOf', () => world.addresses.get(id) ?? []),
    manager: (id) => ask('manager', () => world.managers.get(id)),
    isGuest: (id) => ask('isGuest', () => world.guests.has(id)),
    membersOf: (id) => ask('membersOf', () => (world.groups.get(id) ?? []).map(marked)),
    ownersOf: (id) => ask('ownersOf', () => world.owners.get(id) ?? []),
    groupName: (id) => ask('groupName', () => (world.groups.has(id) ? 'Site approvers' : undefined)),
    findGroups: (text) =>
      ask('findGroups', () =>
        'site approvers'.startsWith(text.toLowerCase())
          ? [...world.groups.keys()].map((id) => ({ id, displayName: 'Site approvers' }))
          : [],
      ),
    findPeople: (text) =>
      ask('findPeople', () => {
        const wanted = text.toLowerCase()
        const all = [...world.people.values()].map(marked)
        const exact = all.filter((one) => one.userPrincipalName.toLowerCase() === wanted)
        return exact.length > 0 ? exact : all.filter((one) => one.displayName.toLowerCase().startsWith(wanted))
      }),
    isExternal: (id) => ask('isExternal', () => world.external.has(id)),
    groupsOf: (id) =>
      ask('groupsOf', () => {
        const groups = [...world.groups].filter(([, members]) => members.some((member) => member.id === id))
        return new Set(groups.map(([group]) => group))
      }),
    unknownToExchange: (people) =>
      ask('unknownToExchange', () => people.map(({ id }) => id).filter((id) => world.withoutMailbox.has(id))),
    isSiteAddressFree: (alias) => ask('isSiteAddressFree', () => !world.taken.has(alias)),
    isMailboxNameFree: (address) =>
      ask('isMailboxNameFree', () => !world.taken.has(address) && !world.taken.has(address.split('@')[0] ?? '')),
    isMailAddressFree: (address) => ask('isMailAddressFree', () => !world.taken.has(address)),
    deletedMail: (address) => ask('deletedMail', () => world.deleted.get(address)),
    deletedSite: (alias) => ask('deletedSite', () => world.deleted.get(alias)),
    async *addressesInUse() {
      yield await ask('addressesInUse', () => world.inUse)
    },
    mailDomains: () => ask('mailDomains', () => mailDomains),
    findProvisionedGroup: () => ask('findProvisionedGroup', () => undefined),
    similar: () => ask('similar', () => world.similar),
    visibleTo: (_, candidates) => ask('visibleTo', () => candidates),
  }
}

/** Creates a tenant with the given results of steps. All other steps are done at once. */
export function tenantWith(
  steps: Partial<Tenant['siteSteps']> = {},
  stepsOfMailbox: Partial<Tenant['mailboxSteps']> = {},
): Tenant {
  const site = { url: `${siteRoot}made`, siteId: 'site', groupId: 'group', securityGroupId: 'security-group' }
  const mailbox = { mailboxId: 'mailbox', userId: 'user', userPrincipalName: 'made@contoso.example' }
  return {
    ...noTenant,
    siteSteps: { ...everyStep(siteSteps, async () => ({ done: true, made: site })), ...steps },
    mailboxSteps: {
      ...everyStep(mailboxSteps, async () => ({ done: true, made: {} })),
      'create-mailbox': async () => ({ done: true, made: mailbox }),
      ...stepsOfMailbox,
    },
  }
}

const everyStep = <S extends string, T>(names: readonly S[], step: T): { [N in S]: T } =>
  Object.fromEntries(names.map((name) => [name, step])) as { [N in S]: T }

const unexpected = (what: string) => async (): Promise<never> => {
  throw new Error(`nobody expected ${what}`)
}
/** A tenant that creates nothing. The connector determines a mailbox's steps; here these are all steps. */
const noTenant: Tenant = {
  siteRoot,
  outlookRoot: 'https://outlook.office.com/',
  siteSteps: everyStep(siteSteps, unexpected('a site to be made')),
  mailboxSteps: everyStep(mailboxSteps, unexpected('a mailbox to be made')),
  mailboxStepsOf: () => [...mailboxSteps],
  findChat: async () => undefined,
  health: unexpected('a health check of Microsoft 365'),
}
