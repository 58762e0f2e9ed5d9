import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import {
  type Actor,
  access,
  type BatchOrder,
  type Core,
  may,
  type Permission,
  periodOf,
  rolesOf,
  type useCases,
} from '../../src/core/index.ts'
import { routes } from '../../src/http/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'
import { readSources } from '../support/sources.ts'

const actors = { requester: actorOf(kim), approver: actorOf(dana), admin: actorOf(priya, true), other: actorOf(omar) }
type Who = keyof typeof actors
/** The roles for each permission on Kim's request, which Dana decides. An independent copy, so that a mistake in the table shows. */
const expected: Record<Permission, readonly Who[]> = {
  'template.read': ['requester', 'approver', 'admin', 'other'],
  'template.write': ['admin'],
  'request.create': ['requester', 'approver', 'admin', 'other'],
  'request.simulate': ['admin'],
  'request.list': ['requester', 'approver', 'admin', 'other'],
  'request.listAll': ['admin'],
  'queue.read': ['admin'],
  'certificate.read': ['admin'],
  'health.read': ['admin'],
  'stats.read': ['admin'],
  'audit.read': ['admin'],
  'export.create': ['admin'],
  'person.erase': ['admin'],
  'deadLetter.read': ['admin'],
  'deadLetter.replay': ['admin'],
  'deadLetter.dismiss': ['admin'],
  'request.read': ['requester', 'approver', 'admin'],
  'request.cancel': ['requester', 'admin'],
  'request.decide': ['approver'],
  'request.reassign': ['approver', 'admin'],
  'request.nudge': ['requester', 'admin'],
  'request.address': ['requester'],
  'request.override': ['admin'],
  'request.retry': ['admin'],
  'batch.read': ['requester', 'admin'],
  'batch.cancel': ['requester', 'admin'],
  'approval.list': ['requester', 'approver', 'admin', 'other'],
  'digest.read': ['requester', 'approver', 'admin', 'other'],
  'digest.choose': ['requester', 'approver', 'admin', 'other'],
  'delegation.list': ['admin'],
  'approval.delegate': ['requester', 'approver', 'admin', 'other'],
  'delivery.read': ['admin'],
  'delivery.replay': ['admin'],
  'webhook.test': ['admin'],
  'webhook.enable': ['admin'],
}
const permissions = Object.keys(access) as Permission[]
const request = requestOf({
  tenantId,
  requester: kim,
  approvals: [{ stage: 1, rule: 'any', approvers: [dana], decisions: [] }],
})

describe('the access table', () => {
  const matrix = permissions.flatMap((permission) =>
    (Object.keys(actors) as Who[]).map((who) => [who, permission, expected[permission].includes(who)] as const),
  )

  it.each(matrix)('%s, %s: %s', (who, permission, allowed) => {
    expect(may(actors[who], permission, request)).toBe(allowed)
  })

  it.each(permissions)('%s: refuses all roles of another tenant', (one) => {
    const tenant = randomUUID()
    for (const actor of Object.values(actors)) {
      const foreign: Actor = { ...actor, tenantId: tenant, isAdmin: true }
      expect(rolesOf(foreign, request).size).toBe(0)
      expect(may(foreign, one, request)).toBe(false)
    }
  })

  it('does not compile with an unknown permission', () => {
    expectTypeOf<Permission>().not.toEqualTypeOf<string>()
    // @ts-expect-error: unknown permission
    expect(() => may(actors.admin, 'request.delete', request)).toThrow()
    for (const roles of Object.values(access)) expect(roles.length).toBeGreaterThan(0)
  })
})

