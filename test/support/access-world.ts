import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { GuardedAdapter } from '../../src/bot/channel/adapter.ts'
import { createBot } from '../../src/bot/index.ts'
import {
  type ApprovalStage,
  asWritten,
  type Core,
  type DeadLetter,
  type Delivery,
  type Person,
  provisioningRequest,
  type Request,
  type RequestState,
  template,
} from '../../src/core/index.ts'
import { createSigningKeys } from '../../src/http/index.ts'
import { createStores } from '../../src/store/index.ts'
import type { Who } from './access-roles.ts'
import { startConnector } from './connector.ts'
import { dana, kim, noDeadLetters, omar, priya, stranger, tenantWith, withCore } from './core.ts'
import { appClientId, type Issuer, requestOf, startIssuer, startRest, tenantId } from './rest.ts'
import { rowCounts } from './rows.ts'
import { anyPace } from './service.ts'

const personOf = (displayName: string, userPrincipalName: string): Person => ({
  id: randomUUID(),
  displayName,
  userPrincipalName,
})
const persons = {
  requester: kim,
  former: dana,
  approver: omar,
  later: priya,
  stranger,
  removed: personOf('Remo Left', 'remo@contoso.example'),
  admin: personOf('Ada Min', 'ada@contoso.example'),
  guest: personOf('Gus Guest', 'gus_fabrikam.example#EXT#@contoso.example'),
  gone: personOf('Gone Away', 'gone@contoso.example'),
} satisfies Partial<Record<Who, Person>>
const groups = { admins: randomUUID(), approvers: randomUUID() }
export const foreignTenant = randomUUID()
/** Part of the name of every object that not everybody may see. */
export const secret = 'Merger'

const stages = (): ApprovalStage[] => [
  {
    ...{ stage: 1, rule: 'any', approvers: [dana] },
    decisions: [{ by: dana, decision: 'approved', at: new Date().toISOString() }],
  },
  {
    ...{ stage: 2, rule: 'any', approvers: [omar, persons.removed], decisions: [] },
    membership: { groups: [groups.approvers], people: [persons.removed.id] },
  },
  { stage: 3, rule: 'any', approvers: [priya], decisions: [] },
]

/** A new approver for a reassigned decision. */
const colleague = personOf('Cole League', 'cole@contoso.example')

/** Returns the object id of a role; undefined for callers who do not show an id. */
export const idOf = (who: Who): string | undefined =>
  who === 'anonymous' ? undefined : who === 'foreign' ? kim.id : who === 'application' ? appClientId : persons[who].id

/**
 * Creates the product with its real endpoints, REST over HTTP and the bot at `/api/messages`, with everybody of
 * `access-roles.ts` in its directory. No job runs, so only calls change data.
 */
