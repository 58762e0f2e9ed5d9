import { type Activity, ConversationState, MemoryStorage, TestAdapter } from 'botbuilder'
import { beforeAll } from 'vitest'
import { Bot } from '../../src/bot/bot.ts'
import type { BotServices } from '../../src/bot/index.ts'
import {
  createProvisioning,
  type JobOrder,
  type Person,
  type Ports,
  type Provisioning,
  type Request,
  type SiteStep,
  seedTemplates,
  siteSteps,
  TenantError,
} from '../../src/core/index.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { cardIn, saying } from './bot-activities.ts'
import { dana, kim, omar, openCommunity, projectSite, siteRoot } from './card-world.ts'
import { textOf } from './cards.ts'
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
      webhookAllowCidrs: [],
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

type Who = keyof typeof contoso

/** The whole bot behind botbuilder's own test adapter; gives all that it sent in a turn. */
export function startBot(world: BotWorld, storage = new MemoryStorage()) {
  const bot = new Bot(world.services, new ConversationState(storage))
  const adapter = new TestAdapter((context) => bot.run(context))
  const turn = async (activity: Partial<Activity>): Promise<Partial<Activity>[]> => {
    await adapter.receiveActivity(activity)
    return adapter.activeQueue.splice(0)
  }
  /** What a person reads on the one card that comes back. */
  const answer = async (activity: Partial<Activity>): Promise<string> => {
    const sent = await turn(activity)
    if (sent.length !== 1) throw new Error(`one answer was expected, not ${JSON.stringify(sent)}`)
    return textOf(cardIn(sent[0]))
  }
  return { turn, answer, says: (who: Who, text: string) => answer(saying(who, text)) }
}

/** A request that is in the store, with or without an approval before it. */
export async function requested(
  world: BotWorld,
  displayName: string,
  { who = 'kim' as Who, approval = true } = {},
): Promise<Request & { reference: string }> {
  const body = approval
    ? { templateId: projectSite.id, displayName, metadata: { costCentre: '4711', audience: 'internal' } }
    : { templateId: openCommunity.id, displayName }
  const actor = await world.provisioning.actor({ tenantId: contosoTenant, id: contoso[who].id })
  const request = await world.provisioning.submitSite(actor, body)
  return { ...request, reference: `REQ-${request.number}` }
}

function mapSteps<T>(make: (step: SiteStep) => T): { [S in SiteStep]: T } {
  return Object.fromEntries(siteSteps.map((step) => [step, make(step)])) as { [S in SiteStep]: T }
}
