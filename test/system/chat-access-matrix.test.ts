import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { commands } from '../../src/bot/index.ts'
import { cardActions } from '../../src/bot/registry.ts'
import type { Verb } from '../../src/cards/shared/verbs.ts'
import {
  type ErrorCode,
  type Permission,
  type Request,
  type RequestState,
  referenceOf,
  requestStates,
} from '../../src/core/index.ts'
import { type Chatter, chatting } from '../support/access-chat.ts'
import { type Act, everybody, isMember, mayBy, outcomeOf } from '../support/access-roles.ts'
import { idOf, secret, withAccessWorld } from '../support/access-world.ts'
import { tenantId } from '../support/rest.ts'

const { catalogue, delegation, delegations, digestChoice, health, notice, starter } = strings
const chatters = everybody.filter((who): who is Chatter => who !== 'application')
/** The texts of the refusals. */
const refusals = {
  forbidden: notice.notAllowed.what,
  'self-approval': notice.selfApproval.what,
  'not-an-approver': notice.notApprover.what,
} satisfies Partial<Record<ErrorCode, string>>
const refusal = (code: ErrorCode): string => {
  if (code === 'forbidden' || code === 'self-approval' || code === 'not-an-approver') return refusals[code]
  throw new Error(`nobody is refused with ${code} by who they are`)
}
const names = new RegExp(`${secret}|Kim|Dana|Omar|Priya`)

const subjects = [
  ...([
    'draft',
    'template',
    'letter',
    'delivery',
    'self',
    'list',
    'drafts',
    'catalogue',
    'starter',
    'queue',
    'delegations',
    'service',
    'organisation',
    'person',
    'days',
    'digest',
    'choice',
    'several',
    'batch',
  ] as const),
] as const
/**
 * The permission that a verb needs, as a second copy, and its object: a request, draft, template, job, or the person.
 */
type Row =
  | { readonly needs: Permission; readonly act: Act; readonly opens?: RequestState }
  | {
      readonly needs: Permission
      readonly about: (typeof subjects)[number]
    }
