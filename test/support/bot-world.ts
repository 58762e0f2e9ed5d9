import { type Activity, ConversationState, MemoryStorage, TestAdapter } from 'botbuilder'
import { beforeAll } from 'vitest'
import { Bot } from '../../src/bot/channel/bot.ts'
import type { BotServices } from '../../src/bot/index.ts'
import {
  asWritten,
  type Core,
  createCheckResults,
  createCore,
  type DeadLetter,
  type DeadLetters,
  isMailboxKind,
  type JobOrder,
  mailboxSteps,
  type Person,
  type Ports,
  type Request,
  seedTemplates,
  siteSteps,
  TenantError,
  template,
} from '../../src/core/index.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { createStores, type Stores } from '../../src/store/index.ts'
import { cardIn, clicking, saying } from './bot-activities.ts'
import { dana, kim, omar, openCommunity, projectSite, siteRoot } from './card-world.ts'
import { action, actionsOf, textOf, valuesOf } from './cards.ts'
import type { Card } from './connector.ts'
import { localConnection, soundInstallation } from './core.ts'
import { withLentDatabase } from './database.ts'
import { people as contoso, contosoTenant } from './teams-user.ts'

/** The sample templates of mailboxes: two shared mailboxes, the second with approval, a room and equipment. */
const mailboxTemplates = samples.map((one) => template.parse(one)).filter(({ kind }) => isMailboxKind(kind))
const domains = { default: 'contoso.example', accepted: ['contoso.example', 'contoso-labs.example'] }
/** The groups of the small directory, by the names that admins enter. */
const groups = [
  { id: '22222222-bbbb-4bbb-8bbb-000000000001', displayName: 'Site approvers' },
  { id: '22222222-bbbb-4bbb-8bbb-000000000002', displayName: 'Mail approvers' },
  { id: '22222222-bbbb-4bbb-8bbb-000000000003', displayName: 'Mail operators' },
  { id: '22222222-bbbb-4bbb-8bbb-000000000004', displayName: 'Site approvers North' },
]
const sam: Person = { ...contoso.sam, displayName: contoso.sam.name, userPrincipalName: 'sam@contoso.example' }

export interface BotWorld {
  readonly stores: Stores
  readonly provisioning: Core
  readonly services: BotServices
  /** Jobs in the order of their submission. None of them runs. */
  readonly jobs: JobOrder[]
  /** Dead letters. A retried one is in `jobs`. */
  readonly letters: DeadLetter[]
  /** Warnings and errors in the bot's log. */
  readonly logged: string[]
  /** Taken addresses in the tenant: a site's alias, a whole mail address. */
  readonly takenAddresses: Set<string>
  /** Further people in the results of a name look-up. */
  readonly alike: Person[]
  /** Ids of people who have left the directory. */
  readonly gone: Set<string>
  /** Ids of people that were requested from the directory. */
  readonly keyRequests: string[]
  /** Whether the directory does not answer at all, or does not return the domains. */
  directoryAway: boolean
  mailDomainsAway: boolean
  /** The tenant's answer to every step. Without an answer, no step is expected. */
  stepRefusal: TenantError | undefined
}

/**
 * Creates the provisioning core with an embedded database, a small directory and a tenant without steps: an unexpected
 * call in a test throws with its name.
 */
