import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { opened } from '../../src/core/approvals/times.ts'
import {
  type Account,
  type ApprovalStage,
  asWritten,
  type Core,
  type Decision,
  isRejected,
  isTerminal,
  openStage,
  type Person,
  type Ports,
  ProvisioningError,
  type Request,
  requestStates,
  type StagePolicy,
  stageOf,
  TenantError,
} from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { requestOf } from '../support/card-requests.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, tenantWith, withCore } from '../support/core.ts'
import { storeInMemory, type Written } from '../support/core-in-memory.ts'

const seed = Number(process.env['APPROVAL_SEED'] ?? Math.floor(Math.random() * 1_000_000))
const sequences = 10_000
const legal = new Set([
  ...['pendingApproval → queued', 'pendingApproval → rejected', 'pendingApproval → cancelled'],
  'pendingApproval → expired',
  ...['queued → provisioning', 'queued → cancelled', 'provisioning → succeeded', 'provisioning → failed'],
  ...['failed → queued', 'failed → cancelled'],
])
const decisionsIn = ({ approvals }: Request) => approvals.flatMap(({ decisions }) => decisions)
/** Returns the number of the open stage. Stages are completed in order. */
const reached = ({ approvals }: Request) => openStage(approvals)?.stage ?? approvals.length + 1

/** Checks the invariants of a single write. */
function check({ before, after, recorded }: Written): void {
  if (!before) return
  // A timer may also find that an approver is away; then both changes are recorded.
  const changes =
    recorded.filter(({ action }) => action === 'delegated').length > 0 && recorded.length > 1 ? [1, 2] : [1]
  expect(changes).toContain(after.version - before.version)
  if (after.approvals !== before.approvals) expect(recorded.length).toBeGreaterThan(0)
  const stayed = before.status === after.status
  // The states in the timeline lead from the previous state to the next one by allowed transitions.
  const states = [
    before.status,
    ...recorded.map(({ action }) => action).filter((one) => requestStates.some((s) => s === one)),
  ]
  expect(states.at(-1)).toBe(after.status)
  for (const [index, to] of states.slice(1).entries()) expect(legal).toContain(`${states[index]} → ${to}`)
  if (stayed) expect(states).toHaveLength(1)
  if (isTerminal(before.status)) {
    // After its end, only the announcement may still be written to a request.
    expect({ ...after, version: 0, updatedAt: '', followUp: {} }).toEqual({
      ...before,
      version: 0,
      updatedAt: '',
      followUp: {},
    })
  }
  const countOf = (...actions: string[]) => recorded.filter(({ action }) => actions.includes(action)).length
  const added = decisionsIn(after).slice(decisionsIn(before).length)
  expect(countOf('approved', 'rejected')).toBe(added.length)
  expect(added.length).toBeLessThanOrEqual(1)
  for (const one of added) checkDecision(before, one)
  if (after.status === 'expired' && !stayed) expect(openStage(before.approvals)?.warnedAt).toBeDefined()
  // Each change of the stage has one line in the timeline.
  const marks = (request: Request) => request.approvals.flatMap(({ reminders = [] }) => reminders).length
  expect(countOf('reminded')).toBe(marks(after) - marks(before))
  const count = (request: Request, what: 'warnedAt' | 'reassigned') =>
    request.approvals.flatMap((stage): unknown[] => [stage[what] ?? []].flat()).length
  expect(countOf('warned')).toBe(count(after, 'warnedAt') - count(before, 'warnedAt'))
  expect(countOf('reassigned')).toBe(count(after, 'reassigned') - count(before, 'reassigned'))
  if (after.approvals.some(isRejected)) expect(after.status).toBe('rejected')
  else expect(reached(after)).toBeGreaterThanOrEqual(reached(before))
  for (const [index, { decisions, approvers }] of before.approvals.entries()) {
    const now = after.approvals[index]
    if (countOf('reassigned') === 0 || reached(before) !== index + 1) expect(now?.approvers).toEqual(approvers)
    expect(now?.decisions.slice(0, decisions.length)).toEqual(decisions)
    if (reached(before) !== index + 1) expect(now?.decisions).toEqual(decisions)
  }
}

