import { describe, expect, it } from 'vitest'
import { actorOf, approversGroup, asMailbox, asSite, dana, kim, omar, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const asOmar = actorOf(omar)

describe.each(engines)('numbers in names, %s', (engine) => {
  const core = withCore(engine)

  it('are assigned once each for 50 submissions at the same time, and not for 20 reviews', async () => {
    const { id: templateId } = await core.template({ naming: { alias: { pattern: 'prj-{counter:3}' } } })
    const review = async () => {
      const opened = await core.provisioning.openDraft(asKim, { templateId })
      if (opened.step !== 'details') throw new Error('no form')
      const { requestId, version } = opened.draft
      const values = { displayName: 'Review', reason: 'x' }
      return core.provisioning.reviewDraft(asKim, { requestId, version, values })
    }
    const reviewed = await Promise.all(Array.from({ length: 20 }, review))
    expect(
      new Set(reviewed.map((one) => (one.step === 'review' && 'alias' in one.plan ? one.plan.alias : one.step))),
    ).toEqual(new Set(['prj-001']))
    const submit = (_: unknown, index: number) =>
      core.provisioning.submitSite(index % 2 ? asKim : asOmar, { body: { templateId, displayName: `Site ${index}` } })
    const requests = (await Promise.all(Array.from({ length: 50 }, submit))).map(asSite)
    const expected = Array.from({ length: 50 }, (_, index) => `prj-${String(index + 1).padStart(3, '0')}`)
    expect(requests.map(({ alias }) => alias).sort()).toEqual(expected)
  })

  it('count separately for names with other different parts, and skip taken names', async () => {
    const naming = { alias: { pattern: '{metadata.place}-{counter:2}' } }
    const fields = [{ key: 'place', type: 'text', label: 'Place' }]
    const { id: templateId } = await core.template({ naming, fields })
    core.world.taken.add('zurich-02')
    const at = async (place: string) =>
      asSite(await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'x', metadata: { place } } }))
        .alias
    expect([await at('Zürich'), await at('Bern'), await at('Zürich'), await at('Bern')]).toEqual([
      ...['zurich-01', 'bern-01', 'zurich-03', 'bern-02'],
    ])
  })

  it('are not assigned to refused requests', async () => {
    const { id: templateId } = await core.template({ naming: { alias: { pattern: 'only-{counter}' } }, labels: {} })
    const body = { templateId, displayName: 'x' }
    await refusal(() => core.provisioning.submitSite(asKim, { body: { ...body, labelId: 'nothing' } }))
    await refusal(() => core.provisioning.submitSite(asKim, { body: { ...body, owners: [templateId] } }))
    expect(asSite(await core.provisioning.submitSite(asKim, { body })).alias).toBe('only-1')
  })

  it('stay within a quota for any number of simultaneous submissions', async () => {
    const { id: templateId } = await core.template({ quota: { resources: 3 } })
    const submit = (_: unknown, index: number) =>
      core.provisioning.submitSite(index % 2 ? asKim : asOmar, { body: { templateId, displayName: `Few ${index}` } })
    const ends = await Promise.allSettled(Array.from({ length: 12 }, submit))
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [named(end.reason.faults).join()] : []))
    expect([ends.length - refused.length, new Set(refused)]).toEqual([3, new Set(['/templateId quota-reached'])])
  })
})