/** One row for each verb. A new verb without a row does not compile. */
const verbTable: Readonly<Record<Verb, Row>> = {
  'request.choose': { needs: 'request.create', about: 'template' },
  'request.continue': { needs: 'request.create', about: 'draft' },
  'request.review': { needs: 'request.create', about: 'draft' },
  'request.check': { needs: 'request.create', about: 'draft' },
  'request.keep': { needs: 'request.create', about: 'draft' },
  'request.join': { needs: 'request.create', about: 'draft' },
  'request.submit': { needs: 'request.create', about: 'draft' },
  'request.edit': { needs: 'request.create', about: 'draft' },
  // The requester receives a form, but its template no longer exists in this world.
  'request.again': { needs: 'request.read', act: 'read', opens: 'succeeded' },
  'request.cancel': { needs: 'request.cancel', act: 'cancel' },
  'request.refresh': { needs: 'request.read', act: 'read' },
  'request.nudge': { needs: 'request.nudge', act: 'nudge' },
  'request.address': { needs: 'request.address', act: 'read' },
  'request.timeline': { needs: 'request.read', act: 'read' },
  'drafts.page': { needs: 'request.create', about: 'drafts' },
  'requests.page': { needs: 'request.list', about: 'list' },
  'approvals.page': { needs: 'approval.list', about: 'list' },
  'approval.approve': { needs: 'request.decide', act: 'approve' },
  'approval.reject': { needs: 'request.decide', act: 'reject' },
  'approval.refresh': { needs: 'request.read', act: 'read' },
  'several.show': { needs: 'approval.list', about: 'several' },
  'several.approve': { needs: 'request.decide', about: 'several' },
  'several.reject': { needs: 'request.decide', about: 'several' },
  'batch.page': { needs: 'batch.read', about: 'batch' },
  'delegation.open': { needs: 'approval.delegate', about: 'self' },
  'delegation.save': { needs: 'approval.delegate', about: 'self' },
  'delegation.end': { needs: 'approval.delegate', about: 'self' },
  'admin.queue': { needs: 'queue.read', about: 'queue' },
  'admin.stuck': { needs: 'queue.read', about: 'queue' },
  'digest.refresh': { needs: 'digest.read', about: 'digest' },
  'digest.on': { needs: 'digest.choose', about: 'choice' },
  'digest.off': { needs: 'digest.choose', about: 'choice' },
  'admin.retry': { needs: 'request.retry', act: 'retry' },
  'admin.cancel': { needs: 'queue.read', act: 'cancel' },
  'admin.approve': { needs: 'request.override', act: 'over-approve' },
  'admin.reject': { needs: 'request.override', act: 'over-reject' },
  'admin.reassign': { needs: 'queue.read', act: 'reassign' },
  'admin.examine': { needs: 'deadLetter.read', about: 'letter' },
  'admin.replay': { needs: 'deadLetter.replay', about: 'letter' },
  'admin.dismiss': { needs: 'deadLetter.dismiss', about: 'letter' },
  'admin.certificate': { needs: 'certificate.read', about: 'service' },
  'admin.templates': { needs: 'template.write', about: 'catalogue' },
  'admin.template': { needs: 'template.write', about: 'catalogue' },
  'admin.enable': { needs: 'template.write', about: 'catalogue' },
  'admin.disable': { needs: 'template.write', about: 'catalogue' },
  'admin.starters': { needs: 'template.write', about: 'starter' },
  'admin.starter': { needs: 'template.write', about: 'starter' },
  'admin.starter-preview': { needs: 'template.write', about: 'starter' },
  'admin.starter-create': { needs: 'template.write', about: 'starter' },
  'admin.webhooks': { needs: 'delivery.read', about: 'catalogue' },
  'admin.webhook': { needs: 'delivery.read', about: 'catalogue' },
  'admin.webhook-test': { needs: 'webhook.test', about: 'catalogue' },
  'admin.webhook-on': { needs: 'webhook.enable', about: 'catalogue' },
  'admin.deliveries': { needs: 'delivery.read', about: 'catalogue' },
  'admin.delivery': { needs: 'delivery.read', about: 'delivery' },
  'admin.redeliver': { needs: 'delivery.replay', about: 'delivery' },
  'admin.resend': { needs: 'delivery.replay', about: 'catalogue' },
  'admin.send-waiting': { needs: 'delivery.replay', about: 'catalogue' },
  'admin.audit': { needs: 'audit.read', about: 'organisation' },
  'admin.export': { needs: 'export.create', about: 'days' },
  'admin.erase': { needs: 'person.erase', about: 'person' },
  'admin.delegations': { needs: 'delegation.list', about: 'delegations' },
  'admin.undelegate': { needs: 'person.erase', about: 'person' },
}
const verbs = Object.entries(verbTable).flatMap(([verb, row]) => chatters.map((who) => ({ verb, row, who })))

/** The permission that a command needs, and its effect on the request with the number after it. */
interface CommandRow {
  readonly needs: Permission
  readonly act?: Act
}
const anyone: CommandRow = { needs: 'request.create' }
const commandTable: Readonly<Record<string, CommandRow>> = {
  ...{ new: anyone, 'new site': anyone, 'new room': anyone, 'new shared mailbox': anyone, 'new equipment': anyone },
  ...{ 'new mailbox': anyone, help: anyone },
  'my requests': { needs: 'request.list' },
  'my drafts': anyone,
  approvals: { needs: 'approval.list' },
  delegate: { needs: 'approval.delegate' },
  back: { needs: 'approval.delegate' },
  digest: { needs: 'digest.read' },
  status: { needs: 'request.read', act: 'read' },
  cancel: { needs: 'request.cancel', act: 'cancel' },
  nudge: { needs: 'request.nudge', act: 'nudge' },
  why: { needs: 'request.read', act: 'read' },
  approve: { needs: 'request.decide', act: 'approve' },
  reject: { needs: 'request.decide', act: 'reject' },
  'admin help': { needs: 'queue.read' },
  'admin queue': { needs: 'queue.read' },
  'admin stuck': { needs: 'queue.read' },
  'admin delegations': { needs: 'delegation.list' },
  'admin health': { needs: 'health.read' },
  'admin stats': { needs: 'stats.read' },
  'admin simulate': { needs: 'request.simulate' },
  'admin jobs': { needs: 'deadLetter.read' },
  'admin export': { needs: 'export.create' },
  'admin export person': { needs: 'export.create' },
  'admin erase': { needs: 'person.erase' },
  'admin templates': { needs: 'template.write' },
  'admin templates show': { needs: 'template.write' },
  'admin templates add': { needs: 'template.write' },
  'admin templates enable': { needs: 'template.write' },
  'admin templates disable': { needs: 'template.write' },
  'admin webhooks': { needs: 'delivery.read' },
  'admin webhooks failures': { needs: 'delivery.read' },
  // These commands show a confirmation card first. Its click runs them.
  'admin retry': { needs: 'queue.read', act: 'read' },
  'admin cancel': { needs: 'queue.read', act: 'read' },
  'admin approve': { needs: 'request.override', act: 'read' },
  'admin reject': { needs: 'request.override', act: 'read' },
  'admin reassign': { needs: 'queue.read', act: 'read' },
  'admin audit': { needs: 'audit.read', act: 'read' },
  'admin status': { needs: 'queue.read', act: 'read' },
}
const typed = Object.entries(commandTable).flatMap(([command, row]) => chatters.map((who) => ({ command, row, who })))

