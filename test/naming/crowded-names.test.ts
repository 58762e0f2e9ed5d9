import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { actorOf, asSite, kim, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

describe('a name that many have', () => {
  const core = withCore()
  const asked: string[] = []
  let together = 0
  let most = 0
  beforeEach(() => {
    asked.splice(0)
    core.world.taken.clear()
    most = 0
  })
  /** The core over a directory that counts what it is asked, and how much of it at the same time. */
  const counting = () => {
    const { directory } = core.ports
    return core.with({
      directory: {
        ...directory,
        async isSiteAddressFree(alias) {
          asked.push(alias)
          together += 1
          most = Math.max(most, together)
          // Later ones are answered sooner, so that order is not what came first.
          await new Promise((resolve) => setTimeout(resolve, 20 - asked.length))
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

  it('costs one question when it is free', async () => {
    expect((await submit('Rare')).alias).toBe('rare')
    expect(asked).toEqual(['rare'])
  })

  it('becomes the first free one in order, looked for three at a time and no further', async () => {
    take('many', 'many-2', 'many-3')
    expect((await submit('Many')).alias).toBe('many-4')
    expect(asked).toEqual(['many', 'many-2', 'many-3', 'many-4'])
    expect(most).toBe(3)
  })

  it('is made of the request’s id after eight', async () => {
    const requestId = randomUUID()
    take('crowd', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `crowd-${number}`))
    const own = `crowd-${requestId.slice(0, 8)}`
    expect((await submit('Crowd', {}, requestId)).alias).toBe(own)
    expect(asked).toHaveLength(9)
    expect(most).toBeLessThanOrEqual(3)
  })

  it('is only suggested when another was asked for', async () => {
    take('wanted', 'wanted-2')
    const { code, faults } = await refusal(() => submit('Anything', { alias: 'wanted' }))
    expect([code, faults[0]?.suggestion]).toEqual(['name-taken', 'wanted-3'])
  })
})
