import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Person, person } from '../../src/core/index.ts'
import { actionsOf, nodesOf, textOf } from '../support/cards.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { cards } from '../support/english-cards.ts'

const hour = 3_600_000
const hostile = '**b** [x](y) {at} <at>'
const admin = actorOf(priya, true)

describe.each(engines)('the audit of delegations in the %s store', (engine) => {
  const core = withCore(engine)
  let now = Date.parse('2026-11-20T09:00:00.000Z')
  const iso = (hours = 0) => new Date(now + hours * hour).toISOString()
  const at = () => core.with({ clock: { now: () => new Date(now) } })
  const begins = (person: Person, to: Person, hours: number) =>
    at().beginDelegation(actorOf(person), { to: to.id, until: iso(hours) })
  const entries = async () => {
    const report = await at().readOrganisationAudit(admin)
    expect(report.findings).toEqual([])
    return report.entries.filter(({ action }) => action.startsWith('delegation-'))
  }
  const recorded = async () =>
    (await entries()).map(({ action, actor, data }) => [action, 'id' in actor ? actor.id : 'system', data])
  const watches = () => at().system.watch([], [])

  beforeEach(async () => {
    for (const table of ['delegations', 'audit_log', 'audit_heads']) await core.database.query(`DELETE FROM ${table}`)
  })

  it('names both people, the period, and the person who ended the delegation', async () => {
    const { delegationId } = await begins(dana, omar, 48)
    const about = { delegationId, person: dana, delegate: omar, from: iso(), until: iso(48) }
    expect(await recorded()).toEqual([['delegation-started', dana.id, about]])
    now += hour
    await at().endDelegation(actorOf(dana))
    await at().endDelegation(actorOf(dana))
    expect((await recorded()).slice(1)).toEqual([
      ['delegation-ended', dana.id, { ...about, endedAt: iso(), why: 'back' }],
    ])
  })

  it('records the end of a replaced delegation before the start of the next', async () => {
    await begins(dana, omar, 48)
    await begins(dana, kim, 24)
    const records = (await entries()).map(({ action, data }) => [
      action,
      data?.['why'],
      person.parse(data?.['delegate']).id,
    ])
    expect(records).toEqual([
      ['delegation-started', undefined, omar.id],
      ['delegation-ended', 'replaced', omar.id],
      ['delegation-started', undefined, kim.id],
    ])
  })

  it('records an expiry once with its time, even if several processes find it late', async () => {
    const one = await begins(dana, omar, 2)
    const other = await begins(kim, omar, 3)
    now += 500 * hour
    await Promise.all([
      watches(),
      watches(),
      at().system.realignApprovals({ tenantId, personId: dana.id }),
      at().endDelegation(actorOf(dana)),
    ])
    await watches()
    const ended = (await entries()).filter(({ action }) => action === 'delegation-ended')
    // The order of the entries depends on which process is faster.
    const records = ended.map(({ data, at, actor }) => [
      data?.['endedAt'],
      data?.['delegationId'],
      data?.['why'],
      at,
      actor,
    ])
    expect(records.toSorted()).toEqual(
      [one, other].map(({ delegationId, until }) => [until, delegationId, 'expired', iso(), { kind: 'system' }]),
    )
  })

  it('records an expiry, not a replacement, if the next delegation starts later', async () => {
    await begins(dana, omar, 2)
    now += 10 * hour
    await begins(dana, kim, 2)
    expect((await entries()).map(({ data }) => data?.['why'])).toEqual([undefined, 'expired', undefined])
  })

  it('records an end for an erasure by the admin, and expired delegations before the erasure', async () => {
    await begins(dana, stranger, 48)
    await begins(kim, stranger, 1)
    await at().endDelegationsOf(admin, { personId: stranger.id })
    now += 2 * hour
    const erasureId = randomUUID()
    await at().system.erasePerson({ v: 1, tenantId, personId: stranger.id, by: priya.id, erasureId })
    const records = (await entries()).map(({ action, actor, data, erased }) => [
      action,
      'id' in actor ? actor.id : 'system',
      erased ? 'erased' : data?.['why'],
    ])
    expect(records).toHaveLength(4)
    expect(records.slice(2).map(([action, by]) => [action, by])).toEqual([
      ['delegation-ended', priya.id],
      ['delegation-ended', priya.id],
    ])
    expect(JSON.stringify(await at().readOrganisationAudit(admin))).not.toContain(stranger.displayName)
  })

  it('records an early end by a process of an earlier version, which recorded nothing', async () => {
    const { delegationId } = await begins(dana, omar, 48)
    now += hour
    await core.database.query('UPDATE delegations SET ended_at = $2 WHERE delegation_id = $1', [delegationId, iso()])
    await watches()
    await watches()
    expect((await recorded()).slice(1)).toMatchObject([
      ['delegation-ended', 'system', { why: 'early', endedAt: iso() }],
    ])
  })

  it('keeps the row of a delegation until its end is recorded', async () => {
    await begins(dana, omar, 2)
    now += 200 * 24 * hour
    const kept = async () => {
      await core.ports.delegations.forgetOld(new Date(now))
      const { rows } = await core.database.query('SELECT 1 FROM delegations')
      return rows.length
    }
    expect(await kept()).toBe(1)
    await watches()
    expect(await kept()).toBe(0)
  })

  it('shows admins a sentence for each entry', async () => {
    await begins(dana, omar, 48)
    await begins(dana, kim, 2)
    now += 3 * hour
    await watches()
    const viewer = { id: priya.id, locale: 'en-GB', timeZone: 'UTC', now: new Date(now), siteRoot: '', outlookRoot: '' }
    const shown = textOf(cards.organisationAudit(await at().readOrganisationAudit(admin), 0, viewer))
    for (const text of [
      'Delegation started',
      'Dana Fox delegated to Omar Haddad, until',
      'Dana Fox to Omar Haddad: replaced by another delegation on',
      'Dana Fox to Kim Lee: ended as planned on',
    ])
      expect(shown).toContain(text)
  })
})

