import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { clicking } from '../support/bot-activities.ts'
import { action, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { connectorUrl } from '../support/connector-keys.ts'
import { withGuardedBot } from '../support/guarded-bot.ts'
import { templates } from '../support/service.ts'
import type { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** The maximum number of people in one request for a mailbox, and in one call of Graph. */
const maxPeople = 100
const peopleOfOneCall = 15
const callsForAll = Math.ceil(maxPeople / peopleOfOneCall)

/** Helpers of the flood tests: the service with its guard in front of the bot. */
function world(variables: Record<string, string>) {
  const { keys, service, post, bearer } = withGuardedBot(variables)
  const mailbox = () => ({
    ...{ templateId: templates.sharedMailbox, displayName: 'Flood', name: `flood-${randomUUID().slice(0, 8)}` },
  })
  const naming = (ids: readonly string[]) => ({
    ...mailbox(),
    permissions: Object.fromEntries(ids.map((id) => [id, 'FullAccess'])),
  })
  const graphCalls = async () => (await service.calls()).filter(({ operation }) => operation.startsWith('graph.'))
  return {
    service,
    naming,
    strangers: (count = maxPeople) => Array.from({ length: count }, () => randomUUID()),
    preview: (ids: readonly string[]) => service.rest('kim', 'POST', '/requests/v1/preview', naming(ids)),
    graphCalls,
    /** Returns the calls after the given number of calls that looked up several people. */
    lookUpsSince: async (count: number) =>
      (await graphCalls()).slice(count).filter(({ path }) => decodeURIComponent(path).includes('id in (')),
    async click(who: keyof typeof people, verb: string, data: object) {
      const answer = await post(clicking(who, verb, data, { serviceUrl: connectorUrl }), bearer(await keys.token()))
      expect(answer.status).toBe(200)
      return JSON.parse(answer.text)
    },
  }
}

describe('previews with many people', () => {
  const { service, preview, strangers, graphCalls, lookUpsSince, naming } = world({ RATE_LIMIT_READS_PER_MINUTE: '40' })
  afterEach(() => service.restart())

  it('look up fifteen people at a time, and cache unknown people for a minute', async () => {
    const ids = strangers()
    const before = (await graphCalls()).length
    const first = await preview(ids)
    expect(first.body['errors']).toHaveLength(maxPeople)
    expect(await lookUpsSince(before)).toHaveLength(callsForAll)
    const between = (await graphCalls()).length
    expect((await preview(ids)).body['errors']).toHaveLength(maxPeople)
    expect(await lookUpsSince(between)).toEqual([])
  })

  it('look up nobody if there are too many', async () => {
    const before = (await graphCalls()).length
    const { status, body } = await preview(strangers(maxPeople + 1))
    expect([status, body['errors']]).toMatchObject([200, [{ pointer: '#/permissions' }]])
    const site = { templateId: templates.workingGroup, displayName: 'Crowd', owners: strangers(20) }
    const crowd = await service.rest('kim', 'POST', '/requests/v1/preview', site)
    expect(crowd.body['errors']).toMatchObject([{ pointer: '#/owners', code: 'too-long' }])
    expect(await lookUpsSince(before)).toEqual([])
  })

  it('count as one read for each fifteen people', async () => {
    const left = ({ headers }: { headers: Headers }) => /"reads";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]
    expect(left(await preview(strangers(peopleOfOneCall)))).toBe('39')
    // One call comes back in 1.5 seconds.
    const regained = Number(left(await preview(strangers()))) - (39 - callsForAll)
    expect(regained).toBeOneOf([0, 1, 2])
    const row = (key: string) => ({ key, body: naming(strangers()) })
    const order = { dryRun: true, resource: 'site', rows: ['a', 'b', 'c', 'd', 'e'].map(row) }
    const refused = await service.rest('kim', 'POST', '/requests/v1/batch', order)
    expect([refused.status, refused.body]).toMatchObject([
      429,
      {
        code: 'rate-limited',
        detail: expect.stringMatching(/^The limit is 40 reads a minute\. This call counts as 35\. /),
      },
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('a flood of previews by one person', () => {
  const { service, preview, strangers, graphCalls, click } = world({ RATE_LIMIT_READS_PER_MINUTE: '60' })

  it('does not delay other people, and causes a limited number of calls to Microsoft Graph', async () => {
    const before = (await graphCalls()).length
    const flood = Array.from({ length: 300 }, () => preview(strangers()))
    const [dana, omar, list] = await Promise.all([
      click('dana', 'request.choose', { templateId: templates.projectSite }),
      click('omar', 'request.choose', { templateId: templates.sharedMailbox }),
      service.rest('omar', 'GET', '/requests/v1/'),
    ])
    expect(JSON.stringify(dana.value)).toContain('Project site')
    expect(JSON.stringify(omar.value)).toContain('Shared mailbox')
    expect([list.status, list.body]).toMatchObject([200, { value: [] }])
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([])
    // The limit allows some 8 previews, and one more every 7 seconds. One call for each person would be 30,000.
    expect((await graphCalls()).length - before).toBeLessThan(1000)
  })
})

describe('a flood of previews whose look-ups Microsoft Graph does not answer', () => {
  const { service, preview, strangers, click } = world({})

  it('blocks neither identity checks nor the clicks and reads of other people', async () => {
    await service.fault({ operation: 'graph.users.list', kind: 'holdAfterCommit', count: 100_000 })
    const flood = Array.from({ length: 20 }, () => preview(strangers()))
    // The first answer is a refusal. Running previews receive no answer, and waiting previews time out before.
    const { body, headers } = await Promise.any(flood)
    expect(body).toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/^Too many (previews|calls to .+) are waiting\./),
    })
    expect(headers.get('retry-after')).toBe('5')
    const [dana, list] = await Promise.all([
      click('dana', 'request.choose', { templateId: templates.projectSite }),
      service.rest('omar', 'GET', '/requests/v1/'),
    ])
    expect(JSON.stringify(dana.value)).toContain('Project site')
    expect(list.status).toBe(200)
    expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(flood.map(() => 503))
    await service.heal()
    await until(async () => (await preview(strangers())).status === 200 || undefined, 'an answer to the same person')
  })
})

describe('forms in chat that are checked too often', () => {
  const { service, click } = world({ RATE_LIMIT_READS_PER_MINUTE: '1' })

  it('stay unchanged, without another check', async () => {
    const form = (await click('kim', 'request.choose', { templateId: templates.projectSite })).value
    const check = (card: Card, displayName: string) => {
      const { verb, data } = action(card, 'Check name')
      return click('kim', String(verb), { ...Object(data), ...valuesOf(card), displayName })
    }
    const { type, value: checked } = await check(form, 'Lyra')
    expect([type, valuesOf(checked)['displayName']]).toEqual(['application/vnd.microsoft.card.adaptive', 'Lyra'])
    const before = (await service.calls()).length
    expect(await check(checked, 'Vega')).toMatchObject({
      type: 'application/vnd.microsoft.activity.message',
      value: expect.stringMatching(/^Too many of your checks are running\..* still here\./),
    })
    expect((await service.calls()).slice(before)).toEqual([])
  })
})