/**
 * Checks a decision: the person was asked, or acted for an approver at that time. Nobody decides twice, nor on their
 * own request without permission.
 */
function checkDecision(before: Request, { by, at, insteadOf = [] }: Decision): void {
  const stage = openStage(before.approvals)
  if (!stage) throw new Error('a decision where nothing is to be decided')
  if (by.id === kim.id) expect([stage.selfApproval, insteadOf]).toEqual([true, []])
  const standing = (stage.standIns ?? []).filter(({ person, until = '9' }) => person.id === by.id && until > at)
  const isApprover = stage.approvers.some(({ id }) => id === by.id)
  expect(isApprover || standing.length > 0).toBe(true)
  for (const { id } of insteadOf) {
    expect(stage.approvers.some((one) => one.id === id)).toBe(true)
    expect(standing.some((one) => one.insteadOf.includes(id))).toBe(true)
    expect(stage.decisions.some((one) => one.by.id === id || one.insteadOf?.some((other) => other.id === id))).toBe(
      false,
    )
  }
  if (stage.rule !== 'quorum') return
  expect(stage.decisions.some((one) => one.by.id === by.id)).toBe(false)
  expect(insteadOf.length).toBe(isApprover ? 0 : 1)
}

const stage = (people: readonly Account[], policy: Partial<StagePolicy>, number = 1): ApprovalStage => {
  const approvers = people.map(({ id }) => ({ user: id }))
  const found = people.map((one) => ({ by: { user: one.id }, people: [one] }))
  const admins = [{ by: { admins: priya.id }, people: [priya] }]
  const made = stageOf({ stage: number, place: number }, { approvers, rule: 'any', ...policy }, found, admins, kim.id)
  if (!made) throw new Error('there is an admin in this organisation')
  return made
}

describe(`a random sequence of events (APPROVAL_SEED=${seed})`, () => {
  const core = withCore()

  it(`makes only allowed transitions, each recorded once, never back, none after the end: ${sequences} of them`, async () => {
    const random = mulberry32(seed)
    const oneOf = <T>(some: readonly [T, ...T[]]): T => some[Math.floor(random() * some.length)] ?? some[0]
    const store = storeInMemory()
    const step = async () => {
      const retryable = random() < 0.5
      if (random() < 0.2) throw new TenantError('unavailable', asWritten('The tenant is away.'), { retryable })
      return {
        done: true as const,
        made: { url: `https://contoso.example/${random()}`, siteId: 's', securityGroupId: 'g' },
      }
    }
    const tenant = tenantWith({ 'create-site': step, 'apply-label': step, 'link-group': step })
    core.world.managers.set(dana.id, omar).set(omar.id, kim).set(stranger.id, priya)
    let now = Date.now()
    const ports: Ports = {
      ...core.ports,
      ...store,
      tenant,
      clock: { now: () => new Date(now) },
      templates: { ...core.ports.templates, find: async () => undefined },
    }
    const provisioning = core.with(ports)
    const people: [Person, ...Person[]] = [kim, dana, omar, priya, stranger]
    const counts = new Map<string, number>()
    for (let sequence = 0; sequence < sequences; sequence += 1) {
      const requestId = randomUUID()
      const rules: ['any', 'all', 'quorum'] = ['any', 'all', 'quorum']
      const approvals = Array.from({ length: Math.floor(random() * 4) }, (_, index) => {
        const some = people.filter(() => random() < 0.5)
        const quorum = 1 + Math.floor(random() * 4)
        const rule = oneOf(rules)
        const made = stage(
          some,
          { rule, ...(rule === 'quorum' && { quorum }), selfApproval: random() < 0.2 },
          index + 1,
        )
        const { approvals: times } = provisioning.settings
        return index === 0 ? opened(made, null, times, new Date(now).toISOString()) : made
      })
      const status = approvals.length > 0 ? 'pendingApproval' : 'queued'
      store.put(
        requestOf({
          ...{ requestId, tenantId, approvals, status, number: sequence + 1 },
          queuedAt: approvals.length > 0 ? null : new Date(now).toISOString(),
        }),
      )
      // In some sequences hardly anybody acts.
      const quiet = random() < 0.2
      for (let event = 0; event < 16; event += 1) {
        if (random() < (quiet ? 0.8 : 0.25)) now += Math.floor(random() * 4 * 86_400_000)
        if (random() < 0.1) store.lost.add(oneOf(people).id)
        if (random() < 0.1) store.lost.delete(oneOf(people).id)
        const from = store.written.length
        const tried = store.refused.length
        const at = { requestId, who: oneOf(people), other: oneOf(people), now }
        const outcome = await happens(provisioning, at, quiet && random() < 0.9 ? 'tend' : oneOf(events), random)
        const wrote = store.written.splice(from)
        const actions = wrote.flatMap(({ recorded }) => recorded.map(({ action }) => action))
        // An absence is recorded at the click, whatever its result.
        if (outcome === 'refused') expect(actions.filter((one) => one !== 'delegated')).toEqual([])
        if (store.refused.length > tried) expect([outcome, store.refused.length]).toEqual(['refused', tried + 1])
        for (const one of wrote) check(one)
        for (const action of actions) counts.set(action, (counts.get(action) ?? 0) + 1)
      }
    }
    // Every outcome must occur at least once. Otherwise the run would prove nothing about it.
    const outcomes = [
      'queued',
      'rejected',
      'cancelled',
      'succeeded',
      'failed',
      'expired',
      'reminded',
      'escalated',
      'warned',
    ]
    for (const action of [...outcomes, 'delegated', 'reassigned', 'not-told'])
      expect(counts.get(action) ?? 0, action).toBeGreaterThan(sequences / 100)
    expect(store.refused.length).toBeGreaterThan(sequences / 100)
  })
})

