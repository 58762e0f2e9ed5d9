import { describe, expect, it } from 'vitest'
import { verbs } from '../../src/cards/shared/verbs.ts'
import { rowsOf } from '../support/rows.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, decisionAbout, readsAfter } from '../support/site-request.ts'

describe('an automatic call of a client that shows a card', () => {
  const service = withService()
  const { stateOf, count } = rowsOf(service)
  const byItself = (verb: string, data: object, trigger: unknown) => ({
    value: { action: { type: 'Action.Execute', verb, data }, trigger },
  })

  it('may only read, even with the verb of a decision', async () => {
    const { kim, dana, sam } = service
    await dana.installs()
    const { requestId } = await asksFor(kim, { displayName: 'Decided by nobody' })
    await decisionAbout(dana, 'Decided by nobody')
    const data = { requestId, version: 1, comment: 'x', templateId: templates.projectSite, letterId: requestId }
    const before = [await stateOf(requestId), await count('audit_log'), await count('drafts')]
    for (const verb of verbs)
      for (const trigger of ['automatic', 'Manual', '', 5, null, {}])
        for (const who of [kim, dana, sam]) {
          const read = readsAfter(await who.invokes('no-activity', verb, data, byItself(verb, data, trigger)))
          expect(read, `${verb} ${JSON.stringify(trigger)}`).toMatch(
            verb === 'digest.refresh'
              ? /needs your attention/i
              : verb.endsWith('.refresh')
                ? /Decided by nobody/
                : /This card is outdated/,
          )
        }
    expect([await stateOf(requestId), await count('audit_log'), await count('drafts')]).toEqual(before)
    expect(readsAfter(await dana.invokes('no-activity', 'approval.approve', data))).toContain('Approved by you')
  })
})
