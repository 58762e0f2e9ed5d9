import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  asWritten,
  attentionOf,
  isStillDue,
  longestInterval,
  longestSiteWait,
  pollAfter,
  type RequestForSite,
  requestCard,
  type SiteKind,
  siteKinds,
  type Tenant,
  TenantError,
} from '../../src/core/index.ts'
import { viewerOf } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, asSite, kim, type Ordered, priya, tenantWith, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const asKim = actorOf(kim)
const admin = actorOf(priya, true)
const quarter = 15 * 60
const hour = 3600

describe('the interval between polls', () => {
  // At the end itself, no further poll follows.
  const wait = fc.double({ min: 0, max: longestSiteWait, maxExcluded: true, noNaN: true })
  const required = fc.double({ min: 0.1, max: hour, noNaN: true })

  it('is never shorter than the tenant requires, and otherwise at most 15 minutes', () => {
    fc.assert(
      fc.property(wait, required, (waited, least) => {
        const seconds = pollAfter(waited, least)
        expect(seconds).toBeGreaterThanOrEqual(least)
        expect(seconds).toBeLessThanOrEqual(Math.max(least, longestInterval))
      }),
    )
  })

  it('grows with the wait, except before the two fixed polls', () => {
    fc.assert(
      fc.property(wait, wait, (one, other) => {
        const [earlier, later] = [Math.min(one, other), Math.max(one, other)]
        const isBefore = (moment: number) => later < moment && pollAfter(later, 2) >= moment - later
        fc.pre(!isBefore(quarter) && !isBefore(longestSiteWait))
        expect(pollAfter(later, 2)).toBeGreaterThanOrEqual(Math.min(pollAfter(earlier, 2), longestInterval))
      }),
    )
  })

  it('gives polls at 15 minutes and at 48 hours, and about 250 polls in total', () => {
    const moments = [0]
    for (let at = 0; at < longestSiteWait; moments.push(at)) at += pollAfter(at, 2)
    expect(moments.some((at) => at >= quarter && at < quarter + 2)).toBe(true)
    expect(moments.at(-1)).toBeLessThan(longestSiteWait + 2)
    expect(moments.length).toBeGreaterThan(150)
    expect(moments.length).toBeLessThan(350)
  })
})