export function withBotWorld(): BotWorld {
  const store = withLentDatabase('embedded')
  const jobs: JobOrder[] = []
  const letters: DeadLetter[] = []
  const logged: string[] = []
  const takenAddresses = new Set<string>()
  const clock = { now: () => new Date() }
  let made: { stores: Stores; provisioning: Core; services: BotServices } | undefined
  const known = () => {
    if (!made) throw new Error('the bot world exists only while the tests of its block run')
    return made
  }
  const unexpected = (what: string) => () => Promise.reject(new Error(`nobody expected ${what}`))
  const world: BotWorld = {
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
    letters,
    logged,
    alike: [],
    keyRequests: [],
    gone: new Set(),
    takenAddresses,
    directoryAway: false,
    mailDomainsAway: false,
    stepRefusal: undefined,
  }
  const step = (name: string) => async () => {
    throw world.stepRefusal ?? new Error(`nobody expected the step ${name}`)
  }
  const inDirectory = <T>(answer: T, away = world.directoryAway): Promise<T> =>
    away
      ? Promise.reject(new TenantError('unavailable', asWritten('Graph answered 503.'), { retryable: true }))
      : Promise.resolve(answer)
  beforeAll(async () => {
    const stores = createStores(store.database)
    const ports: Ports = {
      ...stores,
      clock,
      work: store.database,
      jobs: { enqueue: async (orders) => void jobs.push(...orders), dueAt: async () => new Map() },
      resolveHost: async () => [],
      sendWebhook: unexpected('a webhook to be sent now'),
      rateLimits: { takeWrite: async () => ({ taken: true, againInMilliseconds: 0 }), takeReads: async () => 0 },
      deadLetters: deadLettersIn(letters, jobs),
      directory: {
        person: (id) => {
          world.keyRequests.push(id)
          return inDirectory([kim, dana, omar, sam].find((one) => one.id === id))
        },
        people: (ids) =>
          inDirectory([kim, dana, omar, sam].filter(({ id }) => ids.includes(id) && !world.gone.has(id))),
        profile: () => inDirectory({}),
        isGuest: () => inDirectory(false),
        groupsOf: () => inDirectory(new Set<string>()),
        unknownToExchange: () => inDirectory([]),
        isSiteAddressFree: (alias) => inDirectory(!takenAddresses.has(alias)),
        isMailboxNameFree: (address) => inDirectory(!takenAddresses.has(address)),
        isMailAddressFree: (address) => inDirectory(!takenAddresses.has(address)),
        deletedMail: () => inDirectory(undefined),
        deletedSite: () => inDirectory(undefined),
        addressesInUse: async function* () {},
        mailDomains: () => inDirectory(domains, world.directoryAway || world.mailDomainsAway),
        manager: unexpected('manager'),
        membersOf: unexpected('membersOf'),
        ownersOf: unexpected('ownersOf'),
        groupName: () => inDirectory('Site approvers'),
        findGroups: (text) => {
          const named = (test: (name: string) => boolean) =>
            groups.filter(({ displayName }) => test(displayName.toLowerCase()))
          const exact = named((name) => name === text.toLowerCase())
          return inDirectory(exact.length > 0 ? exact : named((name) => name.startsWith(text.toLowerCase())))
        },
        addressesOf: async () => [],
        findPeople: (text) => {
          const wanted = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
          const like = (one: Person) =>
            one.userPrincipalName.toLowerCase() === wanted || one.displayName.toLowerCase().startsWith(wanted)
          return inDirectory([kim, dana, omar, sam, ...world.alike].filter(like))
        },
        isExternal: unexpected('isExternal'),
        findProvisionedGroup: unexpected('findProvisionedGroup'),
        similar: () => inDirectory([]),
        visibleTo: unexpected('visibleTo'),
      },
      tenant: {
        siteRoot,
        outlookRoot: 'https://outlook.office.com/',
        siteSteps: forEach(siteSteps, step),
        mailboxSteps: forEach(mailboxSteps, step),
        mailboxStepsOf: () => [...mailboxSteps],
        findChat: async () => undefined,
        health: async () => [
          { name: 'graph', milliseconds: 41 },
          { name: 'sharePoint', milliseconds: 67 },
          {
            name: 'exchange',
            milliseconds: 5000,
            problem: asWritten('Exchange Online did not answer within 5 seconds.'),
          },
        ],
      },
      connection: localConnection,
      ownHealth: {
        read: async () => ({
          databaseMilliseconds: 3,
          queue: { waiting: 2, oldestSeconds: 9 },
          watchedAt: clock.now(),
          version: '0.1.0',
          startedAt: new Date('2026-11-20T08:00:00Z'),
        }),
      },
      installation: soundInstallation,
      checkResults: createCheckResults(),
    }
    const provisioning = createCore(ports, {
      tenantId: contosoTenant,
      admins: [sam.id],
      openRequestsPerPerson: 0,
      approvals: { reachMinutes: 10, remindAfterHours: 24, escalateAfterHours: 72, expireAfterDays: 14 },
      followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 },
      digest: null,
      followUpWebhookUrl: null,
      webhookAllowCidrs: [],
      exportLinks: { root: 'https://contoso.example', key: Buffer.alloc(32, 1) },
    })
    await seedTemplates(ports, contosoTenant, [projectSite, openCommunity, ...mailboxTemplates])
    const note = (facts: object, message: string) => {
      const error = 'err' in facts ? `: ${String(facts.err)}` : ''
      logged.push(`${message}${error}`)
    }
    const log = { info: () => undefined, warn: note, error: note }
    made = { stores, provisioning, services: { ...stores, core: provisioning, now: clock.now, log } }
  })
  return world
}

