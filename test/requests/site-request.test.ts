import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { siteRequest } from '../../src/core/index.ts'
import { actorOf, approversGroup, asSite, dana, kim, omar, priya, stranger, withCore } from '../support/core.ts'
import { named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const label = { id: 'b2', name: 'Internal' }
const fields = [
  { key: 'costCentre', type: 'text', label: 'Cost centre', required: true, pattern: '\\d{4}', error: 'Four digits.' },
  { key: 'scope', type: 'choice', label: 'Scope', choices: [{ title: 'Inside', value: 'internal' }] },
]

describe('a site request', () => {
  const core = withCore()
  let count = 0
  /** Returns the faults of a refused body. */
  const faults = async (body: unknown): Promise<string[]> => {
    const error = await refusal(() => core.provisioning.submitSite(asKim, { body }))
    return named(error.faults)
  }
  const good = async (more: object = {}, template: object = {}) => {
    const { id: templateId } = await core.template(template)
    count += 1
    return { displayName: `Site ${count}`, templateId, ...more }
  }
  const submitted = async (body: unknown) => asSite(await core.provisioning.submitSite(asKim, { body }))
  const accepted = async (body: unknown) => (await submitted(body)).details

  describe('by the API document', () => {
    it('is accepted with only the required fields, and the others get their defaults', async () => {
      expect(await accepted(await good())).toEqual({
        ...{ displayName: `Site ${count}`, description: '', alias: '', owners: [], metadata: {}, labelId: '' },
      })
    })

    it('is accepted with all fields, and the requester is always an owner', async () => {
      const metadata = { costCentre: '4711', scope: 'internal', budget: 12.5, urgent: true }
      const body = await good(
        {
          description: 'Plans and minutes',
          alias: '',
          owners: [dana.id, kim.id, dana.id.toUpperCase()],
          metadata,
          labelId: 'b2',
        },
        { fields, labels: { allowed: [label] } },
      )
      const made = await submitted(body)
      expect(made.owners.map(({ id }) => id)).toEqual([kim.id, dana.id])
      expect(made.details.metadata).toEqual(metadata)
      expect([made.kind, made.status]).toEqual(['teamSite', 'queued'])
    })

    it('gets its kind and its approval from the template', async () => {
      const approval = { stages: [{ approvers: [{ group: approversGroup }] }] }
      const made = await core.provisioning.submitSite(asKim, {
        body: await good({}, { kind: 'communicationSite', approval }),
      })
      expect([made.kind, made.status, made.approvals.length]).toEqual(['communicationSite', 'pendingApproval', 1])
    })
  })

  describe('at its limits', () => {
    const text = (length: number) => 'x'.repeat(length)
    const ids = (length: number) => Array.from({ length }, () => kim.id)
    const keys = (length: number) => Object.fromEntries(Array.from({ length }, (_, key) => [`k${key}`, '1']))
    const limits: [what: string, limit: number, at: (size: number) => object, faults: string][] = [
      ['displayName', 256, (size) => ({ displayName: text(size) }), '/displayName too-long'],
      ['description', 1024, (size) => ({ description: text(size) }), '/description too-long'],
      ['templateId', 64, (size) => ({ templateId: text(size) }), '/templateId too-long'],
      ['alias', 64, (size) => ({ alias: text(size) }), '/alias too-long'],
      ['owners', 19, (size) => ({ owners: ids(size) }), '/owners too-long'],
      ['metadata keys', 50, (size) => ({ metadata: keys(size) }), '/metadata invalid'],
      ['a metadata key', 64, (size) => ({ metadata: { [text(size)]: '1' } }), `/metadata/${text(65)} invalid`],
      ['a metadata value', 1024, (size) => ({ metadata: { a: text(size) } }), '/metadata/a too-long'],
      ['labelId', 64, (size) => ({ labelId: text(size) }), '/labelId too-long'],
    ]
    it.each(limits)('%s has the maximum %i', async (what, limit, at, fault) => {
      const body = await good()
      for (const size of [limit - 1, limit]) {
        const parsed = siteRequest.safeParse({ ...body, ...at(size) })
        expect(parsed.error, `${what} of ${size}`).toBeUndefined()
      }
      expect(await faults({ ...body, ...at(limit + 1) })).toEqual([fault])
    })

    it('displayName and templateId need one character that is not a blank', async () => {
      const body = await good({ displayName: ' x ' })
      expect((await accepted(body)).displayName).toBe('x')
      expect(await faults({ ...body, displayName: '' })).toEqual(['/displayName required'])
      expect(await faults({ ...body, displayName: ' \t ' })).toEqual(['/displayName required'])
      expect(await faults({ ...body, templateId: '' })).toEqual(['/templateId required'])
    })
  })

  describe('is refused at the field for', () => {
    it.each([
      ['a missing field', { displayName: undefined }, '/displayName required'],
      ['another missing field', { templateId: undefined }, '/templateId required'],
      ['an unknown field', { siteUrl: 'x' }, '/siteUrl unknown-field'],
      ['an unknown field with a slash', { 'a/b~c': 1 }, '/a~1b~0c unknown-field'],
      ['null for a required field', { displayName: null }, '/displayName null'],
      ['null in a list', { owners: [null] }, '/owners/0 null'],
      ['a number for text', { displayName: 7 }, '/displayName wrong-type'],
      ['text for a list', { owners: kim.id }, '/owners wrong-type'],
      ['a list for an object', { metadata: [] }, '/metadata wrong-type'],
      ['an object in metadata that is too long', { metadata: { a: { b: 'x'.repeat(1017) } } }, '/metadata/a too-long'],
      ['a list in metadata that is too long', { metadata: { a: ['x'.repeat(1021)] } }, '/metadata/a too-long'],
      ['an empty metadata key', { metadata: { '': 'x' } }, '/metadata/ invalid'],
      ['an owner without an id', { owners: [dana.id, 'dana'] }, '/owners/1 invalid'],
      ['an unknown owner', { owners: [dana.id, randomUUID()] }, '/owners/1 unknown-person'],
      ['a label that the template does not allow', { labelId: 'zz' }, '/labelId label-not-allowed'],
      ['an unknown template', { templateId: randomUUID() }, '/templateId unknown-template'],
      ['an invalid template id', { templateId: 'team site' }, '/templateId unknown-template'],
    ])('%s', async (_, change, fault) => {
      expect(await faults({ ...(await good()), ...change })).toEqual([fault])
    })

    it.each(['a b', 'ü', '-a', 'a-', '_a', 'a.b', 'a@contoso.example', 'a/b', '../a', 'a\u0000', '漢字'])(
      'an alias such as %j',
      async (alias) => {
        expect(await faults({ ...(await good()), alias })).toEqual(['/alias invalid'])
      },
    )

    it.each([[null], [[]], ['text'], [7]])('a body that is %j', async (body) => {
      expect((await faults(body)).map((one) => one.split(' ')[0])).toEqual([''])
    })

    it('all faults at once', async () => {
      const body = { displayName: '', templateId: 7, alias: ' ä', extra: 1, owners: ['x'] }
      expect((await faults(body)).sort()).toEqual([
        '/alias invalid',
        '/displayName required',
        '/extra unknown-field',
        '/owners/0 invalid',
        '/templateId wrong-type',
      ])
    })

    it.each(['sharedMailbox', 'equipmentMailbox', 'roomMailbox'])('a template of a %s', async (kind) => {
      expect(await faults(await good({}, { kind }))).toEqual(['/templateId wrong-resource'])
    })

    it('a template that is disabled or for other people', async () => {
      expect(await faults(await good({}, { active: false }))).toEqual(['/templateId unknown-template'])
      const others = { people: [dana.id], groups: [] }
      expect(await faults(await good({}, { audience: others }))).toEqual(['/templateId unknown-template'])
      expect(await faults(await good({}, { audience: { people: [], groups: [randomUUID()] } }))).toHaveLength(1)
      expect(await accepted(await good({}, { audience: { people: [kim.id], groups: [] } }))).toBeDefined()
      expect(await accepted(await good({}, { audience: { people: [], groups: [approversGroup] } }))).toBeDefined()
    })
  })

  describe('with answers to the questions of its template', () => {
    const answered = (metadata: object) => good({ metadata }, { fields })

    it.each([
      [{}, '/metadata/costCentre required'],
      [{ costCentre: '' }, '/metadata/costCentre required'],
      [{ costCentre: '47' }, '/metadata/costCentre pattern'],
      [{ costCentre: 'x4711' }, '/metadata/costCentre pattern'],
      [{ costCentre: '4711\n4711' }, '/metadata/costCentre pattern'],
      [{ costCentre: '4711', scope: 'Inside' }, '/metadata/scope not-a-choice'],
    ])('%j is refused: %s', async (metadata, fault) => {
      expect(await faults(await answered(metadata))).toEqual([fault])
    })

    it('may contain further metadata', async () => {
      expect((await accepted(await answered({ costCentre: 4711, department: 'R&D' }))).metadata).toEqual({
        costCentre: 4711,
        department: 'R&D',
      })
    })

    it('does not count inherited properties of objects as answers', async () => {
      const inherited = [{ key: 'constructor', type: 'text', label: 'Builder', required: true }]
      expect(await faults(await good({}, { fields: inherited }))).toEqual(['/metadata/constructor required'])
    })
  })

  it('needs the number of owners of its template, which counts the requester and each person once', async () => {
    const limits = { ownersMinimum: 2, ownersMaximum: 3 }
    const owned = (owners: object[]) => good({ owners: owners.map((one) => Reflect.get(one, 'id')) }, { limits })
    expect(await faults(await owned([]))).toEqual(['/owners owners-minimum'])
    expect(await faults(await owned([kim]))).toEqual(['/owners owners-minimum'])
    expect((await accepted(await owned([dana]))).owners).toEqual([dana.id])
    expect((await accepted(await owned([dana, omar, kim, dana]))).owners).toHaveLength(4)
    expect(await faults(await owned([dana, omar, priya]))).toEqual(['/owners owners-maximum'])
    expect(await faults(await owned([dana, omar, priya, stranger]))).toEqual(['/owners owners-maximum'])
  })

  it('stores nothing when refused', async () => {
    const body = await good()
    const before = await core.rows()
    await faults({ ...body, labelId: 'zz', alias: 'kept' })
    expect(await core.rows()).toEqual(before)
  })
})