describe('a late site', () => {
  const core = withCore()
  const contoso = withTenant({ siteReadySeconds: 0 })
  afterEach(() => contoso.modes({ siteReadySeconds: null, groupsAcceptExtension: true }))

  const started = new Date('2026-11-20T10:00:00.000Z')
  let number = 0
  const submitted = async (kind: SiteKind): Promise<string> => {
    const { id: templateId } = await core.template({ kind })
    number += 1
    const body = { displayName: `Late ${kind} ${number}`, description: 'Drawings.', templateId }
    return (await core.with({ clock: { now: () => started } }).submitSite(asKim, { body })).requestId
  }
  const stored = async (requestId: string): Promise<RequestForSite> =>
    asSite(await core.provisioning.readRequest(asKim, { requestId }))
  const provisionAt = (requestId: string, now: Date, tenant: Tenant = contoso.tenant, lastAttempt = false) =>
    core
      .with({ tenant, clock: { now: () => now } })
      .system.provision(requestId, { lastAttempt, signal: AbortSignal.timeout(60_000) })
  /** Runs the job at these moments, in seconds from the start. */
  const runAt = async (requestId: string, seconds: readonly number[], tenant?: Tenant) => {
    for (const one of seconds) await provisionAt(requestId, atSecond(one), tenant)
  }
  const lastPoll = async (requestId: string): Promise<Date | undefined> => {
    const orders: Ordered[] = (await core.orders(requestId)).filter(({ name }) => name === 'provision')
    return orders.at(-1)?.startAfter ?? undefined
  }
  const atSecond = (seconds: number) => new Date(started.getTime() + seconds * 1000)
  const cardsOf = async (requestId: string) =>
    (await core.orders(requestId)).flatMap(({ name, payload }) =>
      name.startsWith('notify') ? [`${name} ${String(payload['card']).split(':')[0]}`] : [],
    )
  const waitsForever = tenantWith({ 'wait-for-site': async () => ({ done: false, retryAfterSeconds: 2 }) })

  it.each(siteKinds)(
    '%s: is being created for an hour, people are notified once, and it is completed',
    async (kind) => {
      await contoso.modes({ siteReadySeconds: hour })
      const requestId = await submitted(kind)
      await runAt(requestId, [0, 60, quarter - 1])
      expect(await cardsOf(requestId)).toEqual([])
      await runAt(requestId, [quarter, 2 * quarter, hour])
      const late = await stored(requestId)
      expect([late.status, late.steps.find(({ lateAt }) => lateAt)?.lateAt]).toEqual([
        'provisioning',
        atSecond(quarter).toISOString(),
      ])
      expect(await cardsOf(requestId)).toEqual(['notify late', 'notify-admins late'])
      // SharePoint has now created the site.
      await contoso.modes({ siteReadySeconds: null })
      await runAt(requestId, [hour + 60])
      expect(await stored(requestId)).toMatchObject({ status: 'succeeded', resource: { url: expect.any(String) } })
      expect(await cardsOf(requestId)).toHaveLength(2)
      const entries = await core.provisioning.readTimeline(admin, { requestId })
      expect(entries.filter(({ action }) => action === 'delayed')).toHaveLength(1)
    },
  )

  it('shows the requester and the admins the status and the next action', async () => {
    const requestId = await submitted('teamSite')
    await runAt(requestId, [0, quarter], waitsForever)
    const late = await stored(requestId)
    const key = `late:${late.queuedAt}` as const
    expect(requestCard(late, key, kim.id, atSecond(quarter))).toMatchObject({ kind: 'status', isAdmin: false })
    expect(requestCard(late, key, priya.id, atSecond(quarter))).toMatchObject({ kind: 'status', isAdmin: true })
    // Admins who are not the requester get their own card. Nobody gets one after the site exists.
    await core.provisioning.system.notifyAdmins({ requestId, card: key })
    const sent = (await core.orders(requestId)).filter(({ name }) => name === 'notify')
    expect(sent.map(({ payload }) => [payload['personId'], payload['card']])).toEqual([
      [kim.id, key],
      [priya.id, key],
    ])
    expect(isStillDue(late, key)).toBe(true)
    expect(isStillDue({ ...late, status: 'succeeded' }, key)).toBe(false)
    const requesterCard = textOf(cards.requestStatus(late, viewerOf(kim)))
    expect(requesterCard).toContain('Taking longer than usual')
    expect(requesterCard).toContain('Microsoft 365 is still working on your site. You do not need to do anything.')
    const shown = textOf(cards.requestStatus(late, viewerOf(priya, { isAdmin: true })))
    expect(shown).toContain('SharePoint has been working on this site since')
    const why = await core.provisioning.readExplanation(asKim, { requestId })
    expect(why.map(({ code }) => code)).toContain('step-late')
  })

  it('is listed for admins with its reason, and can be retried after its polls stop', async () => {
    const requestId = await submitted('teamSite')
    let last = 0
    for (let at = 0; at <= 4 * hour; at += Math.max(pollAfter(at, 2), 60)) {
      last = at
      await runAt(requestId, [at], waitsForever)
    }
    expect(await lastPoll(requestId)).toEqual(atSecond(last + longestInterval))
    const watchAt = async (now: Date) => {
      await core.with({ clock: { now: () => now } }).system.watch([], [])
      const entries = await core.provisioning.readTimeline(admin, { requestId })
      return entries.filter(({ action }) => action === 'overdue').length
    }
    const attention = { why: 'late', since: expect.any(String), remedies: [] }
    expect(attentionOf(await stored(requestId), atSecond(last))).toEqual(attention)
    const stuck = await core.with({ clock: { now: () => atSecond(last + 60) } }).readStuck(admin)
    const entry = stuck.entries.find(({ request }) => request.requestId === requestId)
    expect(entry).toMatchObject({ attention })
    const shown = cards.adminStuck({ count: 1, entries: entry ? [entry] : [] }, viewerOf(priya, { isAdmin: true }))
    expect(textOf(shown)).toMatch(/SharePoint has been creating the site since [^.]*1[01]:00/)
    expect(JSON.stringify(shown)).not.toContain('admin retry')
    expect(await watchAt(atSecond(last + longestInterval))).toBe(0)
    expect(await watchAt(atSecond(last + 2 * hour))).toBe(1)
    expect(attentionOf(await stored(requestId), atSecond(last + 2 * hour))).toMatchObject({
      why: 'standsStill',
      remedies: ['retry'],
    })
  })

  it('survives an outage of SharePoint that uses all attempts of a poll, until 48 hours are over', async () => {
    const requestId = await submitted('teamSite')
    await runAt(requestId, [0], waitsForever)
    const refuses = (code: string, retryable: boolean) =>
      tenantWith({
        'wait-for-site': async () => {
          throw new TenantError(code, asWritten('SharePoint does not answer.'), { retryable, status: 503 })
        },
      })
    const lastAttemptAt = (seconds: number, tenant = refuses('unavailable', true)) =>
      provisionAt(requestId, atSecond(seconds), tenant, true)
    await lastAttemptAt(600)
    expect(await stored(requestId)).toMatchObject({ status: 'provisioning', problem: null })
    const step = (await stored(requestId)).steps.find(({ name }) => name === 'wait-for-site')
    expect(step).toMatchObject({ status: 'running', problem: { code: 'unavailable', step: 'wait-for-site' } })
    expect(await lastPoll(requestId)).toEqual(atSecond(660))
    expect(await cardsOf(requestId)).toEqual([])
    await lastAttemptAt(hour)
    expect(await lastPoll(requestId)).toEqual(atSecond(hour + 360))
    expect(await cardsOf(requestId)).toEqual(['notify late', 'notify-admins late'])
    const late = await stored(requestId)
    const attention = attentionOf(late, atSecond(hour))
    expect(attention?.why).toBe('late')
    const entry = { request: late, since: atSecond(hour).toISOString(), attention }
    const shown = textOf(cards.adminStuck({ count: 1, entries: [entry] }, viewerOf(priya, { isAdmin: true })))
    expect(shown).toContain('Last error: SharePoint does not answer.')
    await lastAttemptAt(longestSiteWait + 2)
    const failed = await stored(requestId)
    expect([failed.status, failed.problem?.code]).toEqual(['failed', 'unavailable'])
    expect(failed.problem?.detail).toBe('SharePoint does not answer. The service retried it for 48 hours.')
    // A refusal that is not retryable ends the request at once.
    const other = await submitted('teamSite')
    await runAt(other, [0], waitsForever)
    await provisionAt(other, atSecond(600), refuses('forbidden', false), true)
    expect((await stored(other)).status).toBe('failed')
  })

  it('is polled again after a process with a slow clock runs a fixed poll too early', async () => {
    const requestId = await submitted('teamSite')
    const polls = async () => (await core.orders(requestId)).filter(({ name }) => name === 'provision').length
    await runAt(requestId, [0, quarter - 60], waitsForever)
    expect(await lastPoll(requestId)).toEqual(atSecond(quarter))
    const before = await polls()
    await runAt(requestId, [quarter - 3], waitsForever)
    expect(await lastPoll(requestId)).toEqual(atSecond(quarter))
    expect(await polls()).toBe(before + 1)
  })

  it('is polled in the directory after its creation, so that the delay of the directory is correct', async () => {
    const requestId = await submitted('teamSite')
    await runAt(requestId, [0, quarter, 3 * hour], waitsForever)
    const created = 3 * hour + 600
    const polls = async () => (await core.orders(requestId)).filter(({ name }) => name === 'follow-up')
    const listed = (await polls()).length
    await runAt(requestId, [created], tenantWith())
    expect((await polls()).slice(listed)).toEqual([
      { name: 'follow-up', payload: { v: 1, requestId, look: 0 }, startAfter: atSecond(created) },
    ])
    const pollAt = (index: number, seconds: number, group?: { id: string; displayName: string }) =>
      core
        .with({
          directory: { ...core.ports.directory, findProvisionedGroup: async () => group },
          clock: { now: () => atSecond(seconds) },
        })
        .system.pollDirectory(requestId, index)
    // Not visible yet: the next polls have the usual intervals after a creation.
    await pollAt(0, created)
    expect((await polls()).at(-1)).toMatchObject({ payload: { look: 1 }, startAfter: atSecond(created + 30) })
    await pollAt(1, created + 30, { id: randomUUID(), displayName: 'SPO-late' })
    expect((await stored(requestId)).followUp).toMatchObject({ state: 'announced', by: 'poll' })
    const { rows } = await core.database.query<{ seconds: number }>(
      'SELECT seconds::float AS seconds FROM directory_sightings WHERE request_id = $1',
      [requestId],
    )
    expect(rows).toEqual([{ seconds: 30 }])
  })

  it('gets only the usual directory polls if it was created in time', async () => {
    const requestId = await submitted('teamSite')
    await runAt(requestId, [0, 200], waitsForever)
    await runAt(requestId, [290], tenantWith())
    expect((await stored(requestId)).status).toBe('succeeded')
    expect((await core.orders(requestId)).filter(({ name }) => name === 'follow-up')).toHaveLength(1)
  })

  it('fails after 48 hours with the next action, and a retry adopts the site that exists now', async () => {
    const requestId = await submitted('communicationSite')
    await contoso.modes({ siteReadySeconds: 100 * hour })
    await runAt(requestId, [0])
    const stays = { ...contoso.tenant, siteSteps: { ...contoso.tenant.siteSteps, ...late } }
    await runAt(requestId, [60, quarter, 24 * hour, longestSiteWait, longestSiteWait + 2], stays)
    const failed = await stored(requestId)
    expect(failed).toMatchObject({ status: 'failed', problem: { code: 'site-not-ready', step: 'wait-for-site' } })
    expect(failed.problem?.detail).toContain('the retry adopts the site')
    expect(await cardsOf(requestId)).toEqual([
      ...['notify late', 'notify-admins late'],
      ...['notify outcome', 'notify-admins outcome'],
    ])
    await contoso.modes({ siteReadySeconds: null })
    const again = atSecond(50 * hour)
    await core.with({ clock: { now: () => again } }).retryRequest(admin, { requestId })
    await runAt(requestId, [50 * hour, 50 * hour + 60])
    expect((await stored(requestId)).status).toBe('succeeded')
    const creations = (await contoso.calls()).filter(
      (call) => call.operation === 'sharepoint.site.create' && JSON.stringify(call.body).includes(failed.alias),
    )
    expect(creations).toHaveLength(1)
  })
  const late: Partial<Tenant['siteSteps']> = {
    'wait-for-site': async () => ({ done: false, retryAfterSeconds: 2 }),
  }

  it('waits while its group does not accept the schema extension, names the setting to admins, and is completed', async () => {
    await contoso.modes({ groupsAcceptExtension: false })
    const requestId = await submitted('teamSite')
    await runAt(requestId, [0, 10, 60, quarter])
    const waiting = await stored(requestId)
    const step = waiting.steps.find(({ name }) => name === 'link-group')
    expect(step).toMatchObject({ status: 'running', problem: { code: 'extension-not-accepted' } })
    expect(step?.problem?.detail).toContain('DIRECTORY_EXTENSION')
    expect(attentionOf(waiting, atSecond(quarter))).toMatchObject({ why: 'retrying' })
    const shown = textOf(cards.requestStatus(waiting, viewerOf(priya, { isAdmin: true })))
    expect(shown).toContain('DIRECTORY_EXTENSION')
    const requesterCard = textOf(cards.requestStatus(waiting, viewerOf(kim)))
    expect(requesterCard).not.toContain('DIRECTORY_EXTENSION')
    await contoso.modes({ groupsAcceptExtension: true })
    await runAt(requestId, [quarter + 60])
    expect((await stored(requestId)).status).toBe('succeeded')
  })
})