type Who = keyof typeof contoso

/** Creates the whole bot with botbuilder's own test adapter, and collects the activities of each turn. */
export function startBot(world: BotWorld, storage = new MemoryStorage()) {
  const bot = new Bot(world.services, new ConversationState(storage))
  const adapter = new TestAdapter((context) => bot.run(context))
  const turn = async (activity: Partial<Activity>): Promise<Partial<Activity>[]> => {
    await adapter.receiveActivity(activity)
    return adapter.activeQueue.splice(0)
  }
  /** Sends an activity, and returns the single card of the answer. */
  const cardOf = async (activity: Partial<Activity>): Promise<Card> => {
    const sent = await turn(activity)
    if (sent.length !== 1) throw new Error(`one answer was expected, not ${JSON.stringify(sent)}`)
    return cardIn(sent[0])
  }
  /** Returns the text of that card. */
  const answer = async (activity: Partial<Activity>): Promise<string> => textOf(await cardOf(activity))
  return {
    turn,
    answer,
    says: (who: Who, text: string) => answer(saying(who, text)),
    /** Types a text, and returns the card of the answer. */
    types: (who: Who, text: string) => cardOf(saying(who, text)),
    /** Opens the empty form of a command with one template, whatever drafts exist. */
    async opens(who: Who, words: string): Promise<Card> {
      const card = await cardOf(saying(who, words))
      const newForm = actionsOf(card).find(({ title }) => title === 'New')
      return newForm ? cardOf(clicking(who, String(newForm.verb), newForm.data)) : card
    },
    /** Clicks a button with changed inputs, and returns the card of the answer. */
    clicks(who: Who, card: Card, title: string, inputs: Record<string, string> = {}): Promise<Card> {
      const { verb, data } = action(card, title)
      return cardOf(clicking(who, String(verb), { ...data, ...valuesOf(card), ...inputs }))
    },
    /** Sends any verb with any data, including those that no card has, and returns the card of the answer. */
    sends: (who: Who, verb: string, data: object) => cardOf(clicking(who, verb, data)),
  }
}

/** Stores a request, with or without a pending approval. */
export async function requested(
  world: BotWorld,
  displayName: string,
  { who = 'kim' as Who, approval = true } = {},
): Promise<Request & { reference: string }> {
  const body = approval
    ? { templateId: projectSite.id, displayName, metadata: { costCentre: '4711', audience: 'internal' } }
    : { templateId: openCommunity.id, displayName }
  const actor = await world.provisioning.actor({ tenantId: contosoTenant, id: contoso[who].id })
  const request = await world.provisioning.submitSite(actor, { body })
  return { ...request, reference: `REQ-${request.number}` }
}

/** Stores a request that the tenant refused to create, with this error text. */
export async function failedRequest(world: BotWorld, displayName: string, { who = 'kim' as Who } = {}) {
  const { requestId, reference } = await requested(world, displayName, { who, approval: false })
  world.stepRefusal = new TenantError('quota', asWritten('The quota of sites is used up.'), { retryable: false })
  await world.provisioning.system.provision(requestId, { lastAttempt: true, signal: AbortSignal.timeout(10_000) })
  world.stepRefusal = undefined
  return { requestId, reference }
}

function deadLettersIn(letters: DeadLetter[], jobs: JobOrder[]): DeadLetters {
  const take = (letterId: string) => {
    const index = letters.findIndex((letter) => letter.letterId === letterId)
    return index < 0 ? undefined : letters.splice(index, 1)[0]
  }
  return {
    list: async () => letters,
    find: async (letterId) => letters.find((letter) => letter.letterId === letterId),
    settle: async (letterId) => take(letterId) !== undefined,
    async replay(letterId) {
      const letter = take(letterId)
      if (letter) jobs.push({ name: letter.job, payload: letter.payload } as JobOrder)
      return letter !== undefined
    },
  }
}

function forEach<Step extends string, T>(steps: readonly Step[], make: (step: Step) => T): { [S in Step]: T } {
  return Object.fromEntries(steps.map((step) => [step, make(step)])) as { [S in Step]: T }
}