/** Each use case for actors, except the helpers that check no request. A missing use case does not compile. */
type UseCaseName = Exclude<keyof typeof useCases, 'likelyNames' | 'findNamedPeople' | 'readMailDomains'>
const nowhere = { requestId: '', templateId: '', mailboxTemplateId: '', batchId: '' }
type UseCaseCalls = Record<UseCaseName, (to: Core, who: Actor, at: typeof nowhere) => Promise<unknown>>
const page = { limit: 10 }
const batchFrom = (templateId: string): BatchOrder => ({
  resource: 'site',
  rows: [{ key: '1', body: { displayName: 'Hidden', templateId } }],
})
const started = (id: string) => ({
  ...{ kind: 'room' as const, id },
  answers: {
    ...{ name: 'Hidden', description: '', prefix: '', approvedBy: 'nobody' as const },
    ...{ people: [], group: '', owners: 1, capacity: 51_200 },
  },
})
const useCaseCalls: UseCaseCalls = {
  submitSite: (to, who, at) =>
    to.submitSite(who, { body: { displayName: 'x', templateId: at.templateId }, requestId: at.requestId }),
  submitMailbox: (to, who, at) => {
    const body = { name: 'x', displayName: 'x', templateId: at.mailboxTemplateId }
    return to.submitMailbox(who, { body, requestId: at.requestId })
  },
  previewRequest: (to, who, at) => to.previewRequest(who, { body: { displayName: 'x', templateId: at.templateId } }),
  previewRequestAs: (to, who, at) =>
    to.previewRequestAs(who, { personId: who.id, body: { displayName: 'x', templateId: at.templateId } }),
  simulate: (to, who, at) => to.simulate(who, { templateId: at.templateId, personId: who.id, example: 'Example' }),
  readRequest: (to, who, at) => to.readRequest(who, { requestId: at.requestId }),
  readRequestByReference: (to, who) => to.readRequestByReference(who, { reference: 'REQ-1001' }),
  readForApproval: (to, who, at) => to.readForApproval(who, { requestId: at.requestId }),
  listRequests: (to, who) => to.listRequests(who, page),
  listOwnRequests: (to, who) => to.listOwnRequests(who, { limit: 10 }),
  pageOfOwnRequests: (to, who) => to.pageOfOwnRequests(who, { limit: 10, before: 2000 }),
  pageOfApprovals: (to, who) => to.pageOfApprovals(who, { limit: 10 }),
  forgetCard: (to, who, at) => to.forgetCard(who, { requestId: at.requestId, activityId: 'none' }),
  keepCard: (to, who, at) =>
    to.keepCard(who, { requestId: at.requestId, key: 'status', shown: 1, conversationId: 'chat', activityId: 'none' }),
  withdrawOwnCard: (to, who, at) => to.withdrawOwnCard(who, { requestId: at.requestId, activityId: 'none' }),
  readTimeline: (to, who, at) => to.readTimeline(who, { requestId: at.requestId }),
  readExplanation: (to, who, at) => to.readExplanation(who, { requestId: at.requestId }),
  approve: (to, who, at) => to.approve(who, { requestId: at.requestId }),
  reject: (to, who, at) => to.reject(who, { requestId: at.requestId, comment: 'No.' }),
  decideJointly: (to, who, at) => {
    const items = [{ requestId: at.requestId, stage: 1 }]
    return to.decideJointly(who, { decisionId: randomUUID(), decision: 'rejected', comment: '', items })
  },
  readJointDecision: (to, who) => to.readJointDecision(who, { decisionId: randomUUID() }),
  cancelRequest: (to, who, at) => to.cancelRequest(who, { requestId: at.requestId }),
  retryRequest: (to, who, at) => to.retryRequest(who, { requestId: at.requestId }),
  reassign: (to, who, at) => to.reassign(who, { requestId: at.requestId, to: omar.id }),
  override: (to, who, at) => to.override(who, { requestId: at.requestId, decision: 'approved', comment: 'So.' }),
  listDelegated: (to, who) => to.listDelegated(who, page),
  changeAddress: (to, who, at) => to.changeAddress(who, { requestId: at.requestId, address: 'hidden' }),
  nudge: (to, who, at) => to.nudge(who, { requestId: at.requestId }),
  readDelegations: (to, who) => to.readDelegations(who),
  beginDelegation: (to, who) => to.beginDelegation(who, { to: randomUUID(), until: '2020-01-01' }),
  endDelegation: (to, who) => to.endDelegation(who),
  findColleagues: (to, who) => to.findColleagues(who, { typed: 'Dana Fox' }),
  readDigest: (to, who) => to.readDigest(who),
  readDigestSetting: (to, who) => to.readDigestSetting(who),
  chooseDigest: (to, who) => to.chooseDigest(who, { isOn: false }),
  checkBatch: (to, who, at) => to.checkBatch(who, batchFrom(at.templateId)),
  beginBatch: (to, who, at) => to.beginBatch(who, { batchId: at.batchId, ...batchFrom(at.templateId) }),
  readBatch: (to, who, at) => to.readBatch(who, { batchId: at.batchId }),
  readBatchRows: (to, who, at) => to.readBatchRows(who, { batchId: at.batchId, ...page }),
  readBatchProgress: (to, who, at) => to.readBatchProgress(who, { batchId: at.batchId }),
  readBatchQuestion: (to, who, at) => to.readBatchQuestion(who, { batchId: at.batchId, stage: 1 }),
  cancelBatch: (to, who, at) => to.cancelBatch(who, { batchId: at.batchId }),
  readQueue: (to, who) => to.readQueue(who),
  listDeadLetters: (to, who) => to.listDeadLetters(who, { limit: 25 }),
  readDeadLetter: (to, who) => to.readDeadLetter(who, { letterId: randomUUID() }),
  dismissDeadLetter: (to, who) => to.dismissDeadLetter(who, { letterId: randomUUID() }),
  replayDeadLetter: (to, who) => to.replayDeadLetter(who, { letterId: randomUUID() }),
  offerExport: (to, who) => to.offerExport(who, { from: '2026-11-01', to: '2026-11-02' }),
  findPerson: (to, who) => to.findPerson(who, { typed: dana.id }),
  offerPersonExport: (to, who) => to.offerPersonExport(who, { personId: dana.id }),
  readErasure: (to, who) => to.readErasure(who, { personId: dana.id }),
  orderErasure: (to, who) => to.orderErasure(who, { personId: dana.id, address: '', erasureId: randomUUID() }),
  listDelegations: (to, who) => to.listDelegations(who, { from: 0, most: 6 }),
  endDelegationsOf: (to, who) => to.endDelegationsOf(who, { personId: dana.id }),
  readStuck: (to, who) => to.readStuck(who),
  readHealth: (to, who) => to.readHealth(who),
  readOwnHealth: (to, who) => to.readOwnHealth(who),
  readStats: (to, who) => {
    return to.readStats(who, { period: periodOf('week', new Date(), { timeZone: 'UTC', locale: 'en' }) })
  },
  readCertificate: (to, who) => to.readCertificate(who),
  readAudit: (to, who) => to.readAudit(who, { requestId: randomUUID() }),
  readOrganisationAudit: (to, who) => to.readOrganisationAudit(who),
  listDeliveries: (to, who) => to.listDeliveries(who, page),
  readDelivery: (to, who) => to.readDelivery(who, { deliveryId: randomUUID() }),
  replayDelivery: (to, who) => to.replayDelivery(who, { deliveryId: randomUUID() }),
  countFailedDeliveries: (to, who, at) => to.countFailedDeliveries(who, { subscriber: { templateId: at.templateId } }),
  replayFailedDeliveries: (to, who, at) =>
    to.replayFailedDeliveries(who, { subscriber: { templateId: at.templateId } }),
  sendWaitingDeliveries: (to, who, at) => to.sendWaitingDeliveries(who, { subscriber: { templateId: at.templateId } }),
  listReceivers: (to, who) => to.listReceivers(who, { from: 0, most: 4 }),
  readReceiver: (to, who, at) => to.readReceiver(who, { subscriber: { templateId: at.templateId } }),
  testReceiver: (to, who, at) => to.testReceiver(who, { subscriber: { templateId: at.templateId } }),
  switchReceiverOn: (to, who, at) => to.switchReceiverOn(who, { subscriber: { templateId: at.templateId } }),
  listTemplates: (to, who) => to.listTemplates(who),
  listUsableTemplates: (to, who) => to.listUsableTemplates(who),
  readTemplate: (to, who, at) => to.readTemplate(who, { id: at.templateId }),
  putTemplate: (to, who, at) => to.putTemplate(who, { id: at.templateId, body: {}, expected: 1 }),
  listTemplatesInUse: (to, who) => to.listTemplatesInUse(who, { from: 0, most: 6 }),
  readUseOfTemplates: (to, who) => to.readUseOfTemplates(who, { templates: [] }),
  reportOnTemplate: (to, who, at) => to.reportOnTemplate(who, { id: at.templateId }),
  previewStarter: (to, who, at) => to.previewStarter(who, started(at.batchId)),
  addFromStarter: (to, who, at) => to.addFromStarter(who, started(at.batchId)),
  listHelpers: (to, who) => to.listHelpers(who),
  switchTemplate: (to, who, at) => to.switchTemplate(who, { id: at.templateId, expected: 1, active: false }),
  openDraft: (to, who, at) => to.openDraft(who, { templateId: at.templateId }),
  readDraft: (to, who, at) => to.readDraft(who, { requestId: at.requestId }),
  reviewDraft: (to, who, at) => to.reviewDraft(who, { requestId: at.requestId, version: 1, values: {} }),
  editDraft: (to, who, at) => to.editDraft(who, { requestId: at.requestId, version: 2 }),
  submitDraft: (to, who, at) => to.submitDraft(who, { requestId: at.requestId, version: 2 }),
  discardDraft: (to, who, at) => to.discardDraft(who, { requestId: at.requestId }),
  draftFromRequest: (to, who, at) => to.draftFromRequest(who, { requestId: at.requestId }),
  readEarlierEnd: (to, who, at) => to.readEarlierEnd(who, { requestId: at.requestId }),
  draftLikeRequest: (to, who, at) => to.draftLikeRequest(who, { requestId: at.requestId }),
  listDrafts: (to, who) => to.listDrafts(who),
  readWaiting: (to, who) => to.readWaiting(who),
  checkDraftNames: (to, who, at) => to.checkDraftNames(who, { requestId: at.requestId, version: 1, values: {} }),
  joinDraft: (to, who, at) => to.joinDraft(who, { requestId: at.requestId, version: 1, values: {} }),
  keepDraft: (to, who, at) => to.keepDraft(who, { requestId: at.requestId, version: 1, values: {} }),
  continueDraft: (to, who, at) => to.continueDraft(who, { requestId: at.requestId }),
}
const onlyAnswersLists = [
  'listRequests',
  'listOwnRequests',
  'listDelegated',
  'pageOfOwnRequests',
  'pageOfApprovals',
  'listDrafts',
  'readWaiting',
  'listTemplates',
  'listUsableTemplates',
  'withdrawOwnCard',
  'checkBatch',
  'readDelegations',
  'endDelegation',
  'findColleagues',
  'listHelpers',
  'readDigest',
  'readDigestSetting',
  'chooseDigest',
  'readBatchQuestion',
  'readJointDecision',
]

