import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MailboxField, type MailboxKind, mailboxFields, mailboxRequest, viewOf } from '../../src/core/index.ts'
import { actorOf, asMailbox, dana, kim, mailDomains, omar, priya, withCore } from '../support/core.ts'
import { kinds, mailboxesOf, notFor } from '../support/mailbox-bodies.ts'
import { seed } from '../support/seed.ts'

const asKim = actorOf(kim)
const text = (length: number) => 'x'.repeat(length)
const domainOf = (length: number) => `${text(63)}.${text(63)}.${text(63)}.${text(length - 195)}.ch`
const peopleOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, () => [randomUUID(), 'SendAs' as const]))
const entries = (count: number) => Array.from({ length: count }, (_, index) => `entry ${index}`)

/** The maximum of each field and the fault of a larger value. Fields without a size are missing. */
const most: Partial<Record<MailboxField, [limit: number, of: (size: number) => unknown, fault: string]>> = {
  name: [64, text, '/name too-long'],
  displayName: [256, text, '/displayName too-long'],
  templateId: [64, text, '/templateId too-long'],
  permissions: [100, peopleOf, '/permissions invalid'],
  metadata: [50, (size) => Object.fromEntries(entries(size).map((key) => [key, 1])), '/metadata invalid'],
  capacity: [102_400, (size) => size, '/capacity too-large'],
  state: [128, text, '/state too-long'],
  streetAddress: [1024, text, '/streetAddress too-long'],
  officeLocation: [128, text, '/officeLocation too-long'],
  companyName: [64, text, '/companyName too-long'],
  postalCode: [40, text, '/postalCode too-long'],
  city: [128, text, '/city too-long'],
  country: [128, text, '/country too-long'],
  businessPhones: [20, entries, '/businessPhones too-long'],
  phone: [64, text, '/phone too-long'],
  department: [64, text, '/department too-long'],
  automaticReply: [32_000, text, '/automaticReply too-long'],
  domain: [253, domainOf, '/domain invalid'],
  audioDeviceName: [128, text, '/audioDeviceName too-long'],
  displayDeviceName: [128, text, '/displayDeviceName too-long'],
  videoDeviceName: [128, text, '/videoDeviceName too-long'],
  tags: [20, entries, '/tags too-long'],
  notes: [1024, text, '/notes too-long'],
  reason: [1024, text, '/reason too-long'],
  alias: [64, text, '/alias invalid'],
}
const unmeasured = [
  ...['primaryOwner', 'secondaryOwner', 'isAllowAutomaticReplyOverride', 'isWheelChairAccessible'],
  ...['roomMailboxMetadata', 'hideFromGAL', 'autoMapping'],
]

