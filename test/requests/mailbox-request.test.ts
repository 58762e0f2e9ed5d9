import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mailboxFields, viewOf } from '../../src/core/index.ts'
import { approversGroup, dana, kim, omar, withCore } from '../support/core.ts'
import { forAll, goodValues, kinds, mailboxesOf, notFor, onlyFor } from '../support/mailbox-bodies.ts'

describe('a mailbox request', () => {
  const core = withCore()
  const { good, submitted, faults } = mailboxesOf(core)
  it('has the 32 fields of the API document', () => {
    expect(mailboxFields).toHaveLength(32)
    expect([...Object.keys(goodValues), 'templateId'].sort()).toEqual([...mailboxFields].sort())
  })

  describe('by the API document', () => {
    it('is accepted with only the required fields, without permissions', async () => {
      const { name, displayName, templateId } = await good()
      const made = await submitted({ name, displayName, templateId })
      expect(made.details).toEqual({ name, displayName, permissions: {}, metadata: {} })
      expect([made.kind, made.status, made.address, made.aliasAddress, made.reason]).toEqual([
        ...['sharedMailbox', 'queued', `${name}@contoso.example`, '', ''],
      ])
    })

    it.each(kinds)('is accepted with all fields of a %s, and shows them unchanged', async (kind) => {
      const others = new Set(Object.keys(notFor[kind]).map((pointer) => pointer.slice(1)))
      const fields = Object.fromEntries(Object.entries(goodValues).filter(([field]) => !others.has(field)))
      const name = `whole-${kind.toLowerCase()}`
      const body = await good({ ...fields, name }, { kind })
      if (kind === 'sharedMailbox') Object.assign(body, { alias: `${name}-help@contoso.example` })
      const made = await submitted(body)
      const { templateId, ...shown } = body
      expect(viewOf(made)).toMatchObject({ kind, templateId, details: shown })
      expect(made.address).toBe(`${body.name}@contoso-labs.example`)
      expect(made.people.map(({ id }) => id).sort()).toEqual([kim.id, dana.id, omar.id].sort())
    })

    it('gets its name by the naming policy, the default domain, and an alias in that domain', async () => {
      const naming = { prefix: 'cust-', suffix: '-ch' }
      const made = await submitted(await good({ name: 'Alpine.Tours', alias: 'Alpine' }, { naming }))
      expect([made.address, made.aliasAddress]).toEqual([
        'cust-alpine.tours-ch@contoso.example',
        'alpine@contoso.example',
      ])
      expect(viewOf(made).details).toMatchObject({
        ...{ name: 'cust-alpine.tours-ch', domain: 'contoso.example', alias: 'alpine@contoso.example' },
      })
    })

    it('waits for approval if its template requires it, and stores its reason', async () => {
      const approval = { stages: [{ approvers: [{ group: approversGroup }] }] }
      const made = await submitted(await good({ reason: ' Customers ask. ' }, { approval }))
      expect([made.status, made.reason, viewOf(made).details.reason]).toEqual([
        ...['pendingApproval', 'Customers ask.', 'Customers ask.'],
      ])
    })
  })

  describe('by rule 3, with a property of another kind, is refused at its pointer', () => {
    const refusals = kinds.flatMap((kind) =>
      Object.entries(notFor[kind]).map(([pointer, value]) => ({ kind, pointer, value })),
    )

    it.each(refusals)('$kind: $pointer', async ({ kind, pointer, value }) => {
      expect(await faults(await good(value, { kind }))).toEqual([`${pointer} not-applicable`])
    })

    it.each(kinds)('except all properties of a %s itself', async (kind) => {
      const made = await submitted(await good({ ...forAll, ...onlyFor[kind] }, { kind }))
      expect(made.details).toMatchObject(forAll)
    })

    it('except empty values, which count as absent', async () => {
      const made = await submitted(await good({ alias: '', notes: ' ' }, { kind: 'roomMailbox' }))
      expect(Object.keys(made.details).sort()).toEqual(['displayName', 'metadata', 'name', 'permissions'])
    })
  })

  describe('is refused at the field for', () => {
    it.each<[string, object, string]>([
      ['a missing name', { name: undefined }, '/name required'],
      ['a missing displayName', { displayName: undefined }, '/displayName required'],
      ['a field that mailboxes do not have', { labelId: 'b2' }, '/labelId unknown-field'],
      [
        'a misspelt room property',
        { roomMailboxMetadata: { hasTv: true } },
        '/roomMailboxMetadata/hasTv unknown-field',
      ],
      ['null for a required field', { displayName: null }, '/displayName null'],
      ['null in a list', { tags: [null] }, '/tags/0 null'],
      ['null for a person’s access', { permissions: { [dana.id]: null } }, `/permissions/${dana.id} invalid`],
      ['a number for text', { notes: 7 }, '/notes wrong-type'],
      ['text for a number', { capacity: '2048' }, '/capacity wrong-type'],
      ['half a megabyte', { capacity: 0.5 }, '/capacity wrong-type'],
      ['text for a switch', { hideFromGAL: 'true' }, '/hideFromGAL wrong-type'],
      ['text for a list', { tags: 'quiet' }, '/tags wrong-type'],
      ['an empty tag', { tags: [''] }, '/tags/0 required'],
      ['a list of people', { permissions: [dana.id] }, '/permissions wrong-type'],
      ['an unknown level', { permissions: { [dana.id]: 'Owner' } }, `/permissions/${dana.id} invalid`],
      ['a level in another case', { permissions: { [dana.id]: 'fullaccess' } }, `/permissions/${dana.id} invalid`],
      [
        'a person by name',
        { permissions: { 'dana@contoso.example': 'SendAs' } },
        '/permissions/dana@contoso.example invalid',
      ],
      ['an owner by name', { primaryOwner: 'Dana Fox' }, '/primaryOwner invalid'],
      ['an unknown template', { templateId: randomUUID() }, '/templateId unknown-template'],
      ['a template id that is a number', { templateId: 7 }, '/templateId wrong-type'],
      ['an empty template id', { templateId: '' }, '/templateId required'],
      ['an unknown country', { country: 'Atlantis' }, '/country not-a-country'],
      ['a domain outside of the organisation', { domain: 'fabrikam.example' }, '/domain domain-not-accepted'],
      ['an invalid domain', { domain: 'contoso' }, '/domain invalid'],
      ['an alias outside of the organisation', { alias: 'help@fabrikam.example' }, '/alias domain-not-accepted'],
    ])('%s', async (_, change, fault) => {
      const kind = 'roomMailboxMetadata' in change ? 'roomMailbox' : 'sharedMailbox'
      expect(await faults({ ...(await good({}, { kind })), ...change })).toEqual([fault])
    })

    it.each([
      'a b',
      'ü',
      '-a',
      'a-',
      '.a',
      'a.',
      'a..b',
      '_a',
      'a@contoso.example',
      'a/b',
      'a\u0000',
      "a'b",
      'a*',
      '漢字',
    ])('a name such as %j', async (name) => {
      expect(await faults({ ...(await good()), name })).toEqual(['/name invalid'])
    })

    it.each([
      'a b',
      'ü@contoso.example',
      'a@@contoso.example',
      '@contoso.example',
      'a@',
      'a@contoso',
      'a@-x.example',
      'SMTP:a@contoso.example',
    ])('an alias such as %j', async (alias) => {
      expect(await faults({ ...(await good()), alias })).toEqual(['/alias invalid'])
    })

    it.each(['teamSite', 'communicationSite'])('a template of a %s', async (kind) => {
      expect(await faults(await good({}, { kind }))).toEqual(['/templateId wrong-resource'])
    })

    it('a template that is disabled or for other people', async () => {
      expect(await faults(await good({}, { active: false }))).toEqual(['/templateId unknown-template'])
      const audience = { people: [dana.id], groups: [] }
      expect(await faults(await good({}, { audience }))).toEqual(['/templateId unknown-template'])
    })

    it.each([[null], [[]], ['text'], [7]])('a body that is %j', async (body) => {
      expect((await faults(body)).map((one) => one.split(' ')[0])).toEqual([''])
    })

    it('all faults at once: fields, kind, template', async () => {
      const field = { key: 'customer', type: 'text', label: 'Customer', required: true }
      const body = await good(
        {
          name: 'a b',
          displayName: '',
          capacity: 0,
          extra: 1,
          officeLocation: 'Hall',
          permissions: { nobody: 'SendAs' },
        },
        { fields: [field] },
      )
      expect((await faults(body)).sort()).toEqual([
        '/capacity too-small',
        '/displayName required',
        '/extra unknown-field',
        '/metadata/customer required',
        '/name invalid',
        '/officeLocation not-applicable',
        '/permissions/nobody invalid',
      ])
    })

    it('all faults at once: values, people, addresses', async () => {
      core.world.taken.add('everything@contoso.example')
      const unknown = randomUUID()
      const permissions = { [unknown]: 'SendAs' }
      const body = await good({ name: 'everything', permissions, country: 'Atlantis', alias: 'a@fabrikam.example' })
      expect((await faults(body)).sort()).toEqual([
        '/alias domain-not-accepted',
        '/country not-a-country',
        '/name name-taken',
        `/permissions/${unknown} unknown-person`,
      ])
    })

    it('an unknown country without any stored row', async () => {
      const body = await good()
      const before = await core.rows()
      await faults({ ...body, country: 'Atlantis' })
      expect(await core.rows()).toEqual(before)
    })
  })

  describe('with people', () => {
    it('accepts ids in any case, with each level of access', async () => {
      const permissions = { [dana.id.toUpperCase()]: 'FullAccess', [omar.id]: 'None' }
      const made = await submitted(await good({ permissions }))
      expect(made.details.permissions).toEqual({ [dana.id]: 'FullAccess', [omar.id]: 'None' })
    })

    it('accepts only people of the organisation as owners', async () => {
      const [one, other] = [randomUUID(), randomUUID()]
      expect(await faults(await good({ primaryOwner: one, secondaryOwner: other }))).toEqual([
        ...['/primaryOwner unknown-person', '/secondaryOwner unknown-person'],
      ])
      const made = await submitted(await good({ primaryOwner: dana.id.toUpperCase(), secondaryOwner: dana.id }))
      expect([made.details.primaryOwner, made.people]).toEqual([dana.id, [dana]])
    })
  })
})