describe('each use case', () => {
  const core = withCore()
  const at = { ...nowhere }
  // Kim has a request from a draft. Its template is only for Kim and Dana, and Dana decides.
  beforeAll(async () => {
    const audience = { people: [kim.id, dana.id], groups: [] }
    const approval = { stages: [{ approvers: [{ user: dana.id }] }] }
    at.templateId = (await core.template({ audience, approval })).id
    at.mailboxTemplateId = (await core.template({ audience, kind: 'sharedMailbox' })).id
    at.batchId = randomUUID()
    await core.provisioning.beginBatch(actors.requester, { batchId: at.batchId, ...batchFrom(at.templateId) })
    const { provisioning } = core
    const opened = await provisioning.openDraft(actors.requester, { templateId: at.templateId })
    if (opened.step !== 'details') throw new Error('no form')
    at.requestId = opened.draft.requestId
    await provisioning.reviewDraft(actors.requester, {
      requestId: at.requestId,
      version: 1,
      values: { displayName: 'Hidden', reason: 'Why not.' },
    })
    await provisioning.submitDraft(actors.requester, { requestId: at.requestId, version: 2 })
  })

  const outsiders: [string, Actor][] = [
    ['a person without a role for the request', actorOf(stranger)],
    ['an admin of another tenant with the requester’s id', { ...actors.admin, id: kim.id, tenantId: randomUUID() }],
  ]
  it.each(outsiders.flatMap(([what, who]) => Object.keys(useCaseCalls).map((name) => [name, what, who] as const)))(
    '%s shows nothing to %s and changes nothing',
    async (name, _, who) => {
      const call = () => useCaseCalls[name as UseCaseName](core.provisioning, who, at)
      const before = await core.rows()
      if (onlyAnswersLists.includes(name) && who.tenantId === tenantId)
        expect(JSON.stringify((await call()) ?? null)).not.toMatch(/Hidden|Working group/)
      else {
        const refused = await refusal(call)
        expect(['not-found', 'forbidden', 'validation-failed']).toContain(refused.code)
        expect(sentenceOf(refused)).not.toMatch(/Hidden|Working group|REQ-/)
      }
      expect(await core.rows()).toEqual(before)
      expect((await core.provisioning.readRequest(actors.requester, { requestId: at.requestId })).version).toBe(1)
    },
  )

  it.each(Object.keys(useCaseCalls))(
    '%s refuses a person of another tenant, even with a known id or as an admin',
    async (name) => {
      const foreign = { ...actors.requester, tenantId: randomUUID(), isAdmin: true }
      const before = await core.rows()
      const refused = await refusal(() => useCaseCalls[name as UseCaseName](core.provisioning, foreign, at))
      expect([refused.code, sentenceOf(refused)]).toEqual([
        'forbidden',
        'You belong to another organisation. Sign in with an account of this organisation.',
      ])
      expect(await core.rows()).toEqual(before)
    },
  )

  it('refuses cancel and retry by an approver, and a decision by the requester', async () => {
    const { provisioning } = core
    const code = async (work: () => Promise<unknown>) => (await refusal(work)).code
    expect(await code(() => provisioning.cancelRequest(actors.approver, { requestId: at.requestId }))).toBe('forbidden')
    expect(await code(() => provisioning.retryRequest(actors.requester, { requestId: at.requestId }))).toBe('forbidden')
    expect(await code(() => provisioning.approve(actors.requester, { requestId: at.requestId }))).toBe('self-approval')
    expect(await code(() => provisioning.reject(actors.requester, { requestId: at.requestId, comment: 'No.' }))).toBe(
      'self-approval',
    )
    expect(await code(() => provisioning.approve(actors.admin, { requestId: at.requestId }))).toBe('not-an-approver')
    expect(
      await code(() => provisioning.putTemplate(actors.requester, { id: at.templateId, body: {}, expected: 1 })),
    ).toBe('forbidden')
  })

  it('accepts only people of the tenant, and reads the admin role at each call', async () => {
    const code = async (identity: { tenantId: string; id: string }) =>
      (await refusal(() => core.provisioning.actor(identity))).code
    expect(await code({ tenantId: randomUUID(), id: kim.id })).toBe('forbidden')
    expect(await code({ tenantId, id: randomUUID() })).toBe('forbidden')
    const group = randomUUID()
    const provisioning = core.with({}, { admins: [group] })
    const isAdmin = async () => (await provisioning.actor({ tenantId, id: kim.id })).isAdmin
    expect(await isAdmin()).toBe(false)
    core.world.groups.set(group, [kim])
    expect(await isAdmin()).toBe(true)
    core.world.groups.delete(group)
    expect(await isAdmin()).toBe(false)
  })
})

