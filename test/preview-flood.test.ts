import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { clicking, saying } from './support/bot-activities.ts'
import { connectorUrl } from './support/connector-keys.ts'
import { withGuardedBot } from './support/guarded-bot.ts'
import { templates } from './support/service.ts'

/** The most people that one request for a mailbox may name. */
const people = 100

describe('a flood of previews by one person', () => {
  const { keys, service, post, bearer } = withGuardedBot({ RATE_LIMIT_READS_PER_MINUTE: '300' })
  const preview = (ids: readonly string[]) =>
    service.rest('kim', 'POST', '/requests/v1/preview', {
      ...{ templateId: templates.sharedMailbox, displayName: 'Flood', name: `flood-${randomUUID().slice(0, 8)}` },
      permissions: Object.fromEntries(ids.map((id) => [id, 'FullAccess'])),
    })
  const strangers = () => Array.from({ length: people }, () => randomUUID())
  const graphCalls = async () => (await service.calls()).filter(({ operation }) => operation.startsWith('graph.'))

  it('looks people up fifteen at a time, and remembers for a minute that nobody has an id', async () => {
    const ids = strangers()
    const before = (await graphCalls()).length
    const first = await preview(ids)
    expect(first.body).toMatchObject({ valid: false })
    const asked = (await graphCalls()).slice(before).filter(({ operation }) => operation === 'graph.users.list')
    const lookUps = asked.filter(({ path }) => decodeURIComponent(path).includes('id in ('))
    expect(lookUps).toHaveLength(Math.ceil(people / 15))
    const between = (await graphCalls()).length
    const again = await preview(ids)
    expect(again.body['errors']).toEqual(first.body['errors'])
    const repeated = (await graphCalls()).slice(between).map(({ path }) => decodeURIComponent(path))
    expect(repeated.filter((path) => path.includes('id in ('))).toEqual([])
  })

  it('leaves everybody else their answers, at a bounded number of calls to Microsoft Graph', {
    timeout: 60_000,
  }, async () => {
    const before = (await graphCalls()).length
    const flood = Array.from({ length: 300 }, () => preview(strangers()))
    let answered = 0
    for (const one of flood) void one.then(() => (answered += 1))
    const say = async (text: string, who: 'dana' | 'omar') =>
      post({ ...saying(who, text), serviceUrl: connectorUrl }, bearer(await keys.token()))
    const click = async (who: 'dana' | 'omar') =>
      post(
        clicking(who, 'request.choose', { templateId: templates.projectSite }, { serviceUrl: connectorUrl }),
        bearer(await keys.token()),
      )
    const [clicked, other, read] = await Promise.all([
      click('dana'),
      click('omar'),
      service.rest('omar', 'GET', '/requests/v1/'),
    ])
    for (const answer of [clicked, other]) {
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('Project site')
    }
    expect([read.status, read.body]).toMatchObject([200, { value: [] }])
    void say
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    expect(answered).toBe(300)
    expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([])
    expect((await graphCalls()).length - before).toBeLessThan(1000)
  })
})
