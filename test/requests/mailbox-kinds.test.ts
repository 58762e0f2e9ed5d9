import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { MailboxKind } from '../../src/core/index.ts'
import { actorOf, asMailbox, dana, kim, priya, withCore } from '../support/core.ts'
import { kinds, onlyFor } from '../support/mailbox-bodies.ts'
import { detailOf, named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)

describe('a mailbox request without a template', () => {
  const core = withCore()
  const ids = new Map<MailboxKind, string>()
  let count = 0
  const body = (more: object) => {
    count += 1
    return { name: `box-${count}`, displayName: `Box ${count}`, ...more }
  }
  const submitted = async (more: object) =>
    asMailbox(await core.provisioning.submitMailbox(asKim, { body: body(more) }))
  const refused = async (more: object) => {
    const { faults } = await refusal(() => core.provisioning.submitMailbox(asKim, { body: body(more) }))
    return { faults: named(faults), details: faults.map(detailOf).join(' ') }
  }
  beforeEach(async () => {
    await core.database.query('DELETE FROM templates')
    for (const kind of kinds) {
      await core.template({ kind })
      ids.set(kind, (await core.template({ kind, default: true })).id)
    }
  })

  it.each<[MailboxKind, string, object]>([
    ['sharedMailbox', 'autoMapping', { autoMapping: false }],
    ['sharedMailbox', 'alias', { alias: 'further' }],
    ['equipmentMailbox', 'metadata.equipmentType', { metadata: { equipmentType: 'Projector' } }],
    ['roomMailbox', 'roomMailboxMetadata', { roomMailboxMetadata: {} }],
    ['roomMailbox', 'isWheelChairAccessible', { isWheelChairAccessible: false }],
    ['roomMailbox', 'officeLocation', { officeLocation: 'Hall' }],
    ...kinds.map((kind): [MailboxKind, string, object] => [kind, 'all fields of this kind', onlyFor[kind]]),
  ])('gets the default template of a %s if it contains %s', async (kind, _, more) => {
    const made = await submitted({ capacity: 1024, ...more })
    expect([made.kind, made.template.id]).toEqual([kind, ids.get(kind)])
  })

  it.each<[string, object]>([
    ['autoMapping and officeLocation', { autoMapping: true, officeLocation: 'Hall' }],
    [
      'isWheelChairAccessible and metadata.equipmentType',
      { metadata: { equipmentType: 'Car' }, isWheelChairAccessible: true },
    ],
    [
      'autoMapping, roomMailboxMetadata, and metadata.equipmentType',
      { ...onlyFor.equipmentMailbox, autoMapping: true, roomMailboxMetadata: { hasWhiteboard: true } },
    ],
  ])('is refused when %s imply two kinds', async (properties, more) => {
    const { faults, details } = await refused(more)
    expect(faults).toEqual(['/templateId required'])
    expect(details).toContain(`belong to different kinds of mailbox: ${properties}`)
  })

  it.each<[string, object]>([
    ['no further fields', {}],
    ['only fields of all kinds', { capacity: 1024, automaticReply: 'Soon.', permissions: {}, notes: 'x' }],
    ['only empty fields of one kind', { alias: '', officeLocation: '', metadata: { equipmentType: '' } }],
  ])('is refused with %s', async (_, more) => {
    const { faults, details } = await refused(more)
    expect(faults).toEqual(['/templateId required'])
    expect(details).toContain('You can omit templateId if a property belongs to one kind only')
  })

  it.each<[string, object]>([
    ['has no default template', { default: false }],
    ['has a disabled one', { active: false }],
    ['has one for other people', { audience: { people: [dana.id], groups: [] } }],
  ])('is refused when its kind %s', async (_, change) => {
    const templateId = ids.get('roomMailbox') ?? ''
    const admin = actorOf(priya, true)
    const known = await core.provisioning.readTemplate(admin, { id: templateId })
    await core.provisioning.putTemplate(admin, { id: templateId, body: { ...known, ...change }, expected: 1 })
    const { faults, details } = await refused({ officeLocation: 'Hall' })
    expect(faults).toEqual(['/templateId required'])
    expect(details).toContain('no default template for a room mailbox')
  })

  it('gets the fault of the template together with all other faults', async () => {
    const { faults } = await refused({ capacity: 0, notes: 7 })
    expect(faults.sort()).toEqual(['/capacity too-small', '/notes wrong-type', '/templateId required'])
  })

  it('does not imply a kind by inherited properties of objects', async () => {
    const { faults } = await refused({ metadata: JSON.parse('{"constructor": "x", "toString": "y"}') })
    expect(faults).toEqual(['/templateId required'])
  })
})

describe('a mailbox request of an application', () => {
  const core = withCore()
  const clientId = randomUUID()

  it('has the application as requester, and waits for the admins because an application has no manager', async () => {
    const app = await core.provisioning.actor({
      tenantId: core.provisioning.settings.tenantId,
      id: randomUUID(),
      clientId,
    })
    expect(app).toMatchObject({ isAdmin: false, clientId, displayName: `Application ${clientId}` })
    const approval = { stages: [{ approvers: [{ manager: true }] }] }
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', approval })
    const body = { name: 'by-app', displayName: 'By an application', templateId }
    const made = asMailbox(await core.provisioning.submitMailbox(app, { body }))
    expect([made.requester.id, made.requester.displayName]).toEqual([app.id, app.displayName])
    expect(made.approvals[0]?.approvers).toEqual([priya])
    expect((await core.provisioning.listRequests(app, { limit: 5 })).requests).toEqual([made])
    expect((await core.provisioning.cancelRequest(app, { requestId: made.requestId })).status).toBe('cancelled')
  })

  it('gives no admin role, even by the setting, and cannot use the template of a group', async () => {
    const id = randomUUID()
    const { tenantId } = core.provisioning.settings
    const provisioning = core.with({}, { admins: [id] })
    const app = await provisioning.actor({ tenantId, id, clientId })
    expect((await refusal(() => provisioning.readQueue(app))).code).toBe('forbidden')
    const group = randomUUID()
    core.world.groups.set(group, [{ id, displayName: '', userPrincipalName: '' }])
    const audience = { people: [], groups: [group] }
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', audience })
    const body = { name: 'of-group', displayName: 'Of a group', templateId }
    const { faults } = await refusal(() => provisioning.submitMailbox(app, { body }))
    expect(named(faults)).toEqual(['/templateId unknown-template'])
  })
})