describe('routes and chat handlers', () => {
  const open = [
    'GET /about',
    'GET /exports/v1/:token',
    'GET /healthz',
    'GET /metrics',
    'GET /privacy',
    'GET /readyz',
    'GET /terms',
    'POST /api/messages',
    'POST /exports/v1/:token',
    'POST /webhooks/provisioning',
  ]

  it('name a permission for each route, except public pages and routes with their own authentication', () => {
    const isPublic = routes.filter(({ permission }) => permission === 'public')
    const calls = isPublic
      .map(({ method, path }) => `${method} ${path}`)
      .filter((call) => !/^GET \/(openapi.json|docs)/.test(call))
    expect(calls.sort()).toEqual(open)
    for (const { permission, method, path, audience } of routes) {
      if (permission === 'public') continue
      expect(permissions, `${method} ${path}`).toContain(permission)
      expect(audience).not.toBeNull()
      if (method !== 'GET') expect(permission, `${method} ${path}`).not.toMatch(/\.(read|list|listAll)$/)
    }
  })

  it('use only the core for requests and templates, with the actor of the turn', () => {
    const handlers = readSources('src').filter(({ path }) => /^bot\/(?!channel\/)\w+\//.test(path))
    expect(handlers.length).toBeGreaterThan(5)
    for (const { path, text } of handlers) {
      expect(text, path).not.toMatch(/store\/|\b(ports|stores)\b/)
      expect(text, `${path} acts for the system`).not.toMatch(/\.system\b/)
      const calls = [...text.matchAll(/\bcore\.((?:\w+\.)?\w+)\((?!\s*\.\.\.)\s*([\w.]*)/g)]
      for (const [, call = '', first = ''] of calls) {
        if (!Object.hasOwn(useCaseCalls, call)) continue
        expect(first, `${path}: ${call}`).toMatch(/(^|\.)actor$/)
      }
    }
  })
})