describe('a mailbox request', () => {
  const core = withCore()
  const { good, submitted, faults } = mailboxesOf(core)

  it('has a tested maximum for each field with a size', () => {
    expect([...Object.keys(most), ...unmeasured].sort()).toEqual([...mailboxFields].sort())
  })

  describe('at its limits', () => {
    it.each(Object.entries(most))('%s', async (field, [limit, of, fault]) => {
      const kind: MailboxKind = field === 'officeLocation' ? 'roomMailbox' : 'sharedMailbox'
      const body = await good({}, { kind })
      for (const size of [limit - 1, limit])
        expect(mailboxRequest.safeParse({ ...body, [field]: of(size) }).error, `${field} of ${size}`).toBeUndefined()
      expect(await faults({ ...body, [field]: of(limit + 1) })).toEqual([fault])
    })

    it.each([
      [
        'a metadata key',
        { metadata: { [text(64)]: 1 } },
        { metadata: { [text(65)]: 1 } },
        `/metadata/${text(65)} invalid`,
      ],
      ['a metadata value', { metadata: { a: text(1024) } }, { metadata: { a: text(1025) } }, '/metadata/a too-long'],
      ['a tag', { tags: [text(64)] }, { tags: [text(65)] }, '/tags/0 too-long'],
      [
        'a business phone',
        { businessPhones: [text(64)] },
        { businessPhones: [text(65)] },
        '/businessPhones/0 too-long',
      ],
      ['the least capacity', { capacity: 1 }, { capacity: 0 }, '/capacity too-small'],
    ])('%s', async (_, within, beyond, fault) => {
      const body = await good()
      expect(mailboxRequest.safeParse({ ...body, ...within }).error).toBeUndefined()
      expect(await faults({ ...body, ...beyond })).toEqual([fault])
    })

    it('name and displayName need one character that is not a blank', async () => {
      const body = await good()
      expect(await faults({ ...body, displayName: ' \t ' })).toEqual(['/displayName required'])
      expect(await faults({ ...body, name: ' ' })).toContain('/name required')
    })
  })

  it.each(['CH', 'ch', 'Switzerland', 'switzerland', 'USA', 'Côte d’Ivoire', 'Türkiye', 'Hong Kong', 'UK'])(
    'accepts the country %s',
    async (country) => {
      expect((await submitted(await good({ country }))).details.country).toBe(country)
    },
  )

  it('accepts the seats of a room only as a whole number', async () => {
    const seats = async (value: unknown, kind: MailboxKind) => good({ metadata: { seats: value } }, { kind })
    for (const value of [12, '12', 1, '99999']) expect(await submitted(await seats(value, 'roomMailbox'))).toBeDefined()
    for (const value of [0, '0', -1, 1.5, 'many', true, '100000'])
      expect(await faults(await seats(value, 'roomMailbox'))).toEqual(['/metadata/seats invalid'])
    expect((await submitted(await seats('many', 'sharedMailbox'))).details.metadata).toEqual({ seats: 'many' })
  })

  it('accepts its own address as alias without an additional address', async () => {
    for (const [name, alias] of [
      ['echo', 'echo'],
      ['reply', 'Reply@contoso.example'],
    ])
      expect((await submitted(await good({ name, alias }))).aliasAddress).toBe('')
    const other = `mirror@${mailDomains.accepted[1]}`
    expect((await submitted(await good({ name: 'mirror', alias: other }))).aliasAddress).toBe(other)
  })

  it('is stored and shown unchanged for any accepted body', async () => {
    const templates = new Map<MailboxKind, string>()
    let count = 0
    for (const kind of kinds) templates.set(kind, (await core.template({ kind })).id)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...kinds), anyDetails, async (kind, details) => {
        count += 1
        const others = Object.keys(notFor[kind]).map((pointer) => pointer.slice(1))
        const fields = Object.fromEntries(Object.entries(details).filter(([field]) => !others.includes(field)))
        const body = {
          ...fields,
          name: `any-${count}`,
          displayName: details.displayName,
          templateId: templates.get(kind),
        }
        const made = await core.provisioning.submitMailbox(asKim, { body })
        const stored = asMailbox(await core.provisioning.readRequest(asKim, { requestId: made.requestId }))
        expect(stored).toEqual(made)
        const { alias, ...shown }: Record<string, unknown> = {
          permissions: {},
          metadata: {},
          ...fields,
          name: body.name,
        }
        expect(viewOf(stored).details).toEqual({
          ...{ displayName: details.displayName, domain: mailDomains.default, ...shown },
          ...(alias !== undefined && {
            alias: `${alias}@${'domain' in fields ? fields['domain'] : mailDomains.default}`,
          }),
        })
      }),
      { numRuns: 150, seed },
    )
  })
})

/** Text in its stored form: not empty and without blanks at its ends. An empty input counts as absent. */
const kept = (maxLength: number) =>
  fc
    .string({ minLength: 1, maxLength, unit: 'grapheme' })
    .filter((one) => one.trim() === one && storable(one) && one.length <= maxLength)
/** PostgreSQL cannot store U+0000 and half surrogate pairs. */
const storable = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed()
const aPerson = fc.constantFrom(dana.id, omar.id, priya.id)
const anyDetails = fc.record(
  {
    displayName: kept(256),
    permissions: fc.dictionary(aPerson, fc.constantFrom('None', 'SendAs', 'FullAccess'), { noNullPrototype: true }),
    metadata: fc.dictionary(
      fc.stringMatching(/^[A-Za-z][A-Za-z0-9 ._~/-]{0,20}$/).map((key) => `x${key}`),
      fc.oneof(kept(100), fc.integer(), fc.boolean()),
      { maxKeys: 5, noNullPrototype: true },
    ),
    capacity: fc.integer({ min: 1, max: 102_400 }),
    state: kept(128),
    streetAddress: kept(300),
    officeLocation: kept(128),
    companyName: kept(64),
    postalCode: kept(40),
    city: kept(128),
    country: fc.constantFrom('Switzerland', 'de', 'United Kingdom'),
    businessPhones: fc.array(kept(64), { maxLength: 20 }),
    phone: kept(64),
    department: kept(64),
    primaryOwner: aPerson,
    secondaryOwner: aPerson,
    automaticReply: kept(500),
    isAllowAutomaticReplyOverride: fc.boolean(),
    domain: fc.constantFrom(...mailDomains.accepted),
    audioDeviceName: kept(128),
    displayDeviceName: kept(128),
    videoDeviceName: kept(128),
    tags: fc.array(kept(64), { maxLength: 20 }),
    isWheelChairAccessible: fc.boolean(),
    roomMailboxMetadata: fc.record(
      { hasConferencePhone: fc.boolean(), hasWhiteboard: fc.boolean(), hasVideoConferencing: fc.boolean() },
      { requiredKeys: [], noNullPrototype: true },
    ),
    hideFromGAL: fc.boolean(),
    notes: kept(300),
    reason: kept(300),
    autoMapping: fc.boolean(),
    alias: fc.uuid(),
  },
  { requiredKeys: ['displayName'], noNullPrototype: true },
)
