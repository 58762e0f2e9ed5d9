import { beforeEach, describe, expect, it } from 'vitest'
import { type MailboxKind, mailboxFields, siteRequest } from '../../src/core/index.ts'
import { actorOf, asMailbox, kim, withCore } from '../support/core.ts'
import { kinds, onlyFor } from '../support/mailbox-bodies.ts'
import { named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const required = ['name', 'displayName']

/** Bodies of typed clients: all fields of the class, with the language's value for unset fields. */
const unset: Record<string, Record<string, unknown>> = {
  null: Object.fromEntries(mailboxFields.map((field) => [field, null])),
  'false, "", [] and {}': {
    ...{ autoMapping: false, isWheelChairAccessible: false, alias: '', officeLocation: '', roomMailboxMetadata: {} },
    ...{ metadata: {}, permissions: {}, tags: [], businessPhones: [], notes: '', reason: '', phone: '' },
    ...{ primaryOwner: '', secondaryOwner: '', templateId: '', hideFromGAL: false },
  },
  'unset nested values': {
    metadata: { equipmentType: '', note: null },
    roomMailboxMetadata: { hasConferencePhone: false, hasWhiteboard: null, hasVideoConferencing: false },
    isWheelChairAccessible: false,
  },
}

describe('a typed client, which sends all fields,', () => {
  const core = withCore()
  const ids = new Map<MailboxKind, string>()
  let count = 0
  const body = (...more: object[]) => {
    count += 1
    return Object.assign(
      {},
      ...more.slice(0, 1),
      { name: `box-${count}`, displayName: `Box ${count}` },
      ...more.slice(1),
    )
  }
  const submitted = async (sent: unknown) => asMailbox(await core.provisioning.submitMailbox(asKim, { body: sent }))
  const faults = async (sent: unknown) =>
    named((await refusal(() => core.provisioning.submitMailbox(asKim, { body: sent }))).faults)
  beforeEach(async () => {
    for (const kind of kinds) ids.set(kind, (await core.template({ kind, default: true })).id)
  })

  const cases = Object.entries(unset).flatMap(([what, fields]) => kinds.map((kind) => ({ what, fields, kind })))
  it.each(cases)('gets a $kind with $what', async ({ fields, kind }) => {
    const sent = body(fields, { templateId: ids.get(kind) })
    const made = await submitted(sent)
    const foreign = Object.keys(onlyFor).flatMap((one) =>
      one === kind ? [] : Object.keys(onlyFor[one as MailboxKind]),
    )
    for (const field of foreign) if (field !== 'metadata') expect(made.details).not.toHaveProperty(field)
    expect(made.kind).toBe(kind)
    expect(made.people).toEqual([])
  })

  it.each(cases)('gets a $kind by its properties without a template, with $what', async ({ fields, kind }) => {
    const { alias: _, ...own } = onlyFor[kind] as { alias?: string }
    const alias = kind === 'sharedMailbox' && { alias: `other-${count}` }
    expect((await submitted(body(fields, own, alias || {}))).kind).toBe(kind)
  })

  it.each<[MailboxKind, object, string]>([
    ['sharedMailbox', { isWheelChairAccessible: true }, '/isWheelChairAccessible'],
    ['sharedMailbox', { roomMailboxMetadata: { hasWhiteboard: true } }, '/roomMailboxMetadata'],
    ['roomMailbox', { autoMapping: true }, '/autoMapping'],
    ['equipmentMailbox', { alias: 'x' }, '/alias'],
    ['roomMailbox', { metadata: { equipmentType: 'Car' } }, '/metadata/equipmentType'],
  ])('is refused for a %s with %j', async (kind, more, pointer) => {
    expect(await faults(body({}, { templateId: ids.get(kind) }, more))).toEqual([`${pointer} not-applicable`])
  })

  it('must set required fields and cannot send unknown fields', async () => {
    const nothing = { ...unset['null'], templateId: ids.get('sharedMailbox'), color: null }
    expect((await faults(nothing)).sort()).toEqual(
      ['/color unknown-field', ...required.map((one) => `/${one} null`)].sort(),
    )
  })

  it('gets a site with null in every optional field', async () => {
    const { id: templateId } = await core.template({ kind: 'teamSite' })
    const fields = Object.fromEntries(Object.keys(siteRequest.shape).map((field) => [field, null]))
    const sent = { ...fields, displayName: 'Apollo', templateId, metadata: { note: null } }
    const made = await core.provisioning.submitSite(asKim, { body: sent })
    expect(made.details).toMatchObject({ description: '', metadata: {}, labelId: '' })
  })

  it('gets a preview of its body', async () => {
    const preview = await core.provisioning.previewRequest(asKim, {
      body: body(unset['null'] ?? {}, { officeLocation: 'Hall' }),
    })
    expect([preview.valid, preview.kind, preview.errors]).toEqual([true, 'roomMailbox', []])
  })
})

describe('the faults of a body', () => {
  const core = withCore()

  it('contain each pointer once', async () => {
    const { id: templateId } = await core.template({
      kind: 'sharedMailbox',
      properties: { notes: { required: true }, department: { fixed: 'Sales' } },
    })
    const sent = { name: 'Ä Ö', displayName: '', templateId, notes: '', department: 7, permissions: { x: 'y', z: 1 } }
    const { faults } = await refusal(() => core.provisioning.submitMailbox(asKim, { body: sent }))
    const pointers = faults.map(({ pointer }) => pointer)
    expect(pointers).toEqual([...new Set(pointers)])
    expect(pointers.sort()).toEqual([
      '/department',
      '/displayName',
      '/name',
      '/notes',
      '/permissions/x',
      '/permissions/z',
    ])
    const { errors } = await core.provisioning.previewRequest(asKim, { body: sent })
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(pointers)
  })

  it.each(['active', 'Inactive', 'archived', ' DELETED ', 'disabled'])(
    'refuse the status %j as the state of an address',
    async (state) => {
      const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
      const sent = { name: 'box', displayName: 'Box', templateId, state }
      const { faults } = await refusal(() => core.provisioning.submitMailbox(asKim, { body: sent }))
      expect(named(faults)).toEqual(['/state invalid'])
      expect(faults[0]?.reason.key).toBe('stateIsCondition')
    },
  )
})
