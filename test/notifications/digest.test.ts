import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  asWritten,
  because,
  createCheckResults,
  type Digest,
  type DigestNotice,
  isEmptyDigest,
  type Outbox,
  type Person,
  TenantError,
} from '../../src/core/index.ts'
import { viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, dana, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'

const hour = 3_600_000
/** A Friday in November, at midnight in Greenwich. */
const friday = Date.parse('2026-11-20T00:00:00Z')

describe('the daily digest', () => {
  const core = withCore()
  let now = friday
  const at = (moment: string) => {
    now = Date.parse(moment)
  }
  const sentCards: { to: string; what: string; notice: DigestNotice }[] = []
  const outbox: Outbox = {
    update: () => Promise.reject(new Error('nobody expected an update')),
    send: async ({ personId }, notice, what) => {
      if (notice.kind !== 'digest') throw new Error(`nobody expected ${what}`)
      sentCards.push({ to: personId, what, notice })
      return { state: 'sent', activityId: randomUUID() }
    },
  }
  let findChat = async (): Promise<string | undefined> => undefined
  const own = { databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, version: '0' }
  const core9 = (settings = {}) =>
    core.with(
      {
        clock: { now: () => new Date(now) },
        tenant: { ...core.ports.tenant, findChat: () => findChat(), health: async () => [] },
        ownHealth: { read: async () => ({ ...own, startedAt: new Date(now), watchedAt: new Date(now) }) },
      },
      { digest: { hour: 8 }, ...settings },
    )
  const meets = ({ id: personId }: Person, timeZone = 'Europe/Zurich', locale = 'de-CH') =>
    core.ports.conversations.put({
      ...{ tenantId, personId, conversationId: `chat of ${personId}`, reference: {} },
      ...{ locale, timeZone },
    })
  let templateId = ''
  const ask = async (displayName: string, submitted: string, ...approvers: Person[]) => {
    const before = now
    at(submitted)
    const stages = [{ approvers: approvers.map(({ id }) => ({ user: id })) }]
    if (approvers.length > 0) templateId = (await core.template({ approval: { stages } })).id
    const { requestId } = await core9().submitSite(actorOf(kim), { body: { displayName, templateId } })
    now = before
    return requestId
  }
  /** Runs the timer, and all ordered jobs that have not run yet. */
  const done = new Set<string>()
  const turn = async (settings = {}) => {
    await core9(settings).system.orderDigests()
    const { rows } = await core.database.query<{
      id: string
      payload: { personId: string; notice: `digest:${string}` }
    }>(`SELECT id, payload FROM ordered_jobs WHERE name = 'tell' ORDER BY place`)
    for (const { id, payload } of rows.filter(({ id }) => !done.has(id))) {
      done.add(id)
      await core9(settings).system.deliverCard(
        outbox,
        { tenantId, personId: payload.personId, notice: payload.notice },
        1,
      )
    }
    return sentCards.splice(0).map(({ to, what, notice }) => {
      return `${nameOf(to)} ${what}: ${namesIn(notice.digest).join(', ')}${notice.digest.admin ? ` and ${notice.digest.admin.health}` : ''}`
    })
  }
  const namesIn = ({ approvals }: Digest) => approvals.entries.map(({ request }) => request.details.displayName)
  const nameOf = (id: string) => [kim, dana, omar, priya].find((one) => one.id === id)?.displayName.split(' ')[0] ?? id

  beforeAll(async () => {
    await ask('Old', '2026-11-19T09:00:00Z', dana, omar)
    await ask('Older', '2026-11-18T09:00:00Z', dana)
  })
  beforeEach(() => {
    sentCards.splice(0)
  })

  it('goes to nobody without a chat', async () => {
    at('2026-11-20T12:00:00Z')
    expect(await turn()).toEqual([])
  })

  it('comes once in each person’s morning, with the longest wait first', async () => {
    await meets(dana)
    await meets(omar, 'America/New_York', 'en-US')
    at('2026-11-20T06:45:00Z')
    expect(await turn()).toEqual([])
    at('2026-11-20T07:00:00Z')
    expect(await turn()).toEqual(['Dana digest:2026-11-20: Older, Old'])
    for (const later of ['2026-11-20T07:15:00Z', '2026-11-20T12:45:00Z']) {
      at(later)
      expect(await turn()).toEqual([])
    }
    at('2026-11-20T13:00:00Z')
    expect(await turn()).toEqual(['Omar digest:2026-11-20: Old'])
  })

  it('is not sent for a request whose address is taken, and shows the taken address to a person who asks', async () => {
    const requestId = await ask('Taken', '2026-11-16T09:00:00Z', dana)
    core.world.taken.add('taken')
    await core9().readForApproval(actorOf(dana), { requestId })
    at('2026-11-17T07:00:00Z')
    expect(await turn()).toEqual([])
    const digest = await core9().readDigest(actorOf(dana))
    expect(namesIn(digest)).toContain('Taken')
    const text = textOf(cards.digest(digest, { hour: 8, isOn: true, remindAfterHours: 24 }, viewerOf(dana)))
    expect(text).toMatch(/!\nTaken\nFrom Kim Lee\nThis address is taken: taken\n/)
    await core9().cancelRequest(actorOf(kim), { requestId })
  })

  it('is not sent again after a restart or by a second replica', async () => {
    at('2026-11-20T14:00:00Z')
    done.clear()
    expect(await turn()).toEqual([])
  })

  it('shows later requests on the next working day', async () => {
    await ask('Later', '2026-11-20T09:30:00Z', priya)
    await meets(priya, 'Europe/Zurich', 'de-CH')
    at('2026-11-20T12:00:00Z')
    expect(await turn()).toEqual([])
    for (const day of ['2026-11-21T12:00:00Z', '2026-11-22T12:00:00Z']) {
      at(day)
      expect(await turn()).toEqual([])
    }
    at('2026-11-23T07:00:00Z')
    expect((await turn()).sort()).toEqual([
      'Dana digest:2026-11-23: Older, Old',
      'Priya digest:2026-11-23: Later and green',
    ])
  })

  it('respects the weekend of the person’s country', async () => {
    await meets(omar, 'Asia/Dubai', 'he-IL')
    at('2026-11-22T04:00:00Z')
    expect(await turn()).toEqual(['Omar digest:2026-11-22: Old'])
    await meets(omar, 'Europe/Zurich', 'en-GB')
  })

  it('comes later on the same day after a missed morning, never on the next day', async () => {
    at('2026-11-24T21:50:00Z')
    expect((await turn()).map((one) => one.split(':')[0])).toEqual(['Dana digest', 'Omar digest', 'Priya digest'])
    const order = { tenantId, personId: dana.id, notice: 'digest:2026-11-25' } as const
    at('2026-11-26T07:00:00Z')
    await core9().system.deliverCard(outbox, order, 1)
    expect(sentCards).toEqual([])
  })

  it('comes at the same hour after a change of daylight saving time', async () => {
    at('2027-03-29T05:45:00Z')
    expect(await turn()).toEqual([])
    at('2027-03-29T06:00:00Z')
    expect((await turn()).length).toBe(3)
  })

  it('is not sent if nothing is open', async () => {
    const { id } = await core.template({ approval: { stages: [{ approvers: [{ user: omar.id }] }] } })
    at('2027-03-30T12:00:00Z')
    const [{ requests }] = [await core9().pageOfApprovals(actorOf(omar), { limit: 10 })]
    for (const { requestId } of requests) await core9().reject(actorOf(omar), { requestId, comment: 'No.' })
    expect(id).not.toBe('')
    const orders = (await turn()).map((one) => one.split(' ')[0])
    expect(orders).not.toContain('Omar')
  })

  it('can be disabled and enabled by each person', async () => {
    const standing = (person: Person) => core9().readDigestSetting(actorOf(person))
    expect(await standing(dana)).toEqual({ hour: 8, isOn: true, remindAfterHours: 24 })
    expect(await core9().chooseDigest(actorOf(dana), { isOn: false })).toMatchObject({ hour: 8, isOn: false })
    expect(await core9().chooseDigest(actorOf(dana), { isOn: false })).toMatchObject({ hour: 8, isOn: false })
    expect(await standing(priya)).toMatchObject({ hour: 8, isOn: true })
    at('2027-03-31T07:00:00Z')
    expect((await turn()).map((one) => one.split(' ')[0])).toEqual(['Priya'])
    await core9().chooseDigest(actorOf(dana), { isOn: true })
    at('2027-04-01T07:00:00Z')
    expect((await turn()).map((one) => one.split(' ')[0])).toEqual(['Dana', 'Priya'])
  })

  it('can be disabled for everybody by a setting', async () => {
    at('2027-04-02T07:00:00Z')
    expect(await turn({ digest: null })).toEqual([])
    expect(await core9({ digest: null }).readDigestSetting(actorOf(dana))).toMatchObject({ hour: null, isOn: false })
  })

  it('does not go to people without access', async () => {
    core.world.guests.add(dana.id)
    at('2027-04-05T07:00:00Z')
    expect((await turn()).map((one) => one.split(' ')[0])).toEqual(['Priya'])
    core.world.guests.delete(dana.id)
  })

  it('waits for a directory that does not answer', async () => {
    at('2027-04-06T07:00:00Z')
    core.world.up = false
    await expect(core9().system.orderDigests()).rejects.toThrow()
    core.world.up = true
    expect((await turn()).map((one) => one.split(' ')[0])).toEqual(['Dana', 'Priya'])
  })

  it('reaches an admin even if Microsoft Graph does not find another admin’s chat', async () => {
    const admins = [kim.id, omar.id]
    const away = new TenantError('graph-429', asWritten('Microsoft Graph has too many calls.'), { retryable: true })
    at('2027-04-08T10:00:00Z')
    findChat = () => Promise.reject(away)
    expect((await turn({ admins })).map((one) => one.split(' ')[0])).toContain('Omar')
    findChat = async () => 'chat of Kim'
    expect((await turn({ admins })).map((one) => one.split(' ')[0])).toEqual(['Kim'])
  })

  it('shows an admin stuck requests and the health of the service', async () => {
    at('2027-04-07T07:00:00Z')
    const digest = await core9().readDigest(actorOf(priya, true))
    expect(digest.admin).toMatchObject({ failed: 0, givenUp: 0, health: 'green' })
    expect(digest.admin?.stuck).toBeGreaterThan(0)
    const text = textOf(
      cards.digest(digest, { hour: 8, isOn: true, remindAfterHours: 24 }, viewerOf(priya, { isAdmin: true })),
    )
    expect(text).toContain('For admins')
    expect(text).toContain('The service is healthy')
    expect((await core9().readDigest(actorOf(priya))).admin).toBeUndefined()
  })
})

describe('the digest of an admin just after a start', () => {
  const core = withCore()

  it('is empty while a check runs for the first time', async () => {
    await core.template({})
    const checkResults = createCheckResults()
    checkResults.start('cmdlets', () => new Promise(() => undefined))
    const facts = { databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, version: '0' }
    const slow = core.with({
      ...{ checkResults, tenant: { ...core.ports.tenant, health: async () => [] } },
      ownHealth: { read: async () => ({ ...facts, startedAt: new Date(), watchedAt: new Date() }) },
    })
    const [report, digest] = await Promise.all([
      slow.readHealth(actorOf(priya, true)),
      slow.readDigest(actorOf(priya, true)),
    ])
    expect(report.parts.filter(({ state }) => state !== 'green')).toMatchObject([
      { name: 'cmdlets', says: 'notChecked', problem: because('checkRunning') },
    ])
    expect(isEmptyDigest(digest)).toBe(true)
  })
})

describe('a reminder to a person with the digest', () => {
  const core = withCore()
  const begin = Date.now()
  let now = begin
  const core9 = (settings = {}) =>
    core.with({ clock: { now: () => new Date(now) } }, { digest: { hour: 8 }, ...settings })
  const ask = async () => {
    now = begin
    const approval = { stages: [{ approvers: [dana, omar].map(({ id }) => ({ user: id })), rule: 'all' }] }
    const { id: templateId } = await core.template({ approval })
    return (await core9().submitSite(actorOf(kim), { body: { displayName: `S ${randomUUID()}`, templateId } }))
      .requestId
  }
  const afterADay = async (requestId: string, settings = {}) => {
    now = begin + 24 * hour
    await core9(settings).system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    const reminders = (await core.orders(requestId)).flatMap(({ name, payload }) =>
      name === 'notify' && String(payload['card']).startsWith('reminder:') ? [payload['personId']] : [],
    )
    const entry = (await core9().readTimeline(actorOf(kim), { requestId })).find(({ action }) => action === 'reminded')
    return { reminders, recorded: entry?.data }
  }
  beforeAll(async () => {
    for (const { id: personId } of [dana, omar])
      await core.ports.conversations.put({
        ...{ tenantId, personId, conversationId: `chat of ${personId}`, reference: {} },
        ...{ locale: 'en-GB', timeZone: 'UTC' },
      })
  })
  const ids = (people: readonly Person[]) => people.map(({ id }) => ({ id }))

  it('is not sent, and the audit names the people with the digest', async () => {
    const requestId = await ask()
    const { reminders, recorded } = await afterADay(requestId)
    expect(reminders).toEqual([])
    expect(recorded).toMatchObject({ people: [], inDigest: ids([dana, omar]) })
    const [stage] = (await core9().readRequest(actorOf(kim), { requestId })).approvals
    expect(stage?.reminders).toMatchObject([{ by: null, inDigest: true }])
    const text = textOf(cards.requestStatus(await core9().readRequest(actorOf(kim), { requestId }), viewerOf(kim)))
    expect(text).toContain('They see it in their daily summary.')
  })

  it('comes at once if the requester nudges', async () => {
    const requestId = await ask()
    await afterADay(requestId)
    await core9().nudge(actorOf(kim), { requestId })
    const { reminders } = await afterADay(requestId)
    expect(reminders.sort()).toEqual([dana.id, omar.id].sort())
  })

  it('is not announced by `why`, which names the people whose summary replaces it', async () => {
    const requestId = await ask()
    const due = async (settings = {}) =>
      (await core9(settings).readExplanation(actorOf(kim), { requestId }))
        .filter(({ code }) => code === 'will-remind' || code === 'in-summary')
        .map(({ code, people = [] }) => `${code}: ${people.map(({ displayName }) => displayName).join(', ')}`)
    expect(await due()).toEqual(['in-summary: Dana Fox, Omar Haddad'])
    await core9().chooseDigest(actorOf(omar), { isOn: false })
    expect(await due()).toEqual(['in-summary: Dana Fox', 'will-remind: Omar Haddad'])
    await core9().chooseDigest(actorOf(omar), { isOn: true })
    expect(await due({ digest: null })).toEqual(['will-remind: Dana Fox, Omar Haddad'])
    await afterADay(requestId)
    expect(await due()).toEqual(['in-summary: Dana Fox, Omar Haddad'])
  })

  it('is announced by `digest` with the time of the settings', async () => {
    const trial = {
      approvals: { reachMinutes: 10, remindAfterHours: 0.15, escalateAfterHours: 72, expireAfterDays: 14 },
    }
    const chosen = await core9(trial).readDigestSetting(actorOf(dana))
    const off = { ...chosen, isOn: false }
    expect(textOf(cards.digestChoice(off, viewerOf(dana)))).toContain('remind you of each request after 9 min')
    const never = { ...off, remindAfterHours: 0 }
    expect(textOf(cards.digestChoice(never, viewerOf(dana)))).toContain('I do not usually send reminders.')
  })

  it('is sent to people who have disabled the digest', async () => {
    await core9().chooseDigest(actorOf(omar), { isOn: false })
    const requestId = await ask()
    const { reminders, recorded } = await afterADay(requestId)
    expect(reminders).toEqual([omar.id])
    expect(recorded).toMatchObject({ people: ids([omar]), inDigest: ids([dana]) })
    const request = await core9().readRequest(actorOf(kim), { requestId })
    const entries = await core9().readTimeline(actorOf(kim), { requestId })
    const text = textOf(cards.requestStatus(request, viewerOf(kim), { entries, isOpen: true }))
    expect(text).toContain('I reminded Omar Haddad; Dana Fox will find this in the daily summary')
    await core9().chooseDigest(actorOf(omar), { isOn: true })
  })

  it('is sent to everybody if a setting disables the digest', async () => {
    const requestId = await ask()
    const { reminders, recorded } = await afterADay(requestId, { digest: null })
    expect(reminders.length).toBe(2)
    expect(recorded).toMatchObject({ people: ids([dana, omar]) })
    expect(recorded).not.toHaveProperty('inDigest')
  })

  it('does not replace the warning before the expiry', async () => {
    const requestId = await ask()
    await afterADay(requestId)
    now = begin + 12.5 * 24 * hour
    await core9().system.runApprovalTimers({ v: 1, requestId, stage: 1 })
    const cardsOf = (await core.orders(requestId)).map(({ payload }) => String(payload['card']))
    expect(cardsOf.filter((card) => card.startsWith('reminder:')).length).toBeGreaterThanOrEqual(2)
  })
})
