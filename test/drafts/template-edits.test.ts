import { describe, expect, it } from 'vitest'
import { type DraftView, isForMailboxPlan, type Template, template } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, tenantId, withCore } from '../support/core.ts'

const asKim = actorOf(kim)

describe('an open draft, after an admin has edited its template', () => {
  const core = withCore()
  /** Edits a template as an admin does, and stores its next version. */
  async function edit(before: Template, change: object): Promise<Template> {
    const edited = template.parse({ ...before, ...change, version: before.version + 1 })
    if (!(await core.ports.templates.put(tenantId, edited, before.version))) throw new Error('the template has changed')
    return edited
  }
  const opens = async ({ id: templateId }: Template) => {
    const opened = await core.provisioning.openDraft(asKim, { templateId })
    if (opened.step !== 'details') throw new Error(`the form is at ${opened.step}`)
    return opened.draft
  }
  const reviews = ({ requestId, version }: { requestId: string; version: number }, values: Record<string, string>) =>
    core.provisioning.reviewDraft(asKim, { requestId, version, values })
  const faultsOf = (view: DraftView) =>
    view.step === 'details' ? view.faults.map(({ pointer, code }) => `${pointer} ${code}`) : view.step

  it.each([
    ['sets', { capacity: { fixed: 10_000 }, city: { fixed: 'Bern' } }, { capacity: 10_000, city: 'Bern' }],
    ['hides', { capacity: { shown: false }, city: { shown: false, default: 'Bern' } }, { city: 'Bern' }],
  ])('leaves out the values of fields that the template %s', async (how, properties, expected) => {
    const before = await core.template({ kind: 'sharedMailbox', properties: { capacity: { default: 50_000 } } })
    const draft = await opens(before)
    expect(draft.values).toMatchObject({ capacity: '50000' })
    await edit(before, { properties })
    const view = await reviews(draft, { displayName: 'Desk', name: `desk-${how}`, city: 'Geneva' })
    expect(faultsOf(view)).toBe('review')
    if (view.step !== 'review' || !isForMailboxPlan(view.plan)) throw new Error('no review of a mailbox')
    const { capacity, city } = view.plan.details
    expect({ ...(capacity !== undefined && { capacity }), city }).toEqual(expected)
  })

  it('leaves out people with a level of access that the template no longer allows', async () => {
    const before = await core.template({ kind: 'sharedMailbox' })
    const draft = await opens(before)
    const people = { 'permissions.FullAccess': dana.id, 'permissions.SendAs': `${dana.id},${omar.id}` }
    const values = { displayName: 'Orders', name: 'orders', ...people }
    const twice = await reviews(draft, values)
    expect(faultsOf(twice)).toEqual([`/permissions/${dana.id} chosen-twice`])
    const edited = await edit(before, { limits: { accessLevels: ['FullAccess'] } })
    const view = await reviews({ ...draft, version: draft.version + 1 }, {})
    expect(faultsOf(view)).toBe('review')
    if (view.step !== 'review' || !isForMailboxPlan(view.plan)) throw new Error('no review of a mailbox')
    expect(view.plan.details.permissions).toEqual({ [dana.id]: 'FullAccess' })
    await edit(edited, { limits: { permissionsMaximum: 0 } })
    const back = await core.provisioning.editDraft(asKim, { requestId: draft.requestId, version: view.draft.version })
    if (back.step !== 'details') throw new Error(`the form is at ${back.step}`)
    const without = await reviews(back.draft, {})
    expect(without).toMatchObject({ step: 'review', plan: { details: { permissions: {} } } })
  })

  it('leaves out a label that the template no longer has, and requires another one', async () => {
    const [open, closed] = [
      { id: 'b1', name: 'Public' },
      { id: 'b2', name: 'Internal' },
    ]
    const before = await core.template({ labels: { allowed: [open, closed], default: null } })
    const draft = await opens(before)
    const edited = await edit(before, { labels: { allowed: [open], default: null } })
    const view = await reviews(draft, { displayName: 'Aurora', labelId: 'b2' })
    expect(faultsOf(view)).toEqual(['/labelId required'])
    await edit(edited, { labels: { allowed: [], default: null } })
    const version = draft.version + 1
    expect(await reviews({ ...draft, version }, {})).toMatchObject({
      step: 'review',
      plan: { details: { labelId: '' } },
    })
  })

  it('continues with the defaults of new fields, and has one new version for them', async () => {
    const before = await core.template()
    const { requestId, version } = await opens(before)
    await edit(before, { fields: [{ key: 'team', type: 'text', label: 'Team', default: 'North' }] })
    for (const _ of [1, 2])
      expect(await core.provisioning.continueDraft(asKim, { requestId })).toMatchObject({
        step: 'details',
        draft: { version: version + 1, values: { 'metadata.team': 'North' } },
      })
    const started = await core.provisioning.listDrafts(asKim)
    expect(started.map((draft) => draft.requestId)).not.toContain(requestId)
  })

  const reviewed = async (before: Template, values: Record<string, string>) => {
    const view = await reviews(await opens(before), values)
    if (view.step !== 'review') throw new Error(`not reviewed: ${faultsOf(view)}`)
    return view.draft
  }
  const sends = ({ requestId, version }: { requestId: string; version: number }) =>
    core.provisioning.submitDraft(asKim, { requestId, version })

  it('is reviewed again before it is sent under new rules, and is then sent once', async () => {
    const before = await core.template()
    const draft = await reviewed(before, { displayName: 'Borealis', reason: 'For the club.' })
    await edit(before, {
      naming: { alias: { pattern: 'club-{input}' } },
      approval: { stages: [{ approvers: [{ user: dana.id }] }] },
    })
    const again = await sends(draft)
    expect(again).toMatchObject({
      step: 'review',
      templateChanged: true,
      draft: { values: { displayName: 'Borealis' } },
      plan: { url: expect.stringMatching(/\/club-borealis$/), approvals: [{ approvers: [{ id: dana.id }] }] },
    })
    expect(await sends(draft)).toMatchObject({ step: 'review', templateChanged: false })
    if (again.step !== 'review') throw new Error(`no review: ${again.step}`)
    for (const _ of [1, 2])
      expect(await sends(again.draft)).toMatchObject({ step: 'submitted', request: { status: 'pendingApproval' } })
  })

  it('returns to its form, with its values, if new rules require more', async () => {
    const before = await core.template()
    const draft = await reviewed(before, { displayName: 'Cassini' })
    await edit(before, { approval: { stages: [{ approvers: [{ user: dana.id }] }] } })
    const view = await sends(draft)
    expect(faultsOf(view)).toEqual(['/reason required'])
    expect(view).toMatchObject({ outdated: true, draft: { values: { displayName: 'Cassini' } } })
  })

  it('is reviewed again, with the new rules, when the person adds themselves', async () => {
    const { id } = dana
    const before = await core.template({ kind: 'sharedMailbox' })
    const draft = await reviewed(before, { displayName: 'Fornax', name: 'fornax', 'permissions.FullAccess': id })
    await edit(before, { description: 'For clubs' })
    const { requestId, version } = draft
    const joined = await core.provisioning.joinDraft(asKim, { requestId, version, values: {} })
    expect(joined).toMatchObject({ step: 'review', templateChanged: true })
  })

  it('is sent from the review that it continues with, if this review shows the new rules', async () => {
    const before = await core.template()
    const { requestId } = await reviewed(before, { displayName: 'Deneb' })
    await edit(before, { naming: { alias: { pattern: 'club-{input}' } } })
    const view = await core.provisioning.continueDraft(asKim, { requestId })
    if (view.step !== 'review') throw new Error(`no review: ${view.step}`)
    expect(await sends(view.draft)).toMatchObject({ step: 'submitted', request: { alias: 'club-deneb' } })
  })

  it('is sent as before if an earlier version of the service has stored its review', async () => {
    const before = await core.template()
    const { templateVersion, ...draft } = await reviewed(before, { displayName: 'Electra' })
    expect(templateVersion).toBe(before.version)
    const stored = { ...draft, version: draft.version + 1 }
    expect(await core.ports.drafts.update(stored)).toBe(true)
    await edit(before, { description: 'For clubs' })
    expect(await sends(stored)).toMatchObject({ step: 'submitted' })
  })
})