describe('every verb of a card and every command, for everybody', () => {
  const world = withAccessWorld()
  const { clicks, says, nothing } = chatting(world)
  const unchanged = async (before: object, about: string) => expect(await world.rows(), about).toEqual(before)

  // Makes the chats known, so that a later refusal writes nothing.
  beforeAll(async () => {
    for (const who of chatters) await says(who, 'help')
  })

  /** Checks that people without access read only the refusal, or receive 401 or 403. */
  function readsAsNobody(who: Chatter, { status, text }: { status: number; text: string }) {
    expect(status).toBe(who === 'foreign' ? 403 : 200)
    expect(text).toContain(who === 'foreign' ? 'This bot serves another organisation.' : notice.notAllowed.what)
    expect(text).not.toMatch(names)
  }

  it('has a row in the table', () => {
    expect(Object.keys(verbTable).sort()).toEqual([...cardActions.keys()].sort())
    expect(Object.keys(commandTable).sort()).toEqual(commands.map(({ name }) => name).sort())
    // Commands for admins are those that the table restricts. Requesters or approvers may use all others.
    const isOpen = (needs: Permission) => mayBy('requester', needs) || mayBy('approver', needs)
    for (const { name, forAdmins } of commands)
      expect(isOpen(commandTable[name]?.needs ?? 'queue.read'), name).toBe(!forAdmins)
  })

  const ofRequests = verbs.flatMap(({ verb, row, who }) => ('act' in row ? [{ verb, row, who }] : []))
  it.each(ofRequests)('$verb, $who: follows the access table in every state', async ({ verb, row, who }) => {
    for (const state of requestStates) {
      const request = await world.request(state)
      const before = await world.rows()
      const expected = outcomeOf(who, row.needs, row.act, state)
      const data = { requestId: request.requestId, version: 1, comment: 'So.', confirmed: true }
      const answer = await clicks(who, verb, data)
      const about = `${state}: ${answer.text}`
      const after = await world.find(request.requestId)
      if (expected.kind === 'done') {
        expect([after?.status, after?.version], about).toEqual([expected.status, row.act === 'read' ? 1 : 2])
        const isForm = who === 'requester' && row.opens === state
        expect(answer.text, about).toContain(isForm ? notice.templateGone.what : secret)
        continue
      }
      expect(after, about).toEqual(request)
      await unchanged(before, about)
      if (expected.kind === 'nobody') readsAsNobody(who, answer)
      if (expected.kind === 'hidden') expect(answer.text).toContain(notice.notFound.what)
      if (expected.kind === 'hidden' || (expected.kind === 'refused' && expected.unread)) {
        expect(await clicks(who, verb, { ...data, requestId: nothing() })).toEqual(answer)
        expect(answer.text).not.toMatch(names)
      }
      // A later approver sees the request's status, like everybody whose click comes too late.
      if (expected.kind === 'refused' && who !== 'later') expect(answer.text, about).toContain(refusal(expected.code))
    }
  })

  const others = verbs.flatMap(({ verb, row, who }) =>
    'about' in row &&
    (row.about === 'draft' || row.about === 'template' || row.about === 'letter' || row.about === 'delivery')
      ? [{ verb, about: row.about, needs: row.needs, who }]
      : [],
  )
  it.each(others)('$verb, $who: finds nothing of another person', async ({ verb, about, needs, who }) => {
    const draft = await world.draft()
    const failed = await world.request('failed')
    const letterId = world.letter(failed)
    const deliveryId = await world.delivery(failed)
    const { hidden } = world.doors.templates
    const data = { draft, template: { templateId: hidden.id }, letter: { letterId }, delivery: { deliveryId } }[about]
    const before = await world.rows()
    const answer = await clicks(who, verb, data)
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (about === 'letter' || about === 'delivery') {
      const isRefused = answer.text.includes(notice.notAllowed.what)
      expect(isRefused, answer.text).toBe(!mayBy(who, needs))
      if (!isRefused) return
    } else if (who === 'requester') {
      expect(answer.text).toContain(secret)
      return
    } else expect(answer.text).toContain(about === 'draft' ? notice.notFound.what : notice.templateGone.what)
    expect(answer.text).not.toMatch(names)
    await unchanged(before, answer.text)
  })

  const own = verbs.flatMap(({ verb, row, who }) => ('about' in row && row.about === 'self' ? [{ verb, who }] : []))
  it.each(own)(
    '$verb, $who: changes only the person’s own settings, whatever the click contains',
    async ({ verb, who }) => {
      const to = idOf(who === 'admin' ? 'later' : 'admin')
      const until = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)
      const before = await world.rows()
      // The click does not identify the owner of the delegation.
      const others = {
        person: { id: idOf('later') },
        personId: idOf('later'),
        actor: idOf('later'),
        tenantId: nothing(),
      }
      const answer = await clicks(who, verb, { to, until, ...others })
      if (!isMember(who)) {
        readsAsNobody(who, answer)
        return unchanged(before, answer.text)
      }
      expect(answer.text).toContain(delegation.heading[headings[verb] ?? 'away'])
      if (verb !== 'delegation.save') return unchanged(before, answer.text)
      expect((await world.rows())['delegations']).toBe((before['delegations'] ?? 0) + 1)
      const { provisioning } = world.doors
      const { own } = await provisioning.readDelegations(await provisioning.actor({ tenantId, id: idOf(who) ?? '' }))
      expect([own?.person.id, own?.delegate.id]).toEqual([idOf(who), to])
      await clicks(who, 'delegation.end', others)
    },
  )
  const ofDrafts = verbs.filter(({ row }) => 'about' in row && row.about === 'drafts')
  it.each(ofDrafts)('$verb, $who: shows only the person’s own drafts', async ({ verb, who }) => {
    await world.draft()
    const before = await world.rows()
    const answer = await clicks(who, verb, { from: 0, personId: idOf('requester'), requesterId: idOf('requester') })
    await unchanged(before, answer.text)
    if (!isMember(who)) readsAsNobody(who, answer)
    else expect(answer.text.includes(secret), answer.text).toBe(who === 'requester')
  })
  const lists = verbs.flatMap(({ verb, row, who }) => ('about' in row && row.about === 'list' ? [{ verb, who }] : []))
  it.each(lists)('$verb, $who: shows only the person’s own list, from any page', async ({ verb, who }) => {
    const request = await world.request('pendingApproval')
    const listed: readonly Chatter[] = verb === 'requests.page' ? ['requester'] : ['approver', 'removed']
    const isListed = listed.includes(who)
    // The list of approvals starts with the oldest request, so its first page may not show the newest one.
    const first = verb === 'requests.page' ? [{}] : []
    for (const edge of [...first, { before: request.number + 1 }, { after: request.number - 1 }]) {
      const before = await world.rows()
      const others = { personId: idOf('requester'), requesterId: idOf('requester'), approverId: idOf('approver') }
      const answer = await clicks(who, verb, { ...edge, ...others })
      await unchanged(before, answer.text)
      if (!isMember(who)) readsAsNobody(who, answer)
      else expect(answer.text.includes(referenceOf(request)), answer.text).toBe(isListed)
    }
  })
  const ofSeveral = verbs.filter(({ row }) => 'about' in row && row.about === 'several')
  it.each(ofSeveral)('$verb, $who: shows and decides only requests that wait for the person', async ({ verb, who }) => {
    const { requestId, number } = await world.request('pendingApproval')
    const [ticked, comment] = [`${number}.2`, 'So.']
    const others = { approverId: idOf('approver'), personId: idOf('approver') }
    const before = await world.rows()
    // A batch without a question to this person.
    const ofBatch = await clicks(who, verb, { batchId: nothing(), stage: 2, of: 'all', comment, ...others })
    await unchanged(before, ofBatch.text)
    const answer = await clicks(who, verb, { ticked, comment, ...others })
    const decided = { 'several.approve': 'pendingApproval', 'several.reject': 'rejected' }[verb]
    const after = await world.find(requestId)
    if (!isMember(who)) {
      readsAsNobody(who, answer)
      return unchanged(before, answer.text)
    }
    expect(ofBatch.text).toContain(notice.outdated.what)
    // People who may read the request read why they cannot decide it, and the audit records the attempt.
    const mayRead = ['requester', 'former', 'approver', 'later', 'removed', 'admin'].includes(who)
    if (!mayRead) expect(answer.text).not.toMatch(names)
    if (who !== 'approver' || decided === undefined) {
      expect([after?.status, after?.version]).toEqual(['pendingApproval', 1])
      if (!mayRead) await unchanged(before, answer.text)
      return
    }
    expect([after?.status, after?.version]).toEqual([decided, 2])
  })
  const ofBatches = verbs.filter(({ row }) => 'about' in row && row.about === 'batch')
  it.each(ofBatches)('$verb, $who: shows a batch to its requester and to admins', async ({ verb, who }) => {
    const batchId = await world.batch()
    const before = await world.rows()
    const answer = await clicks(who, verb, { batchId, from: 0 })
    await unchanged(before, answer.text)
    if (!isMember(who)) return readsAsNobody(who, answer)
    const isAllowed = who === 'requester' || who === 'admin'
    expect(answer.text).toContain(isAllowed ? secret : notice.notFound.what)
    if (!isAllowed) expect(answer.text).not.toMatch(names)
  })
  const digests = verbs.filter(({ row }) => 'about' in row && row.about === 'digest')
  it.each(digests)('$verb, $who: shows the person’s own open requests', async ({ verb, who }) => {
    await world.request('pendingApproval')
    await world.request('failed')
    const before = await world.rows()
    const answer = await clicks(who, verb, { personId: idOf('approver'), approverId: idOf('approver') })
    await unchanged(before, answer.text)
    if (!isMember(who)) return readsAsNobody(who, answer)
    // Approvers see requests that wait for them, admins see failed requests.
    const seers: readonly Chatter[] = ['approver', 'removed', 'admin']
    // A later approver may already be asked about another request of this world.
    if (who !== 'later') expect(answer.text.includes(secret), answer.text).toBe(seers.includes(who))
  })
  const choices = verbs.filter(({ row }) => 'about' in row && row.about === 'choice')
  it.each(choices)(
    '$verb, $who: changes only the person’s own choice, whatever the click contains',
    async ({ verb, who }) => {
      const before = await world.rows()
      const { provisioning } = world.doors
      const other = await world.doors.provisioning.actor({
        tenantId,
        id: idOf(who === 'later' ? 'approver' : 'later') ?? '',
      })
      const standing = await provisioning.readDigestSetting(other)
      const answer = await clicks(who, verb, {
        personId: idOf('later'),
        tenantId: nothing(),
        isOn: verb === 'digest.off',
      })
      if (!isMember(who)) {
        readsAsNobody(who, answer)
        return unchanged(before, answer.text)
      }
      expect(answer.text).toContain(digestChoice.heading[verb === 'digest.on' ? 'on' : 'off'])
      expect({ ...(await world.rows()), digest_choices: 0 }).toEqual({ ...before, digest_choices: 0 })
      expect(await world.wantsNoDigest(who)).toBe(verb === 'digest.off')
      expect(await provisioning.readDigestSetting(other)).toEqual(standing)
    },
  )
  const ofCatalogue = verbs.filter(({ row }) => 'about' in row && row.about === 'catalogue')
  it.each(ofCatalogue)('$verb, $who: is allowed for people who manage templates', async ({ verb, row, who }) => {
    const { hidden } = world.doors.templates
    const before = await world.rows()
    // The data of the confirmation card does not help people without the permission.
    const confirmed = isMember(who) && mayBy(who, row.needs) ? {} : { version: hidden.version }
    const answer = await clicks(who, verb, { templateId: hidden.id, from: 0, ...confirmed })
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (mayBy(who, row.needs)) return expect(answer.text).toContain(hidden.name)
    else expect(answer.text).toContain(notice.notAllowed.what)
    expect(answer.text).not.toContain(hidden.name)
    return unchanged(before, answer.text)
  })
  const ofStarters = verbs.filter(({ row }) => 'about' in row && row.about === 'starter')
  it.each(ofStarters)('$verb, $who: lets only an admin add a template', async ({ verb, row, who }) => {
    const before = await world.rows()
    const name = `${verb} ${who}`
    const answer = await clicks(who, verb, { starter: 'room', templateId: nothing(), name, approvedBy: 'nobody' })
    const isAdded = verb === 'admin.starter-create' && isMember(who) && mayBy(who, row.needs)
    expect((await world.rows())['templates']).toBe((before['templates'] ?? 0) + Number(isAdded))
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (!mayBy(who, row.needs)) expect(answer.text).toContain(notice.notAllowed.what)
    else return expect(answer.text).toContain(isAdded ? catalogue.news.added : starter.band)
    return unchanged(before, answer.text)
  })
  const ofService = verbs.filter(({ row }) => 'about' in row && row.about === 'service')
  it.each(ofService)('$verb, $who: is allowed for people who operate the service', async ({ verb, row, who }) => {
    const before = await world.rows()
    const answer = await clicks(who, verb, {})
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (mayBy(who, row.needs)) return expect(answer.text).toContain(health.part.database)
    else expect(answer.text).toContain(notice.notAllowed.what)
    expect(answer.text).not.toContain(health.part.database)
    return unchanged(before, answer.text)
  })
  const ofDelegations = verbs.filter(({ row }) => 'about' in row && row.about === 'delegations')
  it.each(ofDelegations)('$verb, $who: shows absent approvers to admins only', async ({ verb, row, who }) => {
    const before = await world.rows()
    const answer = await clicks(who, verb, { from: 0 })
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (mayBy(who, row.needs)) expect(answer.text).toContain(delegations.empty)
    else expect(answer.text).toContain(notice.notAllowed.what)
    return unchanged(before, answer.text)
  })

  const ofQueue = verbs.filter(({ row }) => 'about' in row && row.about === 'queue')
  it.each(ofQueue)('$verb, $who: is allowed for people who manage the queue', async ({ verb, row, who }) => {
    await world.request('failed')
    const before = await world.rows()
    const answer = await clicks(who, verb, { from: 0 })
    if (!isMember(who)) readsAsNobody(who, answer)
    else if (mayBy(who, row.needs)) expect(answer.text).toContain('REQ-')
    else {
      expect(answer.text).toContain(notice.notAllowed.what)
      expect(answer.text).not.toMatch(names)
    }
    return unchanged(before, answer.text)
  })
  const ofOrganisation = verbs.filter(({ row }) => 'about' in row && row.about === 'organisation')
  it.each(ofOrganisation)('$verb, $who: is allowed for people who read the audit', async ({ verb, row, who }) => {
    const { requestId } = await world.request('failed')
    const before = await world.rows()
    const answer = await clicks(who, verb, { from: 0, requestId: '' })
    const ofRequest = await clicks(who, verb, { from: 0, requestId })
    await unchanged(before, answer.text)
    if (!isMember(who)) {
      readsAsNobody(who, ofRequest)
      return readsAsNobody(who, answer)
    }
    const isShown = answer.text.includes(strings.audit.organisation) || answer.text.includes(strings.audit.nothingYet)
    expect(isShown, answer.text).toBe(mayBy(who, row.needs))
    // The world writes its requests without the service, so the audit of each request reports a change.
    expect(ofRequest.text.includes('The audit log has'), ofRequest.text).toBe(mayBy(who, row.needs))
  })
  const ofEverything = verbs.flatMap(({ verb, row, who }) =>
    'about' in row && (row.about === 'person' || row.about === 'days') ? [{ verb, row, who }] : [],
  )
  it.each(ofEverything)(
    '$verb, $who: is allowed for admins only, whatever the click contains',
    async ({ verb, row, who }) => {
      const before = await world.rows()
      // A person with open requests, so that no request is removed; and a check that no name is shown to others.
      await world.request('queued')
      const days = { from: '2026-11-01', to: '2026-11-20' }
      const data = { personId: idOf('requester'), address: 'x', erasureId: randomUUID(), ...days }
      const answer = await clicks(who, verb, data)
      if (!isMember(who)) readsAsNobody(who, answer)
      else if (mayBy(who, row.needs))
        return expect(answer.text).toContain(
          verb === 'admin.export' ? strings.export.heading.links : strings.erase.heading.blocked,
        )
      else expect(answer.text).toContain(notice.notAllowed.what)
      expect(answer.text).not.toMatch(names)
      expect((await world.rows())['delegations'], answer.text).toBe(before['delegations'])
    },
  )
  const headings: Readonly<Record<string, keyof typeof delegation.heading>> = {
    'delegation.save': 'saved',
    'delegation.end': 'nothing',
  }

  it.each(typed)('$command, $who: follows the access table', async ({ command, row, who }) => {
    const request = await world.request('queued')
    const reference = row.act === undefined ? '' : ` ${referenceOf(request)}`
    const before = await world.rows()
    const answer = await says(who, `${command}${reference}`)
    const after = await world.find(request.requestId)
    if (!isMember(who)) {
      readsAsNobody(who, answer)
      return unchanged(before, answer.text)
    }
    const isForAdmins = command.startsWith('admin')
    if (isForAdmins && !mayBy(who, row.needs)) {
      const endings = [` ${referenceOf(request)} because I say so`, ' kim@contoso.example', ' 2026-11-01 2026-11-20']
      const further = await Promise.all(endings.map((typed) => says(who, `${command}${typed}`)))
      for (const { text } of [answer, ...further]) {
        expect(text).toContain(notice.notAdmin.what)
        expect(text).not.toMatch(names)
      }
      return unchanged(before, answer.text)
    }
    // `cancel` shows a confirmation first. An admin also enters a reason for the request of another person.
    const asksFirst = command === 'cancel' && mayBy(who, row.needs)
    if (row.act === undefined || asksFirst) {
      expect(after).toEqual(request)
      if (!mayBy(who, 'request.read')) expect(answer.text).not.toContain(secret)
      return
    }
    const expected = outcomeOf(who, row.needs, row.act, 'queued')
    expect(after?.status, answer.text).toBe(expected.kind === 'done' ? expected.status : 'queued')
    if (expected.kind === 'done') return
    // A late command shows the request's status, on a card that is updated from then on.
    if (row.act === 'nudge' && expected.kind === 'late') return expect(after).toEqual(request)
    if (expected.kind === 'hidden') await hides(who, command, request, answer.text)
    if (expected.kind === 'refused') expect(answer.text).toContain(refusal(expected.code))
    await unchanged(before, answer.text)
  })

  async function hides(who: Chatter, command: string, { number }: Request, text: string) {
    expect(text).toContain(notice.notFound.what)
    expect(text).not.toMatch(names)
    const unknown = number + 100_000
    const answer = await says(who, `${command} REQ-${unknown}`)
    // The card repeats the typed number.
    expect(answer.text.replace(`REQ-${unknown}`, `REQ-${number}`)).toBe(text)
  }

  it.each(['groupChat', 'channel'])('in a %s nobody sees or may do anything', async (where) => {
    const request = await world.request('pendingApproval')
    const before = await world.rows()
    const data = { requestId: request.requestId, version: 1, comment: 'So.' }
    for (const who of ['requester', 'approver', 'admin'] as const) {
      for (const verb of Object.keys(verbTable)) {
        const { text } = await clicks(who, verb, data, where)
        expect(text).toContain(notice.notPersonal.what)
        expect(text).not.toMatch(names)
      }
      for (const command of Object.keys(commandTable))
        expect((await says(who, `${command} ${referenceOf(request)}`, where)).text).not.toMatch(names)
    }
    expect(await world.find(request.requestId)).toEqual(request)
    await unchanged(before, where)
  })
})
