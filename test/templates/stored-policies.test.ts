import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { actorOf, asSite, dana, kim, tenantId, withCore } from '../support/core.ts'
import { named, refusal, shownFaults } from '../support/refusal.ts'

const asKim = actorOf(kim)

describe('a template stored by the previous version', () => {
  const core = withCore()
  /** The previous version accepted each of these; this version refuses them in new templates. */
  const fields = [
    { key: 'a', type: 'text', label: 'A', choices: [{ title: 'One', value: 'one' }] },
    { key: 'b', type: 'choice', label: 'B', choices: [] },
    { key: 'c', type: 'choice', label: 'C', pattern: 'o.*', choices: [{ title: 'One', value: 'one' }] },
    { key: 'd', type: 'choice', label: 'D', choices: [1, 2].map(() => ({ title: 'One', value: 'one' })) },
  ]
  const old = {
    ...{ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Old', active: true, default: false, order: 0 },
    ...{ description: '', audience: null, fields, naming: { prefix: 'o-', suffix: '' }, approval: null, webhook: null },
    limits: { ownersMinimum: 1, ownersMaximum: 20 },
    labels: { allowed: [], default: null },
  }
  beforeAll(async () => {
    await core.database.query('INSERT INTO templates VALUES ($1, $2, 1, $3)', [tenantId, old.id, JSON.stringify(old)])
  })

  it('can still be listed and requested from', async () => {
    expect((await core.provisioning.listTemplates(asKim)).map(({ name }) => name)).toEqual(['Old'])
    const body = { templateId: old.id, displayName: 'Old club', metadata: { c: 'one', d: 'one' } }
    const { requestId } = await core.provisioning.submitSite(asKim, { body })
    expect((await core.provisioning.readRequest(asKim, { requestId })).status).toBe('queued')
  })
})

describe('a request with values from its template', () => {
  const core = withCore()

  it('is refused if the defaults exceed the limit of answers', async () => {
    const fields = [{ key: 'size', type: 'text', label: 'Size', default: 'small' }]
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 'x']))
    const site = await core.template({ fields })
    const refusedSite = () =>
      core.provisioning.submitSite(asKim, { body: { templateId: site.id, displayName: 'Full', metadata } })
    expect(named((await refusal(refusedSite)).faults)).toEqual(['/metadata too-long'])
    const room = await core.template({ kind: 'roomMailbox', fields })
    const body = { templateId: room.id, displayName: 'Full', name: 'full', metadata }
    expect(named((await refusal(() => core.provisioning.submitMailbox(asKim, { body }))).faults)).toEqual([
      '/metadata too-long',
    ])
  })

  it('is refused if its template is for another resource, whatever values the template sets', async () => {
    const { id: templateId } = await core.template({ kind: 'roomMailbox', properties: { city: { default: 'Bern' } } })
    const refused = await refusal(() => core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'x' } }))
    expect(named(refused.faults)).toEqual(['/templateId wrong-resource'])
  })
})

describe('a number or quota at its limit', () => {
  const core = withCore()

  it('reports the last checked address if no number is free', async () => {
    const { id: templateId } = await core.template({ naming: { alias: { pattern: 'n-{counter}' } } })
    for (let number = 1; number <= 20; number += 1) core.world.taken.add(`n-${number}`)
    const body = { templateId, displayName: 'x' }
    const { faults } = await refusal(() => core.provisioning.submitSite(asKim, { body }))
    expect(shownFaults(faults)).toEqual([
      { code: 'name-taken', pointer: '/alias', detail: expect.stringContaining('n-20 is taken'), suggestion: '' },
    ])
    expect(asSite(await core.provisioning.submitSite(asKim, { body })).alias).toBe('n-21')
  })

  it('counts the resource of a request that its replacement did not cancel', async () => {
    const { id: templateId } = await core.template({ quota: { resources: 1 } })
    const { requestId } = await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'First' } })
    const setStatus = async (status: 'failed' | 'succeeded') => {
      const found = asSite(await core.provisioning.readRequest(asKim, { requestId }))
      await core.ports.requests.update({ ...found, status, version: found.version + 1 })
    }
    await setStatus('failed')
    const opened = await core.provisioning.draftFromRequest(asKim, { requestId })
    if (opened.step !== 'details') throw new Error('no form')
    const { draft } = opened
    const values = { displayName: 'Second', reason: 'x' }
    const reviewed = await core.provisioning.reviewDraft(asKim, {
      requestId: draft.requestId,
      version: draft.version,
      values,
    })
    if (reviewed.step !== 'review') throw new Error('no review')
    await setStatus('succeeded')
    const sent = await core.provisioning.submitDraft(asKim, {
      requestId: draft.requestId,
      version: reviewed.draft.version,
    })
    expect(sent.step === 'details' && named(sent.faults)).toEqual(['/templateId quota-reached'])
  })

  it('is reported on the empty form, before the person completes it', async () => {
    const { id: templateId } = await core.template({ quota: { openPerPerson: 1 }, approval: null })
    const faultsOfForm = async () => {
      const opened = await core.provisioning.openDraft(asKim, { templateId })
      return opened.step === 'details' && named(opened.faults)
    }
    expect(await faultsOfForm()).toEqual([])
    await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'The only one' } })
    expect(await faultsOfForm()).toEqual(['/templateId quota-reached'])
  })

  it('counts open requests of people but not of applications', async () => {
    const { id: templateId } = await core.template({ kind: 'roomMailbox', quota: { openPerPerson: 1 } })
    const application = { ...asKim, id: randomUUID(), clientId: randomUUID() }
    const submit = (name: string, who: typeof asKim = asKim) =>
      core.provisioning.submitMailbox(who, { body: { templateId, displayName: 'Room', name } })
    await submit('one', application)
    expect((await submit('two', application)).status).toBe('queued')
    await submit('three')
    expect(named((await refusal(() => submit('four'))).faults)).toEqual(['/templateId quota-reached'])
  })
})

describe('blocked words', () => {
  const core = withCore()

  it('are refused in typed texts and removed from the directory’s values', async () => {
    const naming = {
      ...{ displayName: { pattern: '{department} {metadata.team} {input}' }, blockedWords: ['payroll', 'ceo'] },
      alias: { pattern: '{department}-{input}' },
    }
    const { id: templateId } = await core.template({ naming, fields: [{ key: 'team', type: 'text', label: 'Team' }] })
    core.world.profiles.set(kim.id, { department: 'Payroll' })
    const submit = (team: string, displayName = 'Club') =>
      core.provisioning.submitSite(asKim, { body: { templateId, displayName, metadata: { team } } })
    expect(named((await refusal(() => submit('CEO'))).faults)).toEqual(['/metadata/team blocked-word'])
    expect(named((await refusal(() => submit('A', 'Payroll'))).faults)).toEqual(['/displayName blocked-word'])
    const { details, alias } = asSite(await submit('A'))
    expect([details.displayName, alias]).toEqual(['A Club', 'club'])
  })

  it('are found even with invisible characters', async () => {
    const { id: templateId } = await core.template({ naming: { blockedWords: ['ceo'] } })
    for (const displayName of ['C\u200bEO', 'C\u00adEO office', '\u2060ceo'])
      expect(
        named((await refusal(() => core.provisioning.submitSite(asKim, { body: { templateId, displayName } }))).faults),
      ).toContain('/displayName blocked-word')
    expect(
      asSite(await core.provisioning.submitSite(actorOf(dana), { body: { templateId, displayName: 'Ceol' } })).alias,
    ).toBe('ceol')
  })
})
