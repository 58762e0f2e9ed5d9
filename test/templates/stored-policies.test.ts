import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { actorOf, asSite, dana, kim, tenantId, withCore } from '../support/core.ts'
import { named, refusal, shownFaults } from '../support/refusal.ts'

const asKim = actorOf(kim)

describe('what the version before has stored', () => {
  const core = withCore()
  /** Each of these could be written then, and is refused today. */
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

  it('is still listed, used and read', async () => {
    expect((await core.provisioning.listTemplates(asKim)).map(({ name }) => name)).toEqual(['Old'])
    const body = { templateId: old.id, displayName: 'Old club', metadata: { c: 'one', d: 'one' } }
    const { requestId } = await core.provisioning.submitSite(asKim, { body })
    expect((await core.provisioning.readRequest(asKim, { requestId })).status).toBe('queued')
  })
})

describe('a request that its template adds to', () => {
  const core = withCore()

  it('is refused where the defaults make more answers than a request may have', async () => {
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

  it('hears that its template is of the other resource, whatever that template puts into requests', async () => {
    const { id: templateId } = await core.template({ kind: 'roomMailbox', properties: { city: { default: 'Bern' } } })
    const refused = await refusal(() => core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'x' } }))
    expect(named(refused.faults)).toEqual(['/templateId wrong-resource'])
  })
})

describe('numbers and quotas at their end', () => {
  const core = withCore()

  it('name the address that was looked at last when none of the numbers is free', async () => {
    const { id: templateId } = await core.template({ naming: { alias: { pattern: 'n-{counter}' } } })
    for (let number = 1; number <= 20; number += 1) core.world.taken.add(`n-${number}`)
    const body = { templateId, displayName: 'x' }
    const { faults } = await refusal(() => core.provisioning.submitSite(asKim, { body }))
    expect(shownFaults(faults)).toEqual([
      { code: 'name-taken', pointer: '/alias', detail: expect.stringContaining('n-20 is taken'), suggestion: '' },
    ])
    expect(asSite(await core.provisioning.submitSite(asKim, { body })).alias).toBe('n-21')
  })

  it('count what was made of a request that another was to take the place of', async () => {
    const { id: templateId } = await core.template({ quota: { resources: 1 } })
    const { requestId } = await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'First' } })
    const stood = async (status: 'failed' | 'succeeded') => {
      const found = asSite(await core.provisioning.readRequest(asKim, { requestId }))
      await core.ports.requests.update({ ...found, status, version: found.version + 1 })
    }
    await stood('failed')
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
    await stood('succeeded')
    const sent = await core.provisioning.submitDraft(asKim, {
      requestId: draft.requestId,
      version: reviewed.draft.version,
    })
    expect(sent.step === 'details' && named(sent.faults)).toEqual(['/templateId quota-reached'])
  })

  it('are told with the empty form, before anybody fills it in for nothing', async () => {
    const { id: templateId } = await core.template({ quota: { openPerPerson: 1 }, approval: null })
    const faultsOfForm = async () => {
      const opened = await core.provisioning.openDraft(asKim, { templateId })
      return opened.step === 'details' && named(opened.faults)
    }
    expect(await faultsOfForm()).toEqual([])
    await core.provisioning.submitSite(asKim, { body: { templateId, displayName: 'The only one' } })
    expect(await faultsOfForm()).toEqual(['/templateId quota-reached'])
  })

  it('count open requests of people, not of applications, which have many to ask for', async () => {
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

  it('are refused where somebody wrote them, and left out of what the directory says', async () => {
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

  it('are found with signs in them that nobody sees', async () => {
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
