import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/index.ts'
import {
  batchRowView,
  batchView,
  type MailboxField,
  mailboxFields,
  mailboxKinds,
  tenantHolds,
} from '../../src/core/index.ts'
import { acceptedMailbox } from '../../src/http/routes/requests/index.ts'
import { destinationsOf } from '../../src/microsoft365/mailboxes/fields.ts'
import { caller, mailboxView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const shared = (more: object) => {
  const name = `box-${randomUUID().slice(0, 8)}`
  return { name, displayName: `Box ${name}`, templateId: templates.sharedMailbox, ...more }
}

describe('an accepted field without effect', () => {
  const service = withService()
  const { call } = caller(service)
  const kim = () => ({ userId: people.kim.id, scope: `${service.app.url}/mail/App.ReadWrite.All` })
  const warningsOf = async (more: object) => {
    const { body } = await call(kim(), 'POST', '/mail/v1/mailboxes/', { body: shared(more) })
    const { warnings, requestId } = acceptedMailbox.parse(body)
    const read = mailboxView.parse((await call('kim', 'GET', `/requests/v1/${requestId}`)).body)
    expect(read.warnings).toEqual(warnings)
    return warnings.map(({ code, field }) => `${field} ${code}`)
  }

  it.each<[string, object, string[]]>([
    ['an owner', { primaryOwner: people.dana.id }, ['primaryOwner kept-on-request']],
    ['the devices of a shared mailbox', { audioDeviceName: 'Speaker' }, ['audioDeviceName kept-on-request']],
    [
      'a change of the reply that Exchange cannot forbid',
      { isAllowAutomaticReplyOverride: false },
      ['isAllowAutomaticReplyOverride not-enforced'],
    ],
    [
      'a change of the reply that is always allowed',
      { isAllowAutomaticReplyOverride: true },
      ['isAllowAutomaticReplyOverride already-so'],
    ],
    ['automatic mapping for nobody', { autoMapping: true }, ['autoMapping nobody-has-access']],
    ['free metadata', { metadata: { floor: 3 } }, ['metadata.floor kept-on-request']],
    ['unset fields', { tags: [], audioDeviceName: '', primaryOwner: null, metadata: {} }, []],
    ['fields with effect', { city: 'Zürich', autoMapping: true, permissions: { [people.kim.id]: 'FullAccess' } }, []],
  ])('gets a warning in the answer and in the request: %s', async (_, more, expected) => {
    expect(await warningsOf(more)).toEqual(expected)
  })

  it('gets a warning if the additional address is the mailbox’s own address', async () => {
    const name = `box-${randomUUID().slice(0, 8)}`
    const body = shared({ name, alias: `shared-${name}@contoso.example` })
    const answer = acceptedMailbox.parse((await call(kim(), 'POST', '/mail/v1/mailboxes/', { body })).body)
    expect(answer.warnings).toEqual([
      {
        code: 'already-so',
        field: 'alias',
        detail: 'The additional address is the mailbox’s own address. It adds nothing.',
      },
    ])
    const made = mailboxView.parse((await call('kim', 'GET', `/requests/v1/${answer.requestId}`)).body)
    expect([made.details.name, made.status]).toEqual([`shared-${name}`, expect.any(String)])
  })

  it('gets a warning in the preview, the dry run and the rows of a batch', async () => {
    const [one, other] = [shared({ primaryOwner: people.dana.id }), shared({ tags: ['quiet'] })]
    const preview = (await call(kim(), 'POST', '/requests/v1/preview', { body: one })).body
    expect(preview).toMatchObject({ warnings: [{ code: 'nobody-can-open' }, { field: 'primaryOwner' }] })
    const rows = [one, other].map((body, index) => ({ key: `${index}`, body }))
    const order = { resource: 'mailbox', rows }
    const dry = (await call(kim(), 'POST', '/requests/v1/batch', { body: { ...order, dryRun: true } })).body
    const expected = [{ warnings: [{ field: 'primaryOwner' }] }, { warnings: [{ field: 'tags' }] }]
    expect(dry).toMatchObject({ rows: expected })
    const { batchId } = batchView.parse((await call(kim(), 'POST', '/requests/v1/batch', { body: order })).body)
    const value = await until(async () => {
      const { body } = await call('kim', 'GET', `/batches/v1/${batchId}/rows`)
      const found = z.object({ value: z.array(batchRowView) }).parse(body).value
      return found.every(({ status }) => status === 'submitted') ? found : undefined
    }, 'the rows to be submitted')
    expect(value).toMatchObject(expected)
  })

  it('gets a warning in the typed client', async () => {
    const token = async () => {
      const response = await fetch(`${service.app.endpoints.simulator?.url}/control/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(kim()),
      })
      return z.object({ access_token: z.string() }).parse(await response.json()).access_token
    }
    const client = createClient({ baseUrl: service.app.url, token })
    const { warnings } = await client.createMailbox({
      ...{
        name: `box-${randomUUID().slice(0, 8)}`,
        displayName: 'Box of a client',
        templateId: templates.sharedMailbox,
      },
      ...{ primaryOwner: people.dana.id, capacity: null, tags: null },
    })
    expect(warnings.map(({ detail }) => detail)).toEqual([
      'Microsoft 365 has no place for primaryOwner of shared mailboxes. Only the request keeps the value.',
    ])
  })
})

describe('the list of fields that the tenant cannot hold', () => {
  const cases = mailboxKinds.flatMap((kind) => mailboxFields.map((field): [MailboxField, typeof kind] => [field, kind]))

  it.each(cases)('matches the destinations in Exchange: %s of a %s', (field, kind) => {
    const to = destinationsOf(field, kind)
    // Approvers read the reason, so it is not a value for the tenant.
    if (to !== 'refused' && field !== 'reason') expect(tenantHolds(field, kind)).toBe(to !== 'request')
  })
})
