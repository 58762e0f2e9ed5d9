import { describe, expect, it } from 'vitest'
import { actorOf, dana, kim, omar, priya, withCore } from '../support/core.ts'
import { detailOf, named, refusal, shownFaults } from '../support/refusal.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const asKim = actorOf(kim)
/** The only person at Contoso without a mailbox. */
const max = '11111111-aaaa-4aaa-8aaa-000000000045'

describe('access to a mailbox', () => {
  const core = withCore()
  const validBody = async (more: object) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    return { name: `box-${templateId.slice(0, 8)}`, displayName: 'Box', templateId, ...more }
  }

  it('is refused for each person without a mailbox, by name', async () => {
    core.world.withoutMailbox.add(dana.id).add(omar.id).add(priya.id)
    const permissions = { [dana.id]: 'FullAccess', [omar.id]: 'SendAs', [priya.id]: 'None', [kim.id]: 'SendAs' }
    const body = await validBody({ permissions, primaryOwner: priya.id })
    const { code, faults } = await refusal(() => core.provisioning.submitMailbox(asKim, { body }))
    core.world.withoutMailbox.clear()
    expect(code).toBe('validation-failed')
    expect(shownFaults(faults)).toEqual(
      [dana, omar].map(({ id, displayName }) => ({
        pointer: `/permissions/${id}`,
        code: 'no-mailbox',
        detail: `${displayName} has no mailbox and cannot get access. Choose somebody else.`,
      })),
    )
  })
})

describe('a person without a mailbox', () => {
  const core = withCore()
  const contoso = withTenant()
  const refused = async (more: object) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const { tenant, directory } = contoso
    const body = { name: 'box', displayName: 'Box', templateId, ...more }
    return refusal(() => core.with({ tenant, directory }).submitMailbox(asKim, { body }))
  }

  it.each(['contoso.example', 'contoso-labs.example'])(
    'keeps their sign-in name, which no new mailbox at %s gets',
    async (domain) => {
      const { code, faults } = await refused({ name: 'max.frei', domain })
      expect([code, ...named(faults), faults[0]?.suggestion]).toEqual(['name-taken', '/name name-taken', 'max.frei-2'])
    },
  )

  it('cannot get access', async () => {
    const { faults } = await refused({ permissions: { [max]: 'SendAs', [dana.id]: 'FullAccess' } })
    expect(faults).toMatchObject([{ pointer: `/permissions/${max}`, code: 'no-mailbox' }])
    expect(detailOf(faults[0])).toContain('Max Frei')
  })
})
