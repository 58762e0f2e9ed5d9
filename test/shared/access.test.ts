import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import {
  type Actor,
  access,
  type BatchOrder,
  may,
  type Permission,
  type Provisioning,
  periodOf,
  rolesOf,
} from '../../src/core/index.ts'
import { routes } from '../../src/http/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'
import { readSources } from '../support/sources.ts'

const actors = { requester: actorOf(kim), approver: actorOf(dana), admin: actorOf(priya, true), other: actorOf(omar) }
type Who = keyof typeof actors
/** Who may do what with Kim's request, which Dana decides: written out a second time, so that a slip in the table shows. */
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

  it.each(permissions)('%s: nothing of another tenant, not even for its admin, its namesake or its approver', (one) => {
    const tenant = randomUUID()
    for (const actor of Object.values(actors)) {
      const foreign: Actor = { ...actor, tenantId: tenant, isAdmin: true }
      expect(rolesOf(foreign, request).size).toBe(0)
      expect(may(foreign, one, request)).toBe(false)
    }
  })

  it('refuses what it does not list: that does not even compile', () => {
    expectTypeOf<Permission>().not.toEqualTypeOf<string>()
    // @ts-expect-error: no such permission
    expect(() => may(actors.admin, 'request.delete', request)).toThrow()
    for (const roles of Object.values(access)) expect(roles.length).toBeGreaterThan(0)
  })
})

/** Every way to act for somebody. A new one that is missing here does not compile. */
type Door = Exclude<
  keyof Provisioning,
  | 'settings'
  | 'siteRoot'
  | 'outlookRoot'
  | 'actor'
  | 'actorForHealth'
  | 'system'
  | 'templates'
  | 'drafts'
  | 'deliveries'
  | 'delegations'
  | 'digest'
  | 'batches'
  | 'admin'
>
const nowhere = { requestId: '', templateId: '', mailboxTemplateId: '', batchId: '' }
type Doors = Record<
  | Door
  | `templates.${keyof Provisioning['templates']}`
  | `admin.${keyof Provisioning['admin']}`
  | `digest.${keyof Provisioning['digest']}`
  | `delegations.${keyof Provisioning['delegations']}`
  | `batches.${keyof Provisioning['batches']}`
  | `deliveries.${keyof Provisioning['deliveries']}`
  | Exclude<`drafts.${keyof Provisioning['drafts']}`, 'drafts.people' | 'drafts.mailDomains' | 'drafts.likelyNames'>,
  (to: Provisioning, who: Actor, at: typeof nowhere) => Promise<unknown>
