import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { actorOf, asSite, kim, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

describe('a name that many requests want', () => {
  const core = withCore()
  const checked: string[] = []
  let together = 0
  let most = 0
  beforeEach(() => {
    checked.splice(0)
    core.world.taken.clear()
    most = 0
  })
  /** Returns the core with a directory that records the checks and their concurrency. */
  const counting = () => {
    const { directory } = core.ports
    return core.with({
      directory: {
        ...directory,
        async isSiteAddressFree(alias) {
          checked.push(alias)
          together += 1
          most = Math.max(most, together)
          // Later checks are answered sooner, so that the order of names differs from the order of answers.
          await new Promise((resolve) => setTimeout(resolve, 20 - checked.length))
          together -= 1
          return directory.isSiteAddressFree(alias)
        },
      },
    })
  }
  const take = (...aliases: string[]) => {
    for (const alias of aliases) core.world.taken.add(alias)
  }
  const submit = async (displayName: string, more: object = {}, requestId: string = randomUUID()) => {
    const { id } = await core.template()
    return asSite(
      await counting().submitSite(actorOf(kim), { body: { displayName, templateId: id, ...more }, requestId }),
    )
  }

  it('needs one check when it is free', async () => {
    expect((await submit('Rare')).alias).toBe('rare')
    expect(checked).toEqual(['rare'])
  })

  it('is replaced by the first free name in order, with three checks at a time and none after that', async () => {
    take('many', 'many-2', 'many-3')
    expect((await submit('Many')).alias).toBe('many-4')
    expect(checked).toEqual(['many', 'many-2', 'many-3', 'many-4'])
    expect(most).toBe(3)
  })

  it('contains the request’s id after eight taken names', async () => {
    const requestId = randomUUID()
    take('crowd', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `crowd-${number}`))
    const own = `crowd-${requestId.slice(0, 8)}`
    expect((await submit('Crowd', {}, requestId)).alias).toBe(own)
    expect(checked).toHaveLength(9)
    expect(most).toBeLessThanOrEqual(3)
  })

  it('gets only a suggestion when a typed name is taken', async () => {
    take('wanted', 'wanted-2')
    const { code, faults } = await refusal(() => submit('Anything', { alias: 'wanted' }))
    expect([code, faults[0]?.suggestion]).toEqual(['name-taken', 'wanted-3'])
  })
})