describe('a template sets', () => {
  const core = withCore()
  const room = async (template: object) => {
    const { id: templateId } = await core.template({ kind: 'roomMailbox', ...template })
    return { templateId, name: `room-${templateId.slice(0, 8)}`, displayName: 'Room' }
  }
  const submitted = async (body: object, who = asKim) => asMailbox(await core.provisioning.submitMailbox(who, { body }))
  const faults = async (body: object) =>
    named((await refusal(() => core.provisioning.submitMailbox(asKim, { body }))).faults)

  it('default and fixed values of fields', async () => {
    const properties = {
      city: { default: 'Zürich' },
      country: { fixed: 'CH', shown: false },
      'roomMailboxMetadata.hasWhiteboard': { fixed: true },
      capacity: { default: 500 },
    }
    const body = await room({ properties })
    const { details } = await submitted(body)
    expect(details).toMatchObject({
      ...{ city: 'Zürich', country: 'CH', capacity: 500, roomMailboxMetadata: { hasWhiteboard: true } },
    })
    const stated = await submitted({ ...body, name: 'stated', city: 'Bern', country: 'ch' })
    expect(stated.details).toMatchObject({ city: 'Bern', country: 'CH' })
    const inGerman = await submitted({ ...body, name: 'german', country: 'Schweiz' })
    expect(inGerman.details).toMatchObject({ country: 'CH' })
    expect((await submitted({ ...body, name: 'cleared', city: '' })).details.city).toBeUndefined()
    expect(await faults({ ...body, name: 'other', country: 'DE' })).toEqual(['/country fixed'])
    expect(await faults({ ...body, name: 'other', roomMailboxMetadata: { hasWhiteboard: false } })).toEqual([
      '/roomMailboxMetadata/hasWhiteboard fixed',
    ])
  })

  it('a fixed list, which a request may contain in another order', async () => {
    const body = await room({ properties: { tags: { fixed: ['Beamer', 'Kitchen'] } } })
    const { details } = await submitted({ ...body, tags: ['kitchen', 'Beamer'] })
    expect(details.tags).toEqual(['Beamer', 'Kitchen'])
    for (const tags of [['Beamer'], ['Beamer', 'Kitchen', 'Bar'], ['Beamer', 'Beamer'], 'Beamer'])
      expect(await faults({ ...body, name: 'other', tags })).toEqual(['/tags fixed'])
  })

  it('required fields, also for access', async () => {
    const properties = { city: { required: true }, 'permissions.FullAccess': { required: true } }
    const body = await room({ properties })
    expect(await faults(body)).toEqual(['/city required', '/permissions/FullAccess required'])
    const permissions = { [dana.id]: 'FullAccess' }
    expect((await submitted({ ...body, city: 'Bern', permissions })).details.city).toBe('Bern')
  })

  it('limits of storage, access and external people', async () => {
    const limits = { capacityMaximum: 1000, permissionsMaximum: 1, accessLevels: ['SendAs'], externalOwners: false }
    const body = await room({ limits })
    core.world.external.add(omar.id)
    const permissions = { [dana.id]: 'FullAccess', [omar.id]: 'SendAs' }
    expect(await faults({ ...body, capacity: 1001, permissions, primaryOwner: omar.id })).toEqual([
      '/capacity too-large',
      '/permissions too-many-people',
      `/permissions/${dana.id} access-not-allowed`,
      '/primaryOwner external-owner',
    ])
    const { id: templateId } = await core.template({ limits: { externalOwners: false } })
    const site = { templateId, displayName: 'Outside', owners: [omar.id] }
    const refused = await refusal(() => core.provisioning.submitSite(asKim, { body: site }))
    expect(named(refused.faults)).toEqual(['/owners/0 external-owner'])
    core.world.external.delete(omar.id)
    expect((await submitted({ ...body, capacity: 1000, permissions: { [dana.id]: 'SendAs' } })).status).toBe('queued')
  })

  it('the number of open requests of a person, without ended requests', async () => {
    const approval = { stages: [{ approvers: [{ group: approversGroup }] }] }
    const { id: templateId } = await core.template({ quota: { openPerPerson: 1 }, approval })
    const ask = (displayName: string, who = asKim) =>
      core.provisioning.submitSite(who, { body: { templateId, displayName } })
    const first = await ask('One')
    expect(named((await refusal(() => ask('Two'))).faults)).toEqual(['/templateId quota-reached'])
    expect((await ask('Of another person', asOmar)).status).toBe('pendingApproval')
    await core.provisioning.cancelRequest(asKim, { requestId: first.requestId })
    expect((await ask('Two')).status).toBe('pendingApproval')
  })

  it('a pattern for the additional address of a shared mailbox', async () => {
    const naming = { name: { pattern: 'cust-{input}' }, alias: { pattern: '{input}-{year}' } }
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', naming })
    const year = new Date().getUTCFullYear()
    const body = { templateId, name: 'alpine', displayName: 'Alpine' }
    const derived = await submitted(body)
    expect([derived.address, derived.aliasAddress]).toEqual([
      'cust-alpine@contoso.example',
      `alpine-${year}@contoso.example`,
    ])
    const typed = await submitted({ ...body, name: 'fabrikam', alias: 'fab@contoso-labs.example' })
    expect(typed.aliasAddress).toBe(`fab-${year}@contoso-labs.example`)
  })

  it('the display name, and the request keeps the typed name for a retry', async () => {
    core.world.profiles.set(kim.id, { department: 'Digital Workplace' })
    const naming = { displayName: { pattern: '{department:initials} {input}' }, prefix: 'x-', suffix: '' }
    const { id: templateId } = await core.template({ naming })
    const site = asSite(await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Aurora' } }))
    expect([site.details.displayName, site.typedName, site.alias]).toEqual(['DW Aurora', 'Aurora', 'x-aurora'])
    expect(site.around).toEqual({ prefix: 'x-', suffix: '', separator: '-' })
  })
})

describe('answers to the questions of a template', () => {
  const core = withCore()
  const fields = [
    { key: 'seats', type: 'number', label: 'Seats', minimum: 2, maximum: 100, default: 8 },
    { key: 'from', type: 'date', label: 'From', minimum: 'today', maximum: '2099-12-31' },
    { key: 'catering', type: 'toggle', label: 'Catering', default: true },
    { key: 'read', type: 'toggle', label: 'I have read the rules', required: true },
    { key: 'host', type: 'person', label: 'Host' },
    { key: 'code', type: 'text', label: 'Code', pattern: '[A-Z]{3}', error: 'Three capitals.', default: 'ABC' },
    { key: 'floor', type: 'choice', label: 'Floor', choices: [{ title: 'First', value: '1' }], default: '1' },
  ]
  const answered = async (metadata: object) => {
    const { id: templateId } = await core.template({ fields })
    return core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'Answers', metadata } })
  }

  it('are stored in their own types, with defaults for missing answers', async () => {
    const request = await answered({ read: true, from: '2098-01-31', host: dana.id.toUpperCase(), free: 'too' })
    expect(request.details.metadata).toEqual({
      ...{
        seats: 8,
        from: '2098-01-31',
        catering: true,
        read: true,
        host: dana.id,
        code: 'ABC',
        floor: '1',
        free: 'too',
      },
    })
  })

  it('are converted from the texts of a form, and cleared answers stay empty', async () => {
    const request = await answered({ read: 'true', seats: '12', catering: 'false', code: '', floor: '' })
    expect(request.details.metadata).toEqual({ read: true, seats: 12, catering: false })
  })

  it.each(['teamSite', 'sharedMailbox'] as const)('of a %s may be today in each time zone', async (kind) => {
    const today = ['first', 'last'].map((key) => ({
      ...{ key, type: 'date', label: key },
      ...(key === 'first' ? { minimum: 'today' } : { maximum: 'today' }),
    }))
    const { id: templateId } = await core.template({ kind, fields: today })
    const faultsAt = async (time: string, metadata: object) => {
      const now = new Date(time)
      const body = { templateId, displayName: 'Day', metadata, ...(kind === 'sharedMailbox' && { name: 'day' }) }
      const { errors } = await core.with({ clock: { now: () => now } }).previewRequest(asKim, { body })
      return errors.map(({ pointer, code, suggestion }) => [pointer, code, suggestion].join(' '))
    }
    // In Los Angeles it is 17:30 of the 20th, and in Auckland 14:30 of the 21st.
    const evening = '2026-11-21T01:30:00Z'
    expect(await faultsAt(evening, { first: '2026-11-20', last: '2026-11-21' })).toEqual([])
    // In Auckland it is 08:30 of the 21st.
    expect(await faultsAt('2026-11-20T19:30:00Z', { first: '2026-11-20', last: '2026-11-21' })).toEqual([])
    expect(await faultsAt(evening, { first: '2026-11-19', last: '2026-11-22' })).toEqual([
      '/metadata/first too-early 2026-11-20',
      '/metadata/last too-late 2026-11-21',
    ])
  })

  it('are compared with their pattern without the blanks around them, as they are stored', async () => {
    const request = await answered({ read: true, code: ' XYZ\n' })
    expect(request.details.metadata).toMatchObject({ code: 'XYZ' })
  })

  it.each([
    [{ seats: 1 }, 'seats too-small'],
    [{ seats: '1e9' }, 'seats wrong-type'],
    [{ seats: 101 }, 'seats too-large'],
    [{ from: '2001-01-01' }, 'from too-early'],
    [{ from: '2100-01-01' }, 'from too-late'],
    [{ from: '2027-02-30' }, 'from not-a-date'],
    [{ catering: 'perhaps' }, 'catering wrong-type'],
    [{ read: false }, 'read required'],
    [{ host: '11111111-aaaa-4aaa-8aaa-0000000000ff' }, 'host unknown-person'],
    [{ host: 'Dana' }, 'host unknown-person'],
    [{ code: 'abc' }, 'code pattern'],
    [{ floor: '9' }, 'floor not-a-choice'],
  ])('are refused: %j as %s', async (wrong, expected) => {
    const { faults } = await refusal(() => answered({ read: true, ...wrong }))
    expect(named(faults)).toEqual([`/metadata/${expected}`])
  })
})
