import { describe, expect, it } from 'vitest'
import { asWritten, type Core, TenantError } from '../../src/core/index.ts'
import { actorOf, asMailbox, dana, kim, tenantWith, withCore } from '../support/core.ts'
import { detailOf, named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)
const run = { lastAttempt: true, signal: new AbortController().signal }
const refuses = (code: string) => async () => {
  throw new TenantError(code, asWritten('Somebody else has it.'), { retryable: false })
}

describe('a request that failed because of a taken name', () => {
  const core = withCore()
  const failed = async (provisioning: Core, name: string, more: object = {}) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const body = { name, displayName: 'Help desk', templateId, ...more }
    const { requestId } = await provisioning.submitMailbox(asKim, { body })
    await provisioning.system.provision(requestId, run)
    return asMailbox(await provisioning.readRequest(asKim, { requestId }))
  }
  const again = async (provisioning: Core, requestId: string) => {
    const opened = await provisioning.draftFromRequest(asKim, { requestId })
    if (opened.step !== 'details') throw new Error(`the form is at ${opened.step}`)
    return opened.draft
  }
  const sent = async (provisioning: Core, requestId: string, version: number) => {
    const reviewed = await provisioning.reviewDraft(asKim, { requestId, version, values: {} })
    if (reviewed.step !== 'review') throw new Error(`not reviewed: ${JSON.stringify(reviewed)}`)
    const view = await provisioning.submitDraft(asKim, { requestId, version: reviewed.draft.version })
    if (view.step !== 'submitted') throw new Error(`not sent: ${view.step}`)
    return asMailbox(view.request)
  }

  it('is cancelled in the transaction that submits it again with the free name', async () => {
    const provisioning = core.with({ tenant: tenantWith({}, { 'create-mailbox': refuses('name-taken') }) })
    const first = await failed(provisioning, 'desk')
    expect(first.problem).toMatchObject({ code: 'name-taken', suggestion: 'desk-2' })
    const draft = await again(provisioning, first.requestId)
    expect(draft.values).toMatchObject({ name: 'desk-2', displayName: 'Help desk' })
    const second = await sent(provisioning, draft.requestId, draft.version)
    expect(second.address).toBe('desk-2@contoso.example')
    expect(await provisioning.readRequest(asKim, { requestId: first.requestId })).toMatchObject({ status: 'cancelled' })
    const entry = (await provisioning.readTimeline(asKim, { requestId: first.requestId })).at(-1)
    expect(entry).toMatchObject({ action: 'cancelled', data: { replacedBy: draft.requestId } })
  })

  it('passes its name to its replacement if only the additional address was taken', async () => {
    const provisioning = core.with({ tenant: tenantWith({}, { 'create-mailbox': refuses('alias-taken') }) })
    const first = await failed(provisioning, 'front', { alias: 'hello@contoso.example' })
    expect(first.problem).toMatchObject({ code: 'alias-taken', suggestion: 'hello-2@contoso.example' })
    const draft = await again(provisioning, first.requestId)
    const second = await sent(provisioning, draft.requestId, draft.version)
    expect(second).toMatchObject({ address: 'front@contoso.example', aliasAddress: 'hello-2@contoso.example' })
  })

  it('continues if an admin has retried it before the replacement', async () => {
    const provisioning = core.with({ tenant: tenantWith({}, { 'create-mailbox': refuses('name-taken') }) })
    const first = await failed(provisioning, 'lobby')
    const draft = await again(provisioning, first.requestId)
    await provisioning.retryRequest(actorOf(dana, true), { requestId: first.requestId })
    await sent(provisioning, draft.requestId, draft.version)
    expect(await provisioning.readRequest(asKim, { requestId: first.requestId })).toMatchObject({ status: 'queued' })
  })

  it('keeps entries with commas unchanged in its replacement', async () => {
    const provisioning = core.with({ tenant: tenantWith({}, { 'create-mailbox': refuses('name-taken') }) })
    const tags = ['Quiet', 'A, north']
    const first = await failed(provisioning, 'commas', { tags, businessPhones: ['1, ext. 2'] })
    const draft = await again(provisioning, first.requestId)
    const { details } = await sent(provisioning, draft.requestId, draft.version)
    expect(details).toMatchObject({ tags, businessPhones: ['1, ext. 2'] })
  })
})

describe('an invalid mailbox request', () => {
  const core = withCore()
  const refused = async (more: object, template: object = {}) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', ...template })
    const body = { name: 'any', displayName: 'Any', templateId, ...more }
    return refusal(() => core.provisioning.submitMailbox(asKim, { body }))
  }

  it('is refused with all faults at once, and with the nearest valid name', async () => {
    const nobody = '11111111-aaaa-4aaa-8aaa-000000009999'
    const more = {
      name: 'Büro Zürich 5',
      country: 'Helvetien',
      domain: 'evil.example',
      metadata: { seats: 5.5 },
      permissions: { [nobody]: 'FullAccess' },
    }
    const { faults } = await refused(more, { kind: 'roomMailbox' })
    expect(named(faults).sort()).toEqual([
      '/country not-a-country',
      '/domain domain-not-accepted',
      '/metadata/seats invalid',
      '/name invalid',
      `/permissions/${nobody} unknown-person`,
    ])
    expect(faults.find(({ pointer }) => pointer === '/name')?.suggestion).toBe('buro-zurich-5')
  })

  it('is refused for its own faults while the directory does not answer', async () => {
    core.world.up = false
    const { code, faults } = await refused({ name: 'sales@contoso.example' })
    core.world.up = true
    expect([code, faults[0]?.suggestion]).toEqual(['validation-failed', 'sales'])
  })

  it('contains one person twice in permissions, in different case', async () => {
    const { faults } = await refused({ permissions: { [dana.id.toUpperCase()]: 'SendAs', [dana.id]: 'FullAccess' } })
    expect(named(faults)).toEqual([`/permissions/${dana.id} invalid`])
    expect(detailOf(faults[0])).toContain('this person appears twice')
  })

  it('contains a mail address instead of an object id', async () => {
    const { faults } = await refused({ permissions: { 'kim@contoso.example': 'SendAs' } })
    expect(named(faults)).toEqual(['/permissions/kim@contoso.example invalid'])
    expect(detailOf(faults[0])).toContain('It must be the object ID of a person')
  })

  it('contains a name that is too long with the template’s prefix', async () => {
    const naming = { prefix: 'room-', suffix: '' }
    const { faults } = await refused({ name: 'x'.repeat(60) }, { naming })
    expect(named(faults)).toEqual(['/name too-long'])
    expect(detailOf(faults[0])).toBe('name may have at most 59 characters in this template.')
  })
})

describe('an application', () => {
  const core = withCore()
  it('may have more open requests than a person', async () => {
    const provisioning = core.with({}, { openRequestsPerPerson: 1 })
    const { id: templateId } = await core.template({ kind: 'equipmentMailbox' })
    const application = { ...asKim, clientId: '99999999-aaaa-4aaa-8aaa-000000000001' }
    const ask = (actor: typeof asKim, name: string) =>
      provisioning.submitMailbox(actor, { body: { name, displayName: name, templateId } })
    await ask(application, 'one')
    await ask(application, 'two')
    expect((await refusal(() => ask(asKim, 'three'))).code).toBe('too-many-open-requests')
  })
})
