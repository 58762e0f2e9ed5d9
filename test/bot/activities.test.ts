import { randomInt, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { refusals, withGuardedBot } from '../support/guarded-bot.ts'
import { templates } from '../support/service.ts'
import { contosoTenant } from '../support/teams-user.ts'

describe('an activity with a valid token', () => {
  const { keys, click, postWith, refused } = withGuardedBot()

  it.each(['from', 'recipient', 'conversation', 'channelId', 'type'])(
    'an activity without %s, or with another type in its place, is 400',
    async (field) => {
      for (const value of [undefined, null, 5, true, [], '']) {
        const { status } = await postWith(keys.token(), click({ [field]: value }))
        expect([field, value, status]).toEqual([field, value, 400])
      }
    },
  )

  it.each<[string, Record<string, unknown>]>([
    ['locale', { locale: 5 }],
    ['localTimezone', { localTimezone: {} }],
    ['text', { text: ['help'] }],
    ['replyToId', { replyToId: { $ne: null } }],
    ['id', { id: 7 }],
    ['name', { name: ['adaptiveCard/action'] }],
    ['timestamp', { timestamp: 1 }],
    ['conversation.id', { conversation: { id: ['a'], tenantId: contosoTenant } }],
    ['from.aadObjectId', { from: { id: 'a', aadObjectId: ['11111111-aaaa-4aaa-8aaa-000000000004'] } }],
    ['channelData', { channelData: 'tenant' }],
  ])('gets 400 if %s has another type', (_, change) =>
    refused(400, refusals[400], () => postWith(keys.token(), click(change))),
  )

  it.each([
    ['text', 'hello', 400],
    ['null', 'null', 400],
    ['an array', '[]', 400],
    ['a number', '1', 400],
    ['an empty text', '', 400],
    ['half a body', '{"type":"invoke"', 400],
    ['a key twice', '{"type":"invoke","type":"message"}', 400],
    ['a hundred levels', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 400],
  ])('gets a 4xx if the body is %s', async (_, body) => {
    const { status } = await postWith(keys.token(), body)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })

  it('gets 400 if it is an unknown invoke', async () => {
    for (const name of ['composeExtension/query', 'task/fetch', 'fileConsent/invoke', 'signin/verifyState', ''])
      expect(await postWith(keys.token(), click({ name }))).toMatchObject({ status: 400, text: '' })
  })

  it('is repaired if it contains text that the store does not accept', async () => {
    const conversation = {
      id: 'with \0 in it',
      tenantId: contosoTenant,
      conversationType: 'personal',
      'k\0y': '\ud83d',
    }
    const { status } = await postWith(
      keys.token(),
      click({ conversation, id: `\0${randomUUID()}`, locale: 'e\ud83dn' }),
    )
    expect(status).toBe(200)
  })

  it('never gets a 5xx or an unexpected error after random changes', async () => {
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))
    const random = mulberry32(seed)
    const failures: string[] = []
    const token = await keys.token()
    for (let round = 0; round < 40; round += 1) {
      const bodies = Array.from({ length: 10 }, () => mutated({ ...click(), id: randomUUID() }, random))
      const answers = await Promise.all(bodies.map((body) => postWith(token, body)))
      for (const [index, { status, text }] of answers.entries())
        if (status >= 500 || text.includes('tell an admin'))
          failures.push(`${status} ${text} to ${JSON.stringify(bodies[index])}`)
    }
    expect(failures, `TEST_SEED=${seed}`).toEqual([])
  })
})

const oddValues: readonly unknown[] = [
  ...[null, true, -1, 1e300, '', '\0', '\ud83d', '\u202e', 'a'.repeat(10_000), '../../..', "' or 1=1 --", '{{x}}'],
  ...[[], {}, [[[]]], { $gt: '' }, { constructor: { prototype: 1 } }, ['msteams'], '0', 0, templates.newsSite],
]

/**
 * Returns an activity with one or two values changed or removed. Never creates a message, whose answer would be a call.
 */
function mutated(activity: Record<string, unknown>, random: () => number): unknown {
  const copy = structuredClone(activity)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  for (let change = 0; change < 1 + Math.floor(random() * 2); change += 1) {
    let current: Record<string, unknown> = copy
    for (;;) {
      const key = pick(Object.keys(current))
      if (key === undefined) break
      const inner = current[key]
      if (typeof inner === 'object' && inner !== null && random() < 0.7) {
        current = inner as Record<string, unknown>
        continue
      }
      if (random() < 0.25) delete current[key]
      // A copy, because the next change may alter this value: a shared value would change later activities or form a
      // cycle.
      else current[key] = structuredClone(pick(oddValues))
      break
    }
  }
  return copy
}
