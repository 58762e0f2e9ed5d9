import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Account, type Condition, judge, templateWithin } from '../../src/core/index.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, stranger, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

const blocked: Account = { ...stranger, id: randomUUID(), displayName: 'Ivo Marković', isBlocked: true }
const guest: Account = { ...stranger, id: randomUUID(), displayName: 'Anna Kowalska', isGuest: true }
const noApprover = { pointer: '/templateId', code: 'no-approver', reason: { key: 'nobodyCanApprove' } }
const names = (people: readonly { displayName: string }[] = []) => people.map(({ displayName }) => displayName)

describe('the approvers of a stage', () => {
  const core = withCore()
  const { groups, owners, people, managers } = core.world
  const site = async (stage: object, requester = kim) => {
    const stages = Array.isArray(stage) ? stage : [stage]
    const { id } = await core.template({ approval: { stages } })
    const body = { displayName: `Site ${randomUUID()}`, templateId: id }
    return core.provisioning.submitSite(actorOf(requester), { body })
  }
  const groupOf = (...members: Account[]): string => {
    const id = randomUUID()
    groups.set(id, members)
    return id
  }
  const groupOwnedBy = (...some: Account[]): string => {
    const id = randomUUID()
    owners.set(id, some)
    return id
  }

  it('are a group’s owners only as long as they own the group', async () => {
    const group = groupOwnedBy(dana, omar, kim)
    const { requestId, approvals } = await site({ approvers: [{ ownersOf: group }] })
    expect(names(approvals[0]?.approvers)).toEqual(['Dana Fox', 'Omar Haddad'])
    owners.set(group, [omar])
    const late = await refusal(() => core.provisioning.approve(actorOf(dana), { requestId }))
    expect(late.code).toBe('not-an-approver')
    expect((await core.provisioning.approve(actorOf(omar), { requestId })).status).toBe('queued')
  })

  it('appear once, even if several lines name them, and remain while one of these lines does', async () => {
    const [one, two] = [groupOf(dana), groupOwnedBy(dana, omar)]
    const stage = { approvers: [{ group: one }, { ownersOf: two }, { manager: true }], rule: 'all' }
    const { requestId, approvals } = await site(stage)
    expect(names(approvals[0]?.approvers)).toEqual(['Dana Fox', 'Omar Haddad'])
    groups.set(one, [])
    await core.provisioning.approve(actorOf(dana), { requestId })
    expect((await core.provisioning.approve(actorOf(omar), { requestId })).status).toBe('queued')
  })

  it('are never blocked accounts or guests, neither by name nor in a group', async () => {
    const group = groupOf(blocked, guest, dana)
    people.set(blocked.id, blocked)
    people.set(guest.id, guest)
    const ofGroup = await site({ approvers: [{ group }, { user: blocked.id }, { user: guest.id }], rule: 'all' })
    expect(ofGroup.approvals[0]).toMatchObject({ rule: 'all', approvers: [dana] })
    expect(JSON.stringify(ofGroup)).not.toContain('isGuest')
  })

  it('decide once in each of their stages', async () => {
    const { requestId } = await site([{ approvers: [{ user: dana.id }] }, { approvers: [{ group: approversGroup }] }])
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('pendingApproval')
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
  })

  it.each([
    ['as a person', () => ({ user: kim.id })],
    ['in a group', () => ({ group: groupOf(kim) })],
    ['as an owner', () => ({ ownersOf: groupOwnedBy(kim) })],
    ['as their own manager', () => ({ manager: true as const })],
  ])(
    'are the admins if the policy names only the requester (%s), and the audit has the reason',
    async (_, approver) => {
      managers.set(kim.id, kim)
      const { requestId, approvals } = await site({ approvers: [approver()], rule: 'all' })
      managers.set(kim.id, dana)
      expect(approvals[0]).toMatchObject({
        ...{ approvers: [priya], rule: 'any', resolvedTo: 'admins', resolvedFor: 'onlyRequester' },
      })
      expect((await refusal(() => core.provisioning.approve(actorOf(kim), { requestId }))).code).toBe('self-approval')
      const [entry] = await core.ports.audit.timeline(requestId)
      expect(entry?.data).toEqual({ approvals: [{ stage: 1, resolvedTo: 'admins', resolvedFor: 'onlyRequester' }] })
    },
  )

  it('include the requester only in a stage whose policy allows it', async () => {
    const [own, other] = [
      { approvers: [{ user: kim.id }], selfApproval: true },
      { approvers: [{ group: groupOf(kim, dana) }] },
    ]
    const { requestId, approvals } = await site([own, other])
    expect(approvals.map(({ approvers }) => names(approvers))).toEqual([['Kim Lee'], ['Dana Fox']])
    expect((await core.provisioning.approve(actorOf(kim), { requestId })).status).toBe('pendingApproval')
    expect((await refusal(() => core.provisioning.approve(actorOf(kim), { requestId }))).code).toBe('self-approval')
    expect((await core.provisioning.approve(actorOf(dana), { requestId })).status).toBe('queued')
  })

  it.each([
    ['noManager', () => ({ manager: true as const })],
    ['nobodyFound', () => ({ group: groupOf() })],
    ['nobodyFound', () => ({ ownersOf: randomUUID() })],
    ['blocked', () => ({ group: groupOf(blocked) })],
    ['onlyGuests', () => ({ group: groupOf(guest) })],
  ])('are the admins without another approver: %s', async (resolvedFor, approver) => {
    managers.delete(kim.id)
    const { approvals } = await site({ approvers: [approver()] })
    managers.set(kim.id, dana)
    expect(approvals[0]).toMatchObject({ approvers: [priya], resolvedTo: 'admins', resolvedFor })
  })

  it('include the admins if a quorum needs more people, and must all approve if these are still too few', async () => {
    const stage = { approvers: [{ group: groupOf(dana, omar, kim) }], rule: 'quorum', quorum: 3 }
    const { requestId, approvals } = await site(stage)
    expect(approvals[0]).toMatchObject({
      ...{ approvers: [dana, omar, priya], quorum: 3, resolvedTo: 'peopleAndAdmins', resolvedFor: 'tooFew' },
    })
    for (const one of [dana, priya]) await core.provisioning.approve(actorOf(one), { requestId })
    expect((await core.provisioning.approve(actorOf(omar), { requestId })).status).toBe('queued')
    const more = await site({ ...stage, quorum: 9 })
    for (const one of [dana, priya]) await core.provisioning.approve(actorOf(one), { requestId: more.requestId })
    expect((await core.provisioning.approve(actorOf(omar), { requestId: more.requestId })).status).toBe('queued')
  })

  it('decide as admins only as long as they are admins', async () => {
    const { requestId } = await site({ approvers: [{ user: kim.id }] })
    const today = core.with({}, { admins: [omar.id] })
    expect((await refusal(() => today.approve(actorOf(priya), { requestId }))).code).toBe('not-an-approver')
    expect((await core.provisioning.approve(actorOf(priya), { requestId })).status).toBe('queued')
  })

  it('are missing if the requester is the only admin: the request is rejected and not stored', async () => {
    const before = await core.rows()
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: kim.id }] }] } })
    const alone = core.with({}, { admins: [kim.id] })
    const body = { displayName: 'Alone', templateId }
    const { code, faults } = await refusal(() => alone.submitSite(actorOf(kim), { body }))
    expect(code).toBe('validation-failed')
    expect(faults).toMatchObject([noApprover])
    expect((await core.rows())['requests']).toBe(before['requests'])
  })

  it.each(['teamSite', 'sharedMailbox'] as const)('are missing in the preview of a %s too', async (kind) => {
    const { id: templateId } = await core.template({ kind, approval: { stages: [{ approvers: [{ user: kim.id }] }] } })
    const alone = core.with({}, { admins: [kim.id] })
    const body = { templateId, displayName: 'Alone', ...(kind === 'sharedMailbox' && { name: 'alone' }) }
    const { valid, errors, approvals } = await alone.previewRequest(actorOf(kim), { body })
    expect([valid, approvals]).toEqual([false, []])
    expect(errors).toMatchObject([noApprover])
    const wrong = await alone.previewRequest(actorOf(kim), { body: { ...body, displayName: '' } })
    expect(wrong.errors).toMatchObject([{ pointer: '/displayName' }, noApprover])
  })

  it('are missing for an admin who simulates the template, also if the quota of the person is reached', async () => {
    const more = { quota: { openPerPerson: 1 }, approval: { stages: [{ approvers: [{ user: kim.id }] }] } }
    const { id: templateId } = await core.template(more)
    const alone = core.with({}, { admins: [kim.id] })
    await core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId } })
    const simulated = { templateId, personId: kim.id, example: 'Alone' }
    expect((await alone.simulate(actorOf(kim, true), simulated)).nobodyApproves).toBe(true)
    expect((await core.provisioning.simulate(actorOf(kim, true), simulated)).nobodyApproves).toBe(false)
  })

  it('are unknown while the directory hides whether they are enabled, so that the request can be sent again', async () => {
    const hidden = { ...stranger, id: randomUUID(), unread: ['accountEnabled'] as const }
    people.set(hidden.id, hidden)
    const { id: templateId } = await core.template({ approval: { stages: [{ approvers: [{ user: hidden.id }] }] } })
    const alone = core.with({}, { admins: [kim.id] })
    const body = { displayName: 'Alone', templateId }
    const { code, reason } = await refusal(() => alone.submitSite(actorOf(kim), { body }))
    expect([code, reason.key]).toEqual(['unavailable', 'accountStateHidden'])
  })
})

