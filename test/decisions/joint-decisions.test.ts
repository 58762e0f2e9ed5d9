import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { asWritten, TenantError } from '../../src/core/index.ts'
import { requestOf, viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, approversGroup, asSite, dana, kim, omar, stranger, tenantId, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'
import { refusal } from '../support/refusal.ts'

const { signal } = new AbortController()

describe('a joint decision', () => {
  const core = withCore()
  let number = 8000
  /** Stores requests that wait for Dana and Omar, who are approvers as members of a group. */
  const waiting = async (count: number) => {
    const items = Array.from({ length: count }, () => ({ requestId: randomUUID(), stage: 1 }))
    const membership = { groups: [approversGroup], people: [dana.id, omar.id] }
    for (const { requestId } of items) {
      number += 1
      const approvals = [{ stage: 1, rule: 'any' as const, approvers: [dana, omar], decisions: [], membership }]
      const more = { requestId, number, tenantId, alias: `joint-${number}`, approvals }
      await core.ports.requests.insert(asSite(requestOf(more)))
    }
    return items
  }
  const states = async (items: readonly { requestId: string }[]) => {
    const found = await Promise.all(items.map(({ requestId }) => core.ports.requests.find(requestId)))
    return found.map((one) => one?.status)
  }
  const order = (items: { requestId: string; stage: number }[], more: object = {}) => ({
    ...{ decisionId: randomUUID(), decision: 'approved' as const, comment: '', items },
    ...more,
  })
  const jobs = async (decisionId: string) => {
    const { rows } = await core.database.query(
      `SELECT 1 FROM ordered_jobs WHERE name = 'decide-jointly' AND payload->>'decisionId' = $1`,
      [decisionId],
    )
    return rows.length
  }

  it('decides each request like a single decision, and a repeat changes nothing', async () => {
    const items = await waiting(6)
    const joint = order(items, { decision: 'rejected', comment: 'Not this year.' })
    const { results } = await core.provisioning.decideJointly(actorOf(dana), joint)
    expect(Object.values(results)).toEqual(items.map(() => 'done'))
    expect(new Set(await states(items))).toEqual(new Set(['rejected']))
    const before = await core.rows()
    expect((await core.provisioning.decideJointly(actorOf(dana), joint)).results).toEqual(results)
    // A process that stopped before it stored the results decides again under the same attempts.
    await core.database.query(`UPDATE joint_decisions SET results = '{}' WHERE decision_id = $1`, [joint.decisionId])
    await core.provisioning.system.runJointDecision(joint.decisionId, signal)
    const stored = await core.provisioning.readJointDecision(actorOf(dana), { decisionId: joint.decisionId })
    expect(stored?.results).toEqual(results)
    expect(await core.rows()).toEqual(before)
    expect(await core.provisioning.readJointDecision(actorOf(omar), { decisionId: joint.decisionId })).toBeUndefined()
  })

  it('leaves out a request that somebody else decided meanwhile, and names the reason', async () => {
    const items = await waiting(3)
    const [first] = items
    await core.provisioning.approve(actorOf(omar), { requestId: String(first?.requestId) })
    const { results } = await core.provisioning.decideJointly(actorOf(dana), order(items))
    expect(Object.values(results).map((one) => (one === 'done' ? one : one.code))).toEqual([
      'already-decided',
      'done',
      'done',
    ])
    expect(results[String(first?.requestId)]).toMatchObject({ reason: { facts: { name: omar.displayName } } })
  })

  it('counts a request that the same person has decided in the same way, such as by a second click', async () => {
    const items = await waiting(3)
    const [first] = items
    const clicks = async (decision: 'approved' | 'rejected') => {
      const last = await core.provisioning.decideJointly(actorOf(dana), order(items, { decision, comment: 'Good.' }))
      const found = await Promise.all(items.map(({ requestId }) => core.ports.requests.find(requestId)))
      const undecided = found.filter((one) => one !== undefined)
      return textOf(cards.decideSeveral({ waiting: [], last, undecided }, viewerOf(dana)))
    }
    await core.provisioning.approve(actorOf(omar), { requestId: String(first?.requestId) })
    await clicks('approved')
    const again = await clicks('approved')
    expect(again).toMatch(/You approved 2 requests\. REQ-\d+ Project Aurora, REQ-\d+ Project Aurora\./)
    expect(again.match(/was decided before your click\. Omar Haddad approved it/g)).toHaveLength(1)
    expect(again).not.toContain('Dana Fox approved it')
    const opposite = await clicks('rejected')
    expect(opposite).not.toContain('You rejected')
    expect(opposite.match(/was decided before your click\. Dana Fox approved it/g)).toHaveLength(2)
  })

  it('says that another resource has taken an address, and decides the other requests', async () => {
    const items = await waiting(2)
    const found = await core.ports.requests.find(String(items[0]?.requestId))
    if (!found) throw new Error('the request is missing')
    const { alias } = asSite(found)
    core.world.taken.add(alias)
    const last = await core.provisioning.decideJointly(actorOf(dana), order(items))
    core.world.taken.delete(alias)
    expect(items.map(({ requestId }) => last.results[requestId])).toMatchObject([{ code: 'name-taken' }, 'done'])
    const undecided = await core.ports.requests.find(found.requestId)
    if (!undecided) throw new Error('the request is missing')
    const card = cards.decideSeveral({ waiting: [undecided], last, undecided: [undecided] }, viewerOf(dana))
    expect(textOf(card)).toMatch(new RegExp(`was not decided. Another resource has taken the address ${alias}`))
    expect(textOf(card)).toMatch(new RegExp(`This address is taken: ${alias}`))
    const page = { requests: [undecided], newer: 0, older: 0 }
    expect(textOf(cards.approvals(page, viewerOf(dana)))).toMatch(new RegExp(`This address is taken: ${alias}`))
    const own = { ...asSite(undecided), owners: [dana] }
    const [stage] = own.approvals
    if (!stage) throw new Error('the request has no stage')
    const decisions = [{ by: omar, decision: 'approved' as const, at: own.updatedAt }]
    const second = {
      ...own,
      approvals: [
        { ...stage, decisions },
        { ...stage, stage: 2 },
      ],
    }
    for (const shown of [
      cards.approvals({ ...page, requests: [second] }, viewerOf(dana)),
      cards.decideSeveral({ waiting: [second] }, viewerOf(dana)),
    ])
      expect(textOf(shown)).toMatch(/Approval 2 of 2.*\n! This address is taken/)
  })

  it('decides a part of many requests in the click, and the rest in its job', async () => {
    const items = await waiting(30)
    let late = 0
    const { directory } = core.ports
    const slow = core.with({
      clock: { now: () => new Date(Date.now() + late) },
      directory: {
        ...directory,
        groupsOf: async (id, how) => {
          late += 200
          return directory.groupsOf(id, how)
        },
      },
    })
    const joint = order(items)
    const { results } = await slow.decideJointly(actorOf(dana), joint)
    const decided = Object.keys(results).length
    expect(decided).toBeGreaterThan(0)
    expect(decided).toBeLessThan(30)
    expect(await jobs(joint.decisionId)).toBe(1)
    await core.provisioning.system.runJointDecision(joint.decisionId, signal)
    expect(new Set(await states(items))).toEqual(new Set(['queued']))
  })

  it('is retried by its job while the directory does not answer, and refuses people who left the group', async () => {
    const items = await waiting(2)
    const { directory } = core.ports
    const away = core.with({
      directory: {
        ...directory,
        groupsOf: () =>
          Promise.reject(new TenantError('unavailable', asWritten('Graph answered 503.'), { retryable: true })),
      },
    })
    const joint = order(items)
    expect((await away.decideJointly(actorOf(dana), joint)).results).toEqual({})
    await expect(away.system.runJointDecision(joint.decisionId, signal)).rejects.toThrow()
    core.world.groups.set(approversGroup, [omar, kim])
    await core.provisioning.system.runJointDecision(joint.decisionId, signal)
    core.world.groups.set(approversGroup, [dana, omar, kim])
    const stored = await core.provisioning.readJointDecision(actorOf(dana), { decisionId: joint.decisionId })
    expect(Object.values(stored?.results ?? {})).toMatchObject([
      { code: 'not-an-approver' },
      { code: 'not-an-approver' },
    ])
    expect(await states(items)).toEqual(['pendingApproval', 'pendingApproval'])
  })

  it('decides the other requests if one has a defect, and ends without it after the last attempt', async () => {
    const items = await waiting(9)
    const [broken] = items
    const { requests } = core.ports
    const defective = core.with({
      requests: {
        ...requests,
        lock: (id) => (id === broken?.requestId ? Promise.reject(new Error('a defect')) : requests.lock(id)),
      },
    })
    const about = { batchId: randomUUID(), stage: 1 }
    const joint = order(items, { about })
    await defective.decideJointly(actorOf(dana), joint)
    await expect(defective.system.runJointDecision(joint.decisionId, signal)).rejects.toThrow('a defect')
    expect(await states(items)).toEqual(['pendingApproval', ...items.slice(1).map(() => 'queued')])
    await core.provisioning.system.giveUpJointDecision(joint.decisionId)
    const stored = await core.provisioning.readJointDecision(actorOf(dana), { decisionId: joint.decisionId })
    const results = items.map(({ requestId }) => stored?.results[requestId])
    expect(results).toMatchObject([{ code: 'unavailable' }, ...items.slice(1).map(() => 'done')])
    const { rowCount } = await core.database.query(
      `SELECT FROM ordered_jobs WHERE name = 'refresh-batch' AND payload->>'batchId' = $1`,
      [about.batchId],
    )
    expect(rowCount).toBe(1)
  })

  it('needs a comment to reject, and the right to see each request', async () => {
    const items = await waiting(2)
    const before = await core.rows()
    const reject = () => core.provisioning.decideJointly(actorOf(dana), order(items, { decision: 'rejected' }))
    expect((await refusal(reject)).code).toBe('comment-required')
    const foreign = () => core.provisioning.decideJointly(actorOf(stranger), order(items))
    expect((await refusal(foreign)).code).toBe('not-found')
    expect(await core.rows()).toEqual(before)
  })
})
