import { randomUUID } from 'node:crypto'
import { beforeAll } from 'vitest'
import {
  type Actor,
  createProvisioning,
  type Directory,
  type Person,
  type Ports,
  type Provisioning,
  type Settings,
  type Template,
  type Tenant,
  TenantError,
  template,
} from '../../src/core/index.ts'
import { createStores, type Database } from '../../src/store/index.ts'
import { dana, kim, omar, priya, siteRoot, tenantId } from './card-world.ts'
import { type EngineName, withDatabase } from './database.ts'

export { dana, kim, omar, priya, tenantId }
export const approversGroup = '22222222-bbbb-4bbb-8bbb-000000000001'

/** The organisation of these tests. A question that is asked inside a transaction fails loudly. */
export interface World {
  readonly people: Map<string, Person>
  readonly groups: Map<string, Person[]>
  readonly managers: Map<string, Person>
  /** Addresses that the tenant holds already. */
  readonly taken: Set<string>
  /** Whether the directory answers. */
  up: boolean
}

export interface Core {
  readonly database: Database
  readonly world: World
  readonly ports: Ports
  readonly provisioning: Provisioning
  /** The same core with some of its parts or settings changed. */
  with(parts: Partial<Ports>, settings?: Partial<Settings>): Provisioning
  /** Stores a template that is as given, by default a team site without approval. */
  template(more?: object): Promise<Template>
  /** How many rows each table has. */
  rows(): Promise<Record<string, number>>
  orderedJobs(requestId: string): Promise<string[]>
  /** The jobs that were ordered for a request, in that order. */
  orders(requestId: string): Promise<Ordered[]>
}
export interface Ordered {
  readonly name: string
  readonly payload: Record<string, unknown>
  readonly startAfter: Date | null
}

export const actorOf = (person: Person, isAdmin = false): Actor => ({ ...person, tenantId, isAdmin })
/** Somebody of the organisation who is nothing to anything. */
export const stranger: Person = {
  id: '11111111-aaaa-4aaa-8aaa-000000000099',
  displayName: 'Sasha Moreau',
  userPrincipalName: 'sasha@contoso.example',
}

/** The core on a real store for the tests of a block. Ordered jobs are rows of a table: they come to be with their transaction. */
export function withCore(engine: EngineName = 'embedded'): Core {
  const store = withDatabase(engine)
  let ports: Ports | undefined
  const world: World = {
    people: new Map([kim, dana, omar, priya, stranger].map((one) => [one.id, one])),
    groups: new Map([[approversGroup, [dana, omar, kim]]]),
    managers: new Map([[kim.id, dana]]),
    taken: new Set(),
    up: true,
  }
  const settings: Settings = {
    tenantId,
    admins: [priya.id],
    openRequestsPerPerson: 0,
    followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 },
    followUpWebhookUrl: null,
    webhookAllowCidrs: [],
  }
  beforeAll(async () => {
    const { database } = store
    await database.query(
      `CREATE TABLE ordered_jobs (id text PRIMARY KEY, name text NOT NULL, payload jsonb NOT NULL,
         start_after timestamptz, place serial)`,
    )
    ports = {
      ...createStores(database),
      clock: { now: () => new Date() },
      work: database,
      jobs: jobsIn(database),
      directory: directoryOf(world, database),
      tenant: noTenant,
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
      return createProvisioning(known(), settings)
    },
    with: (parts, more = {}) => createProvisioning({ ...known(), ...parts }, { ...settings, ...more }),
    async template(more = {}) {
      const made = template.parse({ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Working group', ...more })
      if (!(await known().templates.put(tenantId, made, 0))) throw new Error(`template ${made.id} is there already`)
      return made
    },
    async rows() {
      const { rows: tables } = await store.database.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables
         WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`,
      )
      const counts = tables.map(({ name }) => `(SELECT count(*)::int FROM "${name}") AS "${name}"`)
      const { rows } = await store.database.query<Record<string, number>>(`SELECT ${counts.join(', ')}`)
      return rows[0] ?? {}
    },
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

const jobsIn = (database: Database): Ports['jobs'] => ({
  async enqueue(orders) {
    for (const { id = randomUUID(), name, payload, startAfter } of orders) {
      const values = [id, name, JSON.stringify(payload), startAfter?.toISOString() ?? null]
      await database.query('INSERT INTO ordered_jobs VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', values)
    }
  },
})

function directoryOf(world: World, database: Database): Directory {
  const ask = async <T>(what: string, answer: () => T): Promise<T> => {
    database.assertOutside(what)
    if (!world.up) throw new TenantError('unavailable', 'The directory is away.', { retryable: true })
    return answer()
  }
  return {
    person: (id) => ask('person', () => world.people.get(id)),
    manager: (id) => ask('manager', () => world.managers.get(id)),
    membersOf: (id) => ask('membersOf', () => world.groups.get(id) ?? []),
    groupsOf: (id) =>
      ask('groupsOf', () => {
        const groups = [...world.groups].filter(([, members]) => members.some((member) => member.id === id))
        return new Set(groups.map(([group]) => group))
      }),
    isAddressFree: (_, alias) => ask('isAddressFree', () => !world.taken.has(alias)),
    findProvisionedGroup: () => ask('findProvisionedGroup', () => undefined),
  }
}

/** A tenant in which every step ends as given; those that are not given are done at once. */
export function tenantWith(steps: Partial<Tenant['siteSteps']> = {}): Tenant {
  const made = { url: `${siteRoot}made`, siteId: 'site', groupId: 'group', securityGroupId: 'security-group' }
  const done = async () => ({ done: true, made }) as const
  const all = Object.keys(noTenant.siteSteps).map((step) => [step, done])
  return { siteRoot, siteSteps: { ...(Object.fromEntries(all) as Tenant['siteSteps']), ...steps } }
}

const unexpected = async (): Promise<never> => {
  throw new Error('nobody expected a site to be made')
}
const noTenant: Tenant = {
  siteRoot,
  siteSteps: {
    'create-site': unexpected,
    'wait-for-site': unexpected,
    'add-owners': unexpected,
    'apply-label': unexpected,
    'ready-check': unexpected,
    'link-group': unexpected,
  },
}