const events = [
  ...['approve', 'approve', 'approve', 'reject', 'cancel', 'retry', 'work', 'work', 'giveUp', 'webhook'],
  ...['tend', 'tend', 'tend', 'tend', 'delegate', 'end', 'realign', 'reassign', 'nudge'],
] as [Event, ...Event[]]
type Event = 'approve' | 'reject' | 'cancel' | 'retry' | keyof typeof others
interface At {
  readonly requestId: string
  readonly who: Person
  readonly other: Person
  readonly now: number
}

const others = {
  work: (to: Core, { requestId }: At, random: () => number) =>
    to.system.provision(requestId, { lastAttempt: random() < 0.3, signal: new AbortController().signal }),
  giveUp: (to: Core, { requestId }: At) => to.system.giveUp(requestId, 'unexpected'),
  webhook: (to: Core, { requestId }: At) =>
    to.system.completeByWebhook(requestId, 'https://contoso.sharepoint.com/sites/made'),
  tend: (to: Core, { requestId }: At, random: () => number) =>
    to.system.runApprovalTimers({ v: 1, requestId, stage: random() < 0.7 ? 1 : 2 }),
  delegate: (to: Core, { who, other, now }: At, random: () => number) =>
    to.beginDelegation(actorOf(who), {
      to: other.id,
      until: new Date(now + random() * 5 * 86_400_000 + 1).toISOString(),
    }),
  end: (to: Core, { who }: At) => to.endDelegation(actorOf(who)),
  realign: (to: Core, { who }: At) => to.system.realignApprovals({ tenantId, personId: who.id }),
  reassign: (to: Core, { requestId, who, other }: At) =>
    to.reassign(actorOf(who, who.id === priya.id), { requestId, to: other.id }),
  nudge: (to: Core, { requestId, who }: At) => to.nudge(actorOf(who, who.id === priya.id), { requestId }),
}

async function happens(to: Core, at: At, event: Event, random: () => number): Promise<string> {
  const actor = actorOf(at.who, at.who.id === priya.id)
  try {
    const decision = { requestId: at.requestId, comment: 'Because.' }
    if (event === 'approve' || event === 'reject') await to[event](actor, decision)
    else if (event === 'cancel') await to.cancelRequest(actor, decision)
    else if (event === 'retry') await to.retryRequest(actor, decision)
    else await others[event](to, at, random)
    return 'done'
  } catch (error) {
    if (error instanceof ProvisioningError) return 'refused'
    if (error instanceof TenantError) return 'failed'
    throw error
  }
}