>
const page = { limit: 10 }
const batchFrom = (templateId: string): BatchOrder => ({
  resource: 'site',
  rows: [{ key: '1', body: { displayName: 'Hidden', templateId } }],
})
const doors: Doors = {
  submitSite: (to, who, at) => to.submitSite(who, { displayName: 'x', templateId: at.templateId }, at.requestId),
  submitMailbox: (to, who, at) => {
    const body = { name: 'x', displayName: 'x', templateId: at.mailboxTemplateId }
    return to.submitMailbox(who, body, at.requestId)
  },
  preview: (to, who, at) => to.preview(who, { displayName: 'x', templateId: at.templateId }),
  previewAs: (to, who, at) => to.previewAs(who, who.id, { displayName: 'x', templateId: at.templateId }),
  simulate: (to, who, at) => to.simulate(who, at.templateId, who.id),
  read: (to, who, at) => to.read(who, at.requestId),
  readByReference: (to, who) => to.readByReference(who, 'REQ-1001'),
  list: (to, who) => to.list(who, page),
  listOwn: (to, who) => to.listOwn(who, 10),
  listApprovals: (to, who) => to.listApprovals(who, 10),
  pageOfOwn: (to, who) => to.pageOfOwn(who, 10, { before: 2000 }),
  pageOfApprovals: (to, who) => to.pageOfApprovals(who, 10, {}),
  withdrawClicked: (to, who, at) => to.withdrawClicked(who, at.requestId, 'none'),
  timeline: (to, who, at) => to.timeline(who, at.requestId),
  explanation: (to, who, at) => to.explanation(who, at.requestId),
  approve: (to, who, at) => to.approve(who, at.requestId),
  reject: (to, who, at) => to.reject(who, at.requestId, 'No.'),
  cancel: (to, who, at) => to.cancel(who, at.requestId),
  retry: (to, who, at) => to.retry(who, at.requestId),
  reassign: (to, who, at) => to.reassign(who, at.requestId, { to: omar.id }),
  override: (to, who, at) => to.override(who, at.requestId, { decision: 'approved', comment: 'So.' }),
  nudge: (to, who, at) => to.nudge(who, at.requestId),
  'delegations.read': (to, who) => to.delegations.read(who),
  'delegations.begin': (to, who) => to.delegations.begin(who, { to: randomUUID(), until: '2020-01-01' }),
  'delegations.end': (to, who) => to.delegations.end(who),
  'delegations.find': (to, who) => to.delegations.find(who, 'Dana Fox'),
  'digest.read': (to, who) => to.digest.read(who),
  'digest.standing': (to, who) => to.digest.standing(who),
  'digest.choose': (to, who) => to.digest.choose(who, false),
  'batches.check': (to, who, at) => to.batches.check(who, batchFrom(at.templateId)),
  'batches.begin': (to, who, at) => to.batches.begin(who, at.batchId, batchFrom(at.templateId)),
  'batches.read': (to, who, at) => to.batches.read(who, at.batchId),
  'batches.rows': (to, who, at) => to.batches.rows(who, at.batchId, page),
  'batches.cancel': (to, who, at) => to.batches.cancel(who, at.batchId),
  'admin.queue': (to, who) => to.admin.queue(who),
  'admin.deadLetters': (to, who) => to.admin.deadLetters(who, { limit: 25 }),
  'admin.deadLetter': (to, who) => to.admin.deadLetter(who, randomUUID()),
  'admin.dismiss': (to, who) => to.admin.dismiss(who, randomUUID()),
  'admin.replay': (to, who) => to.admin.replay(who, randomUUID()),
  'admin.export': (to, who) => to.admin.export(who, { from: '2026-11-01', to: '2026-11-02' }),
  'admin.findPerson': (to, who) => to.admin.findPerson(who, dana.id),
  'admin.exportPerson': (to, who) => to.admin.exportPerson(who, dana.id),
  'admin.erasure': (to, who) => to.admin.erasure(who, dana.id),
  'admin.erase': (to, who) => to.admin.erase(who, dana.id, { address: '', erasureId: randomUUID() }),
  'admin.delegations': (to, who) => to.admin.delegations(who, { from: 0, most: 6 }),
  'admin.endDelegations': (to, who) => to.admin.endDelegations(who, dana.id),
  'admin.stuck': (to, who) => to.admin.stuck(who),
  'admin.health': (to, who) => to.admin.health(who),
  'admin.ownHealth': (to, who) => to.admin.ownHealth(who),
  'admin.stats': (to, who) => {
    return to.admin.stats(who, periodOf('week', new Date(), { timeZone: 'UTC', locale: 'en' }))
  },
  'admin.readCertificate': (to, who) => to.admin.readCertificate(who),
  'admin.audit': (to, who) => to.admin.audit(who, randomUUID()),
  'admin.organisationAudit': (to, who) => to.admin.organisationAudit(who),
  'deliveries.list': (to, who) => to.deliveries.list(who, page),
  'deliveries.read': (to, who) => to.deliveries.read(who, randomUUID()),
  'deliveries.replay': (to, who) => to.deliveries.replay(who, randomUUID()),
  'deliveries.countFailed': (to, who, at) => to.deliveries.countFailed(who, { templateId: at.templateId }),
  'deliveries.replayFailed': (to, who, at) => to.deliveries.replayFailed(who, { templateId: at.templateId }),
  'deliveries.receivers': (to, who) => to.deliveries.receivers(who, { from: 0, most: 4 }),
  'deliveries.receiver': (to, who, at) => to.deliveries.receiver(who, { templateId: at.templateId }),
  'deliveries.test': (to, who, at) => to.deliveries.test(who, { templateId: at.templateId }),
  'deliveries.switchOn': (to, who, at) => to.deliveries.switchOn(who, { templateId: at.templateId }),
  'templates.list': (to, who) => to.templates.list(who),
  'templates.usable': (to, who) => to.templates.usable(who),
  'templates.read': (to, who, at) => to.templates.read(who, at.templateId),
  'templates.put': (to, who, at) => to.templates.put(who, at.templateId, {}, 1),
  'templates.inUse': (to, who) => to.templates.inUse(who, { from: 0, most: 6 }),
  'templates.useOf': (to, who) => to.templates.useOf(who, []),
  'templates.report': (to, who, at) => to.templates.report(who, at.templateId),
  'templates.switch': (to, who, at) => to.templates.switch(who, at.templateId, 1, false),
  'drafts.open': (to, who, at) => to.drafts.open(who, at.templateId),
  'drafts.read': (to, who, at) => to.drafts.read(who, at.requestId),
  'drafts.review': (to, who, at) => to.drafts.review(who, at.requestId, 1, {}),
  'drafts.edit': (to, who, at) => to.drafts.edit(who, at.requestId, 2),
  'drafts.submit': (to, who, at) => to.drafts.submit(who, at.requestId, 2),
  'drafts.discard': (to, who, at) => to.drafts.discard(who, at.requestId),
  'drafts.again': (to, who, at) => to.drafts.again(who, at.requestId),
  'drafts.another': (to, who, at) => to.drafts.another(who, at.requestId),
  'drafts.listBegun': (to, who) => to.drafts.listBegun(who),
  'drafts.checkNames': (to, who, at) => to.drafts.checkNames(who, at.requestId, 1, {}),
  'drafts.keep': (to, who, at) => to.drafts.keep(who, at.requestId, 1, {}),
  'drafts.continue': (to, who, at) => to.drafts.continue(who, at.requestId),
}
const onlyAnswersLists = [
  'list',
  'listOwn',
  'listApprovals',
  'pageOfOwn',
  'pageOfApprovals',
  'drafts.listBegun',
  'templates.list',
  'templates.usable',
  'withdrawClicked',
  'batches.check',
  'delegations.read',
  'delegations.end',
  'delegations.find',
  'digest.read',
  'digest.standing',
  'digest.choose',
]

