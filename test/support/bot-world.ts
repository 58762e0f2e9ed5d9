import { beforeAll } from 'vitest'
import type { BotServices } from '../../src/bot/index.ts'
import {
  createProvisioning,
  type JobOrder,
  type Person,
  type Ports,
  type Provisioning,
  type SiteStep,
  seedTemplates,
  siteSteps,
  TenantError,
} from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { dana, kim, omar, openCommunity, projectSite, siteRoot } from './card-world.ts'
import { withDatabase } from './database.ts'
import { people as contoso, contosoTenant } from './teams-user.ts'

const sam: Person = { ...contoso.sam, displayName: contoso.sam.name, userPrincipalName: 'sam@contoso.example' }

export interface BotWorld {
  readonly stores: Stores
  readonly provisioning: Provisioning
  readonly services: BotServices
  /** Jobs in the order in which they were asked for; none of them runs. */
  readonly jobs: JobOrder[]
  /** What the bot logged as a warning or an error. */
  readonly logged: string[]
  /** Addresses that something in the tenant holds. */
  readonly takenAddresses: Set<string>
  /** The directory answers nothing while this is true. */
  directoryAway: boolean
}

/**
 * The provisioning core over an embedded database, with a small directory and a tenant that nothing may be made in:
 * what a test did not foresee throws by its name.
 */
export function withBotWorld(): BotWorld {
  const store = withDatabase('embedded')
  const jobs: JobOrder[] = []
  const logged: string[] = []
  const takenAddresses = new Set<string>()
  const clock = { now: () => new Date() }
  let made: { stores: Stores; provisioning: Provisioning; services: BotServices } | undefined
  const known = () => {
    if (!made) throw new Error('the bot world exists only while the tests of its block run')
    return made
  }
  const unexpected = (what: string) => () => Promise.reject(new Error(`nobody expected ${what}`))
  const world = { directoryAway: false }
  const inDirectory = <T>(answer: T): Promise<T> =>
    world.directoryAway
      ? Promise.reject(new TenantError('unavailable', 'Graph answered 503.', { retryable: true }))
      : Promise.resolve(answer)
  beforeAll(async () => {
    const stores = createStores(store.database)
    const ports: Ports = {
      ...stores,
      clock,
      work: store.database,
      jobs: { enqueue: async (orders) => void jobs.push(...orders) },
      directory: {
        person: (id) => inDirectory([kim, dana, omar, sam].find((one) => one.id === id)),
        groupsOf: () => inDirectory(new Set<string>()),
        isAddressFree: (_kind, alias) => inDirectory(!takenAddresses.has(alias)),
        manager: unexpected('manager'),
        membersOf: unexpected('membersOf'),
        findProvisionedGroup: unexpected('findProvisionedGroup'),
      },
      tenant: { siteRoot, siteSteps: mapSteps((step) => unexpected(`the step ${step}`)) },
    }
    const provisioning = createProvisioning(ports, {
      tenantId: contosoTenant,
      admins: [sam.id],
      openRequestsPerPerson: 0,
      followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 },
      followUpWebhookUrl: null,
    })
    await seedTemplates(ports, contosoTenant, [projectSite, openCommunity])
    const note = (facts: object, message: string) => {
      const error = 'err' in facts ? `: ${String(facts.err)}` : ''
      logged.push(`${message}${error}`)
    }
    const log = { info: () => undefined, warn: note, error: note }
    made = { stores, provisioning, services: { ...stores, provisioning, now: clock.now, log } }
  })
  return {
    get stores() {
      return known().stores
    },
    get provisioning() {
      return known().provisioning
    },
    get services() {
      return known().services
    },
    jobs,
    logged,
    takenAddresses,
    get directoryAway() {
      return world.directoryAway
    },
    set directoryAway(away: boolean) {
      world.directoryAway = away
    },
  }
}

function mapSteps<T>(make: (step: SiteStep) => T): { [S in SiteStep]: T } {
  return Object.fromEntries(siteSteps.map((step) => [step, make(step)])) as { [S in SiteStep]: T }
}
