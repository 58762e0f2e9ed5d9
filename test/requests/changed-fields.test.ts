import { describe, expect, it } from 'vitest'
import { formInputIds } from '../../src/cards/index.ts'
import type { Template } from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, withCore } from '../support/core.ts'

const asKim = actorOf(kim)

describe('the changed fields since an earlier request', () => {
  const core = withCore()
  const { permissions, ...plain } = {
    displayName: 'Help desk',
    permissions: { [dana.id]: 'FullAccess', [omar.id]: 'FullAccess', [kim.id]: 'SendAs' },
    tags: ['Quiet', 'North'],
  }
  let names = 0
  const submitted = async (more: object = {}, of: object = {}) => {
    names += 1
    const template = await core.template({ kind: 'sharedMailbox', ...of })
    const body = { ...plain, permissions, name: `desk${names}`, templateId: template.id, ...more }
    return { template, request: await core.provisioning.submitMailbox(asKim, { body }) }
  }
  /** Returns the values that a client sends: all inputs of the form, with `false` for unticked boxes. */
  const filledIn = (template: Template, values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      formInputIds(template).map((id) => [
        id,
        values[id] ?? (id === 'autoMapping' ? 'true' : isBox(id) ? 'false' : ''),
      ]),
    )
  const isBox = (id: string) => id === 'hideFromGAL' || id === 'isAllowAutomaticReplyOverride'
  const reviewed = async (requestId: string, template: Template, changes: Record<string, string>, again = true) => {
    const { provisioning } = core
    const opened = again
      ? await provisioning.draftFromRequest(asKim, { requestId })
      : await provisioning.draftLikeRequest(asKim, { requestId })
    if (opened.step !== 'details') throw new Error(`no form, but: ${opened.step}`)
    const { draft } = opened
    const values = filledIn(template, { ...draft.values, ...changes })
    const view = await provisioning.reviewDraft(asKim, { requestId: draft.requestId, version: draft.version, values })
    if (view.step !== 'review') throw new Error(`not reviewed: ${JSON.stringify(view)}`)
    return { draft, view }
  }

  it('are empty for an unchanged form, with any format of boxes and lists', async () => {
    const { template, request } = await submitted()
    await core.provisioning.cancelRequest(asKim, { requestId: request.requestId })
    const { view } = await reviewed(request.requestId, template, {
      'permissions.FullAccess': `${omar.id},${dana.id}`,
      tags: 'North, Quiet',
    })
    expect(view.basedOn).toMatchObject({ how: 'resubmission', changed: [], ended: { status: 'cancelled' } })
  })

  it('contain each input with another meaning, also emptied inputs and ticked boxes', async () => {
    const { template, request } = await submitted()
    await core.provisioning.cancelRequest(asKim, { requestId: request.requestId })
    const changes = { tags: '', 'permissions.SendAs': omar.id, 'permissions.FullAccess': dana.id }
    const { view } = await reviewed(request.requestId, template, {
      ...changes,
      autoMapping: 'false',
      hideFromGAL: 'true',
    })
    expect(view.basedOn?.changed.toSorted()).toEqual(
      ['autoMapping', 'hideFromGAL', 'permissions.FullAccess', 'permissions.SendAs', 'tags'].toSorted(),
    )
  })

  it('contain the names for a repeat, because its form opens without the unique names', async () => {
    const { template, request } = await submitted({ alias: 'hello' })
    const made = { ...request, status: 'succeeded' as const, version: request.version + 1 }
    await core.ports.requests.update(made)
    const { draft, view } = await reviewed(request.requestId, template, { name: 'second' }, false)
    expect(draft.values).toMatchObject({ displayName: 'Help desk' })
    expect(Object.keys(draft.values).filter((id) => id === 'name' || id === 'alias')).toEqual([])
    expect(view.basedOn).toMatchObject({ how: 'repeat', changed: expect.arrayContaining(['name', 'alias']) })
    expect(view.basedOn?.changed).toHaveLength(2)
  })

  it('contain properties that the template now fixes or hides, and access that it no longer allows', async () => {
    const { template, request } = await submitted({ city: 'Bern', department: 'Sales' })
    await core.provisioning.cancelRequest(asKim, { requestId: request.requestId })
    const { tenantId } = asKim
    const next = { ...template, version: 2, limits: { ...template.limits, accessLevels: ['FullAccess' as const] } }
    const rules = {
      city: { shown: true, required: false, fixed: 'Zürich' },
      department: { shown: false, required: false },
    }
    await core.ports.templates.put(tenantId, { ...next, properties: rules }, 1)
    const { draft, view } = await reviewed(request.requestId, { ...next, properties: rules }, {})
    for (const removed of ['city', 'department', 'permissions.SendAs'])
      expect(Object.keys(draft.values)).not.toContain(removed)
    expect(view.basedOn?.changed.toSorted()).toEqual(['city', 'department', 'permissions.SendAs'])
  })

  it('are not available for another person’s request: the status opens instead', async () => {
    const { request } = await submitted()
    await core.provisioning.cancelRequest(asKim, { requestId: request.requestId })
    const asAdmin = actorOf(dana, true)
    for (const view of [
      await core.provisioning.draftFromRequest(asAdmin, { requestId: request.requestId }),
      await core.provisioning.draftLikeRequest(asAdmin, { requestId: request.requestId }),
    ])
      expect(view).toMatchObject({ step: 'submitted', request: { requestId: request.requestId } })
  })
})
