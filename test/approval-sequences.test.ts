import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  type Account,
  type ApprovalStage,
  isRejected,
  isTerminal,
  openStage,
  type Person,
  type Ports,
  type Provisioning,
  ProvisioningError,
  type Request,
  requestStates,
  type StagePolicy,
  stageOf,
  TenantError,
} from '../src/core/index.ts'
import { requestOf } from './support/card-requests.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, tenantWith, withCore } from './support/core.ts'
import { storeInMemory, type Written } from './support/core-in-memory.ts'
import { mulberry32 } from './support/random.ts'

const seed = Number(process.env['APPROVAL_SEED'] ?? Math.floor(Math.random() * 1_000_000))
const sequences = 10_000
const legal = new Set([
  ...['pendingApproval → queued', 'pendingApproval → rejected', 'pendingApproval → cancelled'],
  ...['queued → provisioning', 'queued → cancelled', 'provisioning → succeeded', 'provisioning → failed'],
  ...['failed → queued', 'failed → cancelled'],
])
const decisionsIn = ({ approvals }: Request) => approvals.flatMap(({ decisions }) => decisions)
/** How far the stages are: those that are done, in order. */
const reached = ({ approvals }: Request) => openStage(approvals)?.stage ?? approvals.length + 1

/** What every single write must keep, whatever came before it. */
function check({ before, after, said }: Written): void {
  if (!before) return
  expect(after.version).toBe(before.version + 1)
  const stayed = before.status === after.status
  // The states that the timeline tells lead from the one before to the one after, one legal move each.
  const states = [
    before.status,
    ...said.map(({ action }) => action).filter((one) => requestStates.some((s) => s === one)),
  ]
  expect(states.at(-1)).toBe(after.status)
  for (const [index, to] of states.slice(1).entries()) expect(legal).toContain(`${states[index]} → ${to}`)
  if (stayed) expect(states).toHaveLength(1)
  if (isTerminal(before.status)) {
    // Only that it was found and told of may still be written on one that has ended.
    expect({ ...after, version: 0, updatedAt: '', followUp: {} }).toEqual({
      ...before,
      version: 0,
      updatedAt: '',
      followUp: {},
    })
  }
  const told = (...actions: string[]) => said.filter(({ action }) => actions.includes(action)).length
  const added = decisionsIn(after).slice(decisionsIn(before).length)
  expect(told('approved', 'rejected')).toBe(added.length)
  expect(added.length).toBeLessThanOrEqual(1)
  if (after.approvals.some(isRejected)) expect(after.status).toBe('rejected')
  else expect(reached(after)).toBeGreaterThanOrEqual(reached(before))
  for (const [index, { decisions, approvers }] of before.approvals.entries()) {
    const now = after.approvals[index]
    expect(now?.approvers).toEqual(approvers)
    expect(now?.decisions.slice(0, decisions.length)).toEqual(decisions)
    if (reached(before) !== index + 1) expect(now?.decisions).toEqual(decisions)
  }
}

const stage = (people: readonly Account[], policy: Partial<StagePolicy>, number = 1): ApprovalStage => {
  const approvers = people.map(({ id }) => ({ user: id }))
  const found = people.map((one) => ({ by: { user: one.id }, people: [one] }))
  const admins = [{ by: { admins: priya.id }, people: [priya] }]
  const made = stageOf({ stage: number, place: number }, { approvers, rule: 'any', ...policy }, found, admins, kim.id)
  if (!made) throw new Error('there is an admin in this organisation')
  return made
}

describe(`any sequence of events (APPROVAL_SEED=${seed})`, () => {
  const core = withCore()

  it(`makes legal moves only, each told once, never back, none after the end: ${sequences} of them`, async () => {
    const random = mulberry32(seed)
    const oneOf = <T>(some: readonly [T, ...T[]]): T => some[Math.floor(random() * some.length)] ?? some[0]
    const store = storeInMemory()
    const step = async () => {
      const retryable = random() < 0.5
      if (random() < 0.2) throw new TenantError('unavailable', 'The tenant is away.', { retryable })
      return {
        done: true as const,
        made: { url: `https://contoso.example/${random()}`, siteId: 's', securityGroupId: 'g' },
      }
    }
    const tenant = tenantWith({ 'create-site': step, 'apply-label': step, 'link-group': step })
    const ports: Ports = {
      ...core.ports,
      ...store,
      tenant,
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
        return stage(some, { rule, ...(rule === 'quorum' && { quorum }), selfApproval: random() < 0.2 }, index + 1)
      })
      const status = approvals.length > 0 ? 'pendingApproval' : 'queued'
      store.put(
        requestOf({
          ...{ requestId, tenantId, approvals, status, number: sequence + 1 },
          queuedAt: approvals.length > 0 ? null : new Date().toISOString(),
        }),
      )
      for (let event = 0; event < 12; event += 1) {
        const from = store.written.length
        const outcome = await happens(provisioning, requestId, oneOf(people), oneOf(events), random)
        const wrote = store.written.splice(from)
        if (outcome === 'refused') expect(wrote).toEqual([])
        for (const one of wrote) check(one)
        const state = wrote.at(-1)?.after.status
        if (state) counts.set(state, (counts.get(state) ?? 0) + 1)
      }
    }
    // A run that never came somewhere would prove nothing about it.
    for (const state of ['queued', 'rejected', 'cancelled', 'succeeded', 'failed'])
      expect(counts.get(state) ?? 0, state).toBeGreaterThan(sequences / 100)
  }, 300_000)
})

const events = [
  'approve',
  'approve',
  'approve',
  'reject',
  'cancel',
  'retry',
  'work',
  'work',
  'giveUp',
  'webhook',
] as const
type Event = (typeof events)[number]

async function happens(
  to: Provisioning,
  requestId: string,
  who: Person,
  event: Event,
  random: () => number,
): Promise<'done' | 'refused' | 'failed'> {
  const actor = actorOf(who, who.id === priya.id)
  try {
    if (event === 'work') {
      const signal = new AbortController().signal
      await to.system.provision(requestId, { lastAttempt: random() < 0.3, signal })
    } else if (event === 'giveUp') await to.system.giveUp(requestId)
    else if (event === 'webhook')
      await to.system.completeByWebhook(requestId, 'https://contoso.sharepoint.com/sites/made')
    else await to[event](actor, requestId, 'Because.')
    return 'done'
  } catch (error) {
    if (error instanceof ProvisioningError) return 'refused'
    if (error instanceof TenantError) return 'failed'
    throw error
  }
}