describe('the conditions of a stage', () => {
  const core = withCore()
  const labels = {
    allowed: [
      { id: 'l1', name: 'Public' },
      { id: 'l2', name: 'Secret' },
    ],
  }
  const submitted = async (stages: object[], more: object = {}) => {
    const { id: templateId } = await core.template({ labels, approval: { stages } })
    const body = { displayName: `Site ${randomUUID()}`, templateId, ...more }
    return core.provisioning.submitSite(actorOf(kim), { body })
  }
  const secret = { approvers: [{ user: dana.id }], when: [{ field: 'labelId', oneOf: ['l2'] }] }
  const outside = { approvers: [{ user: omar.id }], when: [{ externalOwners: true }, { field: 'owners', above: 1 }] }
  const always = { approvers: [{ user: priya.id }] }

  it('skip a stage, number the others, and are stored with the values found', async () => {
    const { requestId, approvals, policy, status } = await submitted([secret, always], { labelId: 'l1' })
    expect([status, approvals.map(({ stage, approvers }) => [stage, names(approvers)])]).toEqual([
      'pendingApproval',
      [[1, ['Priya Nair']]],
    ])
    const left = { condition: { field: 'labelId', oneOf: ['l2'] }, found: 'l1', holds: false }
    const kept = [
      { place: 1, stage: null, conditions: [left] },
      { place: 2, stage: 1, conditions: [] },
    ]
    expect(policy).toEqual(kept)
    expect(await core.ports.requests.find(requestId)).toMatchObject({ policy: kept })
    const [entry] = await core.ports.audit.timeline(requestId)
    expect(entry?.data).toEqual({ policy: kept })
  })

  it('start a request at once if all are false, and the audit has the reason', async () => {
    const { requestId, status, approvals } = await submitted([secret], { labelId: 'l1' })
    expect([status, approvals]).toEqual(['queued', []])
    const [entry] = await core.ports.audit.timeline(requestId)
    expect(entry).toMatchObject({ action: 'queued', data: { policy: [{ stage: null }] } })
  })

  it('can test for external owners, and must all be true', async () => {
    core.world.external.add(stranger.id)
    const withStranger = await submitted([outside, always], { owners: [stranger.id] })
    expect(withStranger.approvals).toHaveLength(2)
    expect(withStranger.policy?.[0]?.conditions).toEqual([
      { condition: { externalOwners: true }, found: 'Sasha Moreau', holds: true },
      { condition: { field: 'owners', above: 1 }, found: '2', holds: true },
    ])
    expect((await submitted([outside, always], { owners: [dana.id] })).approvals).toHaveLength(1)
  })

  it.each<[Condition, unknown, boolean]>([
    [{ field: 'capacity', above: 20 }, 21, true],
    [{ field: 'capacity', above: 20 }, 20, false],
    [{ field: 'capacity', above: 20 }, undefined, false],
    [{ field: 'capacity', below: 20 }, 19, true],
    [{ field: 'capacity', below: 20 }, undefined, false],
    [{ field: 'tags', above: 1 }, ['a', 'b'], true],
    [{ field: 'permissions', above: 1 }, { a: 'SendAs', b: 'None' }, false],
    [{ field: 'metadata.seats', above: 20 }, { seats: '21' }, true],
    [{ field: 'metadata.seats', above: 20 }, { seats: ' 7 ' }, false],
    [{ field: 'metadata.seats', above: 20 }, { seats: 'many' }, true],
    [{ field: 'metadata.seats', above: 20 }, { seats: '1e1' }, true],
    [{ field: 'metadata.a.b', oneOf: [4711] }, { 'a.b': '4711' }, true],
    [{ field: 'country', oneOf: ['CH'] }, ' ch', true],
    [{ field: 'country', noneOf: ['CH'] }, undefined, true],
    [{ field: 'country', noneOf: ['CH'] }, 'ch', false],
    [{ field: 'country', oneOf: ['CH'] }, undefined, false],
    [{ field: 'country', oneOf: ['Switzerland'] }, 'CH', true],
    [{ field: 'country', oneOf: ['Germany'] }, 'Deutschland', true],
    [{ field: 'country', noneOf: ['Suisse'] }, 'Schweiz', false],
    [{ field: 'country', oneOf: ['Nowhere'] }, 'nowhere', true],
    [{ field: 'hideFromGAL', oneOf: [true] }, true, true],
    [{ field: 'alias', given: true }, ' ', false],
    [{ field: 'alias', given: true }, 'help', true],
    [{ field: 'hideFromGAL', given: false }, false, false],
    [{ field: 'constructor', given: true }, undefined, false],
  ])('%j with the value %j: %s', (condition, value, holds) => {
    const field = 'field' in condition ? (condition.field.split('.')[0] ?? '') : ''
    const details = value === undefined ? {} : { [field]: value }
    expect(judge(condition, { details, externalOwners: [] }).holds).toBe(holds)
  })
})

