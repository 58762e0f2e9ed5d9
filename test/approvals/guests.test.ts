import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { actorOf, approversGroup, dana, kim, omar, tenantId, withCore } from '../support/core.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

describe('a guest of the organisation', () => {
  const core = withCore()
  const asGuest = async (id: string, work: () => Promise<void>) => {
    core.world.guests.add(id)
    try {
      await work()
    } finally {
      core.world.guests.delete(id)
    }
  }
  const ask = async (...approvers: object[]) => {
    const { id } = await core.template({ approval: { stages: [{ approvers }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }

  it('has no access, not even as a member of an admin or approver group', async () => {
    await asGuest(dana.id, async () => {
      const refused = await refusal(() => core.provisioning.actor({ tenantId, id: dana.id }))
      expect([refused.code, sentenceOf(refused)]).toEqual([
        'forbidden',
        'You are a guest of this organisation. Guests cannot use this service.',
      ])
    })
  })

  it('never becomes an approver, neither as a member of a group nor by name', async () => {
    await asGuest(dana.id, async () => {
      const byGroup = await ask({ group: approversGroup })
      expect(byGroup.approvals[0]?.approvers.map(({ id }) => id)).not.toContain(dana.id)
      const byName = await ask({ user: dana.id }, { user: omar.id })
      expect(byName.approvals[0]?.approvers.map(({ id }) => id)).toEqual([omar.id])
    })
  })
})