export function withAccessWorld() {
  const core = withCore()
  const closes: (() => unknown)[] = []
  const letters: DeadLetter[] = []
  const batches: string[] = []
  let started: Awaited<ReturnType<typeof start>> | undefined
  const known = () => {
    if (!started) throw new Error('the doors are open only while the tests of their block run')
    return started
  }

  async function start() {
    for (const person of Object.values(persons)) if (person !== persons.gone) core.world.people.set(person.id, person)
    core.world.people.set(colleague.id, colleague)
    core.world.guests.add(persons.guest.id)
    core.world.groups.set(groups.admins, [persons.admin, persons.guest])
    core.world.groups.set(groups.approvers, [omar])
    const provisioning = core.with(
      {
        tenant: { ...tenantWith(), health: async () => [] },
        sendWebhook: async () => ({ status: '204', milliseconds: 1 }),
        ownHealth: { read: async () => own },
        deadLetters: {
          ...noDeadLetters,
          list: async () => letters,
          find: async (id) => letters.find(({ letterId }) => letterId === id),
          settle: async () => true,
          replay: async () => true,
        },
      },
      {
        ...{ tenantId, admins: [groups.admins], digest: { hour: 8 } },
        exportLinks: { root: 'https://contoso.example', key: Buffer.alloc(32, 1) },
      },
    )
    const atEnd = (close: () => unknown) => void closes.push(close)
    const connector = await startConnector()
    atEnd(() => connector.close())
    const issuer = await startIssuer(atEnd)
    const bot = botOf(provisioning)
    const rest = await startRest(
      issuer,
      { core: provisioning, idempotency: createStores(core.database).idempotency, messages: bot.messages },
      atEnd,
    )
    const audience = { people: [kim.id], groups: [] }
    const open = template.parse({ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Working group' })
    const mailbox = template.parse({ id: randomUUID(), version: 1, kind: 'sharedMailbox', name: 'Mailbox' })
    const webhook = { url: 'https://hooks.contoso.example/', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }
    const hidden = template.parse({ ...open, id: randomUUID(), name: `${secret} site`, audience, webhook })
    for (const one of [open, mailbox, hidden]) await core.ports.templates.put(tenantId, one, 0)
    return { provisioning, connector, issuer, rest, templates: { open, mailbox, hidden } }
  }

  function botOf(provisioning: Core) {
    const stores = createStores(core.database)
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const services = { ...stores, core: provisioning, chatPace: anyPace, now: () => new Date(), log }
    const keys = createSigningKeys({ url: 'http://127.0.0.1:9', fetch, now: Date.now })
    const options = { services, state: stores.botState, credentials: undefined, tenantId, keys }
    return createBot(options, new GuardedAdapter(undefined))
  }

  beforeAll(async () => {
    started = await start()
  })
  afterAll(async () => {
    for (const close of closes.reverse()) await close()
  })

  return {
    get doors() {
      return known()
    },
    letters,
    colleague,
    /** Creates a running batch of Kim. */
    async batch(): Promise<string> {
      const batchId = randomUUID()
      const { provisioning, templates } = known()
      const actor = await provisioning.actor({ tenantId, id: kim.id })
      const rows = [{ key: secret, body: { displayName: secret, templateId: templates.hidden.id } }]
      await provisioning.beginBatch(actor, { batchId, resource: 'site', rows })
      // Ends Kim's other batches, so that the next one is not refused.
      for (const other of batches.splice(0))
        await provisioning.cancelBatch(actor, { batchId: other }).catch(() => undefined)
      batches.push(batchId)
      return batchId
    },
    rows: () => rowCounts(core.database),
    /** Returns whether a person has disabled the digest. */
    async wantsNoDigest(who: Who): Promise<boolean> {
      const id = idOf(who) ?? ''
      return (await createStores(core.database).digests.without(tenantId, [id])).has(id)
    },
    /** Creates Kim's request in a state, just now, so that none of its timers is overdue. */
    async request(status: RequestState): Promise<Request> {
      const at = new Date().toISOString()
      const problem = status === 'failed' ? { code: 'quota', detail: 'The quota is used up.' } : null
      const request = provisioningRequest.parse({
        ...requestOf(),
        ...{ requestId: randomUUID(), status, problem },
        ...{ requester: kim, owners: [kim], approvals: stages(), submittedAt: at, updatedAt: at, queuedAt: at },
        ...{ alias: `merger-${randomUUID()}`, details: { displayName: `${secret} ${status}` } },
      })
      return core.ports.requests.insert(request)
    },
    find: (requestId: string) => core.ports.requests.find(requestId),
    /** Creates a dead letter for the request. */
    letter({ requestId }: Request): string {
      const letterId = randomUUID()
      const job = { job: 'notify', payload: { requestId }, problem: asWritten('It failed.'), at: new Date() }
      letters.splice(0, letters.length, { letterId, ...job })
      return letterId
    },
    async delivery({ requestId }: Request): Promise<string> {
      const at = new Date().toISOString()
      const delivery: Delivery = {
        ...{
          deliveryId: randomUUID(),
          requestId,
          tenantId,
          subscriber: 'bot',
          type: 'request.failed',
          url: 'https://x/',
        },
        ...{ body: '{}', status: 'failed', attempts: 1, lastStatus: '500', createdAt: at, updatedAt: at },
      }
      await core.ports.deliveries.insert(delivery)
      return delivery.deliveryId
    },
    /** Creates Kim's draft, ready to be sent. */
    async draft(): Promise<{ requestId: string; version: number }> {
      const { provisioning, templates } = known()
      const actor = await provisioning.actor({ tenantId, id: kim.id })
      const opened = await provisioning.openDraft(actor, { templateId: templates.hidden.id })
      if (opened.step !== 'details') throw new Error('no form')
      const values = { displayName: `${secret} ${randomUUID()}` }
      const { requestId } = opened.draft
      await provisioning.reviewDraft(actor, { requestId, version: 1, values })
      return { requestId, version: 2 }
    },
    token: (who: Who, audience: 'collab' | 'mail') => tokenOf(known().issuer, who, audience),
  }
}
export type AccessWorld = ReturnType<typeof withAccessWorld>

const own = {
  ...{ databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: new Date(), version: '0' },
  startedAt: new Date(),
}

/** Returns a token as Entra ID issues it for this role; undefined for roles without a token. */
async function tokenOf(issuer: Issuer, who: Who, audience: 'collab' | 'mail'): Promise<string | undefined> {
  if (who === 'anonymous') return undefined
  const aud = `api://contoso/${who === 'application' ? 'mail' : audience}`
  if (who === 'application')
    return issuer.token({
      aud,
      azp: appClientId,
      oid: appClientId,
      idtyp: 'app',
      roles: ['App.ReadWrite.All'],
      scp: undefined,
    })
  const foreign = { tid: foreignTenant, iss: `https://login.contoso.example/${foreignTenant}/v2.0` }
  return issuer.token({ aud, oid: idOf(who), ...(who === 'foreign' && foreign) })
}
