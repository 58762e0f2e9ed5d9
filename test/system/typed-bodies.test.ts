import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { batchRowView, batchView, mailboxRequest, siteRequest } from '../../src/core/index.ts'
import { type Caller, caller, mailboxView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import typedClients from '../support/typed-clients.json' with { type: 'json' }
import { until } from '../support/until.ts'

const templateOf = {
  sharedMailbox: templates.sharedMailbox,
  equipmentMailbox: templates.equipment,
  roomMailbox: templates.meetingRoom,
  teamSite: templates.workingGroup,
  communicationSite: templates.newsSite,
} as const
type Kind = keyof typeof templateOf
const kinds = Object.keys(templateOf) as Kind[]
const isSite = (kind: Kind) => kind.endsWith('Site')

/** All optional fields of a mailbox as System.Text.Json writes a class with nullable properties: everything is null. */
const nullsOfMailbox = {
  ...{ permissions: null, metadata: null, capacity: null, state: null, streetAddress: null, officeLocation: null },
  ...{ companyName: null, postalCode: null, city: null, country: null, businessPhones: null, phone: null },
  ...{ department: null, primaryOwner: null, secondaryOwner: null, automaticReply: null, domain: null, tags: null },
  ...{ isAllowAutomaticReplyOverride: null, audioDeviceName: null, displayDeviceName: null, videoDeviceName: null },
  ...{ isWheelChairAccessible: null, roomMailboxMetadata: null, hideFromGAL: null, notes: null, reason: null },
  ...{ autoMapping: null, alias: null },
}
/** All optional fields as a C# or Java class writes them whose properties have a default instead of null. */
const defaultsOfMailbox = {
  ...{ permissions: {}, metadata: {}, state: '', streetAddress: '', officeLocation: '', companyName: '' },
  ...{ postalCode: '', city: '', country: '', businessPhones: [], phone: '', department: '', automaticReply: '' },
  ...{ primaryOwner: '00000000-0000-0000-0000-000000000000', secondaryOwner: '', domain: '', tags: [], notes: '' },
  ...{ isAllowAutomaticReplyOverride: false, audioDeviceName: '', displayDeviceName: '', videoDeviceName: '' },
  ...{ isWheelChairAccessible: false, hideFromGAL: false, reason: '', autoMapping: false, alias: '', capacity: null },
  roomMailboxMetadata: { hasConferencePhone: false, hasWhiteboard: false, hasVideoConferencing: false },
}
const nullsOfSite = { description: null, alias: null, owners: null, metadata: null, labelId: null }
const defaultsOfSite = { description: '', alias: '', owners: [], metadata: {}, labelId: '' }

/**
 * Whole bodies of new objects, in the order of their fields. Jackson wrote its bodies: of classes with `String`, `Integer` and
 * `UUID` without a value, primitive `boolean`, and empty lists and maps. Those of System.Text.Json follow its rules (web defaults)
 * for records with `string?`, `int?`, a `bool`, a `Guid`, empty lists and dictionaries, and no nested object.
 */
const { Jackson: java, 'System.Text.Json': csharp } = typedClients

/** The optional fields that a typed client sends for one kind of resource. */
const styles: Record<string, (kind: Kind) => object> = {
  'all fields of a Java class': (kind) => (isSite(kind) ? java.site : java.mailbox),
  'all fields of a C# record': (kind) => (isSite(kind) ? csharp.site : csharp.mailbox),
  'all fields of one Java class for sites and mailboxes': () => ({ ...java.mailbox, ...java.site }),
  'all fields of one C# record for sites and mailboxes': () => ({ ...csharp.mailbox, ...csharp.site }),
  'null in every optional field': (kind) => (isSite(kind) ? nullsOfSite : nullsOfMailbox),
  'the default in every optional field': (kind) => (isSite(kind) ? defaultsOfSite : defaultsOfMailbox),
  'null in the fields of one class for sites and mailboxes': () => ({ name: null, ...nullsOfMailbox, ...nullsOfSite }),
  'defaults in the fields of one class for sites and mailboxes': (kind) => ({
    ...(isSite(kind) && { name: '' }),
    ...defaultsOfMailbox,
    ...defaultsOfSite,
  }),
}

describe('a body of a typed client', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const as = (kind: Kind): Caller =>
    isSite(kind) ? 'kim' : { scope: `${service.app.url}/mail/App.ReadWrite.All`, userId: people.kim.id }
  const path = (kind: Kind) => (isSite(kind) ? '/collab/v1/spo/' : '/mail/v1/mailboxes/')
  const bodyOf = (kind: Kind, style: string) => {
    const name = `typed-${randomUUID().slice(0, 8)}`
    const own = { displayName: `Typed ${name}`, templateId: templateOf[kind], ...(!isSite(kind) && { name }) }
    return { ...styles[style]?.(kind), ...own }
  }
  // As text: the API document describes the plain form of a body only.
  const cases = Object.keys(styles).flatMap((style) => kinds.map((kind) => ({ style, kind })))

  it.each(cases)('requests a $kind with $style', async ({ style, kind }) => {
    const { status, text } = await call(as(kind), 'POST', path(kind), { body: JSON.stringify(bodyOf(kind, style)) })
    expect([status, text]).toEqual([202, expect.any(String)])
  })

  it.each(cases)('is valid in the preview of a $kind with $style', async ({ style, kind }) => {
    const body = JSON.stringify(bodyOf(kind, style))
    const { status, body: preview, text } = await call(as(kind), 'POST', '/requests/v1/preview', { body })
    expect([status, preview], text).toMatchObject([200, { kind, valid: true, errors: [] }])
  })

  it.each(cases)('has every field of a $kind with $style', ({ style, kind }) => {
    const fields = Object.keys((isSite(kind) ? siteRequest : mailboxRequest).shape)
    expect(fields.filter((field) => !(field in bodyOf(kind, style)))).toEqual([])
  })

  it.each(['sharedMailbox', 'equipmentMailbox', 'roomMailbox'] as const)(
    'is refused for a %s if an unset int is 0, because every mailbox has a capacity',
    async (kind) => {
      const body = JSON.stringify({ ...bodyOf(kind, 'all fields of a Java class'), capacity: 0 })
      const refused = problem(await call(as(kind), 'POST', '/mail/v1/mailboxes/', { body }))
      expect([refused.status, refused.errors]).toMatchObject([
        422,
        [{ pointer: '#/capacity', code: 'too-small', suggestion: '1' }],
      ])
    },
  )

  it.each(['mailbox', 'site'] as const)('is a row of a batch of %s requests', async (resource) => {
    const rows = cases
      .filter(({ kind }) => isSite(kind) === (resource === 'site'))
      .map(({ style, kind }, index) => ({ key: `${kind} ${index}`, body: bodyOf(kind, style) }))
    const who = as(resource === 'site' ? 'teamSite' : 'sharedMailbox')
    const dryRun = await call(who, 'POST', '/requests/v1/batch', { body: { resource, rows, dryRun: true } })
    expect(dryRun.body).toMatchObject({ valid: true })
    const { batchId } = batchView.parse(
      (await call(who, 'POST', '/requests/v1/batch', { body: { resource, rows } })).body,
    )
    await until(async () => {
      const { body } = await call('kim', 'GET', `/batches/v1/${batchId}`)
      return batchView.parse(body).status === 'finished' ? true : undefined
    }, 'the end of the batch')
    const { body } = await call('kim', 'GET', `/batches/v1/${batchId}/rows?limit=100`)
    const { value } = z.object({ value: z.array(batchRowView) }).parse(body)
    expect(value.filter(({ status }) => status !== 'submitted')).toEqual([])
  })

  it('is refused if a field of the other resource has a value', async () => {
    const mailbox = {
      ...bodyOf('sharedMailbox', 'null in every optional field'),
      labelId: 'x',
      owners: [people.dana.id],
    }
    const wrongMailbox = await call(as('sharedMailbox'), 'POST', '/mail/v1/mailboxes/', { body: mailbox })
    expect(
      problem(wrongMailbox)
        .errors?.map(({ pointer, code }) => `${pointer} ${code}`)
        .toSorted(),
    ).toEqual(['#/labelId unknown-field', '#/owners unknown-field'])
    const site = { ...bodyOf('teamSite', 'null in every optional field'), hideFromGAL: true }
    const wrongSite = await call('kim', 'POST', '/collab/v1/spo/', { body: site })
    expect(problem(wrongSite).errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/hideFromGAL unknown-field',
    ])
  })

  it('keeps lists and objects in metadata, within the size of a value', async () => {
    const metadata = { floors: [1, 2], contact: { name: 'Reception', phones: ['+41 44 000 00 01'] }, note: 'x' }
    const body = { ...bodyOf('sharedMailbox', 'null in every optional field'), metadata }
    const { headers } = await call(as('sharedMailbox'), 'POST', '/mail/v1/mailboxes/', { body })
    const { body: made } = await call('kim', 'GET', headers.get('location') ?? '')
    expect(mailboxView.parse(made).details.metadata).toEqual(metadata)
    const tooLong = { ...bodyOf('sharedMailbox', ''), metadata: { floors: Array.from({ length: 600 }, () => 1) } }
    const refused = await call(as('sharedMailbox'), 'POST', '/mail/v1/mailboxes/', { body: tooLong })
    expect(problem(refused).errors).toMatchObject([
      { pointer: '#/metadata/floors', code: 'too-long', suggestion: '1024' },
    ])
  })
})