describe('every way into the core', () => {
  const core = withCore()
  const at = { ...nowhere }
  /** Kim has a request, made of a draft, from a template that is for Kim and Dana only. Dana decides it. */
  beforeAll(async () => {
    const audience = { people: [kim.id, dana.id], groups: [] }
    const approval = { stages: [{ approvers: [{ user: dana.id }] }] }
    at.templateId = (await core.template({ audience, approval })).id
    at.mailboxTemplateId = (await core.template({ audience, kind: 'sharedMailbox' })).id
    at.batchId = randomUUID()
    await core.provisioning.batches.begin(actors.requester, at.batchId, batchFrom(at.templateId))
    const { drafts } = core.provisioning
    const opened = await drafts.open(actors.requester, at.templateId)
    if (opened.step !== 'details') throw new Error('no form')
    at.requestId = opened.draft.requestId
    await drafts.review(actors.requester, at.requestId, 1, { displayName: 'Hidden', reason: 'Why not.' })
    await drafts.submit(actors.requester, at.requestId, 2)
  })

  const nobodies: [string, Actor][] = [
    ['somebody who is nothing to it', actorOf(stranger)],
    [
      'its requester’s namesake of another tenant, an admin there',
      { ...actors.admin, id: kim.id, tenantId: randomUUID() },
    ],
  ]
  it.each(nobodies.flatMap(([what, who]) => Object.keys(doors).map((door) => [door, what, who] as const)))(
    '%s shows and does nothing to %s',
    async (door, _, who) => {
      const call = () => doors[door as keyof Doors](core.provisioning, who, at)
      const before = await core.rows()
      if (onlyAnswersLists.includes(door) && who.tenantId === tenantId)
        expect(JSON.stringify((await call()) ?? null)).not.toMatch(/Hidden|Working group/)
      else {
        const { code, message } = await refusal(call)
        expect(['not-found', 'forbidden', 'validation-failed']).toContain(code)
        expect(message).not.toMatch(/Hidden|Working group|REQ-/)
      }
      expect(await core.rows()).toEqual(before)
      expect((await core.provisioning.read(actors.requester, at.requestId)).version).toBe(1)
    },
  )

  it.each(Object.keys(doors))(
    '%s is shut for whoever is of another tenant, known here or an admin there',
    async (door) => {
      const foreign = { ...actors.requester, tenantId: randomUUID(), isAdmin: true }
      const before = await core.rows()
      const { code, message } = await refusal(() => doors[door as keyof Doors](core.provisioning, foreign, at))
      expect([code, message]).toEqual(['forbidden', 'You belong to another organisation.'])
      expect(await core.rows()).toEqual(before)
    },
  )

  it('tells an approver that a request cannot be cancelled or retried by them, and the requester that they cannot decide', async () => {
    const { provisioning } = core
    const code = async (work: () => Promise<unknown>) => (await refusal(work)).code
    expect(await code(() => provisioning.cancel(actors.approver, at.requestId))).toBe('forbidden')
    expect(await code(() => provisioning.retry(actors.requester, at.requestId))).toBe('forbidden')
    expect(await code(() => provisioning.approve(actors.requester, at.requestId))).toBe('self-approval')
    expect(await code(() => provisioning.reject(actors.requester, at.requestId, 'No.'))).toBe('self-approval')
    expect(await code(() => provisioning.approve(actors.admin, at.requestId))).toBe('not-an-approver')
    expect(await code(() => provisioning.templates.put(actors.requester, at.templateId, {}, 1))).toBe('forbidden')
  })

  it('takes people of our tenant only, and an admin is who is one now', async () => {
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

describe('the edges', () => {
  const open = [
    'GET /exports/v1/:token',
    'GET /healthz',
    'GET /metrics',
    'GET /readyz',
    'POST /api/messages',
    'POST /exports/v1/:token',
    'POST /webhooks/provisioning',
  ]

  it('every route names a permission of the table; public are only those that prove their callers otherwise', () => {
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

  it('card actions and commands reach requests and templates through the core alone, as who is clicking', () => {
    const handlers = readSources('src').filter(({ path }) => /^bot\/(?!channel\/)\w+\//.test(path))
    expect(handlers.length).toBeGreaterThan(5)
    for (const { path, text } of handlers) {
      expect(text, path).not.toMatch(/store\/|\b(ports|stores)\b/)
      expect(text, `${path} acts for the system`).not.toMatch(/\.system\b/)
      const calls = [...text.matchAll(/provisioning\.((?:\w+\.)?\w+)\((?!\s*\.\.\.)\s*([\w.]*)/g)]
      for (const [, call = '', first = ''] of calls) {
        if (!Object.hasOwn(doors, call)) continue
        expect(first, `${path}: ${call}`).toMatch(/(^|\.)actor$/)
      }
    }
  })
})