describe('the list of current delegations', () => {
  const core = withCore()
  const until = (hours: number) => new Date(Date.now() + hours * hour).toISOString()
  const viewer = () => ({
    ...{ id: priya.id, locale: 'en-GB', timeZone: 'UTC', now: new Date(), siteRoot: '', outlookRoot: '' },
  })
  const shown = async (from = 0) =>
    cards.adminDelegations(await core.provisioning.listDelegations(admin, { from, most: 6 }), viewer())

  it('is in pages, the first to end first, without ended delegations', async () => {
    expect(textOf(await shown())).toContain('No delegation is active.')
    const away = Array.from({ length: 8 }, (_, index) => {
      const id = randomUUID()
      return { id, displayName: `Away ${index}`, userPrincipalName: `away${index}@contoso.example` }
    })
    for (const [index, person] of away.entries())
      await core.provisioning.beginDelegation(actorOf(person), { to: omar.id, until: until(10 - index) })
    await core.provisioning.endDelegation(actorOf(away[0] as Person))
    const [first, second] = [await shown(), await shown(6)]
    expect(textOf(first)).toMatch(/Away 7[\s\S]*Away 6[\s\S]*Away 2/)
    expect(textOf(first)).toContain('1–6 of 7')
    expect(textOf(second)).toContain('Away 1')
    expect(textOf(second)).not.toContain('Away 0')
    expect(actionsOf(first).map(({ title }) => title)).toEqual(['Next', 'Refresh'])
    expect(actionsOf(second).map(({ title }) => title)).toEqual(['Previous', 'Refresh'])
    expect(await shown(999_999)).toEqual(second)
  })

  it('shows hostile names as plain text', async () => {
    const away = { id: randomUUID(), displayName: hostile, userPrincipalName: 'x@contoso.example' }
    await core.provisioning.beginDelegation(actorOf(away), { to: omar.id, until: until(0.5) })
    const card = await shown()
    const written = [...nodesOf(card)].filter(({ text }) => String(text).includes('**b**'))
    expect(written).toMatchObject([{ type: 'TextRun', text: hostile }])
  })
})
