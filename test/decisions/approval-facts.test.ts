import { describe, expect, it } from 'vitest'
import { actorOf, dana, kim, omar, withCore } from '../support/core.ts'

describe('the facts of an approval card', () => {
  const core = withCore()
  const read = (requestId: string) => core.provisioning.readForApproval(actorOf(dana), { requestId })
  async function templates(): Promise<[string, string]> {
    const approval = { stages: [{ approvers: [{ user: dana.id }] }] }
    return [(await core.template({ approval })).id, (await core.template({ approval })).id]
  }
  const submit = async (who: typeof kim, displayName: string, templateId: string) =>
    (await core.provisioning.submitSite(actorOf(who), { body: { displayName, templateId } })).requestId

  it('name other waiting requests with a similar name, earlier or later', async () => {
    const [one, other] = await templates()
    const first = await submit(omar, 'Project Nebula', one)
    const second = await submit(kim, 'Nebula project site', other)
    const unlike = await submit(kim, 'Choir rehearsals', one)
    const duplicatesOf = async (requestId: string) =>
      (await read(requestId)).facts.duplicates.map((request) => request.requestId)
    expect(await duplicatesOf(first)).toEqual([second])
    expect(await duplicatesOf(second)).toEqual([first])
    expect(await duplicatesOf(unlike)).toEqual([])
    await core.provisioning.reject(actorOf(dana), { requestId: first, comment: 'No.' })
    expect(await duplicatesOf(second)).toEqual([])
  })

  it('say whether the address is free now', async () => {
    const [one] = await templates()
    const requestId = await submit(kim, 'Orbit', one)
    expect((await read(requestId)).facts.address).toBe('free')
    core.world.taken.add('orbit')
    expect((await read(requestId)).facts.address).toBe('taken')
  })
})