describe('an approval policy', () => {
  const choices = [{ title: 'Us', value: 'us' }]
  const fields = [
    { key: 'who', type: 'choice', label: 'Who', choices },
    ...['text', 'number', 'toggle', 'date', 'person'].map((type) => ({ key: type, type, label: type })),
  ]
  const labels = { allowed: [{ id: 'l1', name: 'Public' }] }
  const person = { user: dana.id }
  const faultsOf = (stage: object, kind = 'teamSite') =>
    templateWithin([])
      .safeParse({ id: randomUUID(), version: 1, kind, name: 'T', fields, labels, approval: { stages: [stage] } })
      .error?.issues.map(({ path }) => path.slice(3).join('/'))

  it.each<[string, object, string?]>([
    ['approvers', { approvers: [] }],
    ['quorum', { approvers: [person], rule: 'quorum', quorum: 0 }],
    ['quorum', { approvers: [person], rule: 'quorum' }],
    ['quorum', { approvers: [person, person], rule: 'quorum', quorum: 2 }],
    ['quorum', { approvers: [person], rule: 'any', quorum: 1 }],
    ['when', { approvers: [person], when: [] }],
    ['when/0/field', { approvers: [person], when: [{ field: 'capacity', above: 20 }] }],
    ['when/0/field', { approvers: [person], when: [{ field: 'metadata.no', given: true }] }],
    ['when/0/field', { approvers: [person], when: [{ field: 'constructor', given: true }] }],
    ['when/0/field', { approvers: [person], when: [{ field: 'officeLocation', given: true }] }, 'sharedMailbox'],
    ['when/0/above', { approvers: [person], when: [{ field: 'alias', above: 2 }] }],
    ['when/0/above', { approvers: [person], when: [{ field: 'metadata.who', above: 2 }] }],
    ['when/0/below', { approvers: [person], when: [{ field: 'metadata.toggle', below: 2 }] }],
    ['when/0/above', { approvers: [person], when: [{ field: 'metadata.date', above: 2 }] }],
    ['when/0/below', { approvers: [person], when: [{ field: 'metadata.person', below: 2 }] }],
    ['when/0/oneOf/1', { approvers: [person], when: [{ field: 'labelId', oneOf: ['l1', 'l9'] }] }],
    ['when/0/noneOf/0', { approvers: [person], when: [{ field: 'metadata.who', noneOf: ['them'] }] }],
    ['when/0', { approvers: [person], when: [{ field: 'labelId' }] }],
    ['when/0', { approvers: [person], when: [{ externalOwners: false }] }],
  ])('is invalid at %s: %j', (at, stage, kind) => {
    expect(faultsOf(stage, kind)).toEqual([at])
  })

  it.each<[object, string?]>([
    [{ approvers: [{ ownersOf: approversGroup }], rule: 'quorum', quorum: 3, selfApproval: true }],
    [{ approvers: [person], when: [{ field: 'labelId', oneOf: ['l1'] }, { externalOwners: true }] }],
    [
      {
        approvers: [person],
        when: [
          { field: 'metadata.who', oneOf: ['us'] },
          { field: 'owners', above: 3 },
        ],
      },
    ],
    [{ approvers: [person], when: [{ field: 'capacity', above: 20 }] }, 'sharedMailbox'],
    [{ approvers: [person], when: [{ field: 'metadata.number', above: 20 }] }],
    [{ approvers: [person], when: [{ field: 'metadata.text', below: 20 }] }],
    [{ approvers: [person], when: [{ field: 'metadata.seats', above: 20 }] }, 'roomMailbox'],
    [{ approvers: [person], when: [{ field: 'roomMailboxMetadata.hasWhiteboard', oneOf: [true] }] }, 'roomMailbox'],
  ])('is valid: %j', (stage, kind) => {
    expect(faultsOf(stage, kind)).toBeUndefined()
  })
})
