import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ApprovalStage,
  type Decision,
  decide,
  lastDecision,
  openStage,
  type Person,
  ProvisioningError,
  waitingFor,
} from '../../src/core/index.ts'
import { at, dana, kim, omar, priya } from '../support/card-world.ts'
import { refusal } from '../support/refusal.ts'
import { seed } from '../support/seed.ts'

const stage = (number: number, approvers: Person[], more: Partial<ApprovalStage> = {}): ApprovalStage => ({
  stage: number,
  rule: 'any',
  approvers,
  decisions: [],
  ...more,
})
const approved = (by: Person, time = '09:31'): Decision => ({ by, decision: 'approved', at: at(time) })
const rejected = (by: Person, time = '09:31'): Decision => ({ by, decision: 'rejected', at: at(time), comment: 'No.' })
/** Applies decisions in order to stages of Kim's request. Returns the outcome of each, and the final stages. */
function run(stages: ApprovalStage[], ...decisions: Decision[]) {
  let now = stages
  const outcomes = decisions.map((one) => {
    const result = decide(now, kim.id, one)
    now = result.stages
    return result.outcome
  })
  return { outcomes, stages: now }
}

describe('the rules of a stage', () => {
  it('any: the first approval completes the stage', () => {
    const { outcomes, stages } = run([stage(1, [dana, omar])], approved(omar))
    expect(outcomes).toEqual(['approved'])
    expect(waitingFor(stages)).toEqual([])
  })

  it('all: the stage waits for each undecided approver', () => {
    const { outcomes, stages } = run([stage(1, [dana, omar, priya], { rule: 'all' })], approved(dana), approved(priya))
    expect(outcomes).toEqual(['waiting', 'waiting'])
    expect(waitingFor(stages)).toEqual([omar])
    expect(run(stages, approved(omar)).outcomes).toEqual(['approved'])
  })

  it('quorum: the stage needs its number of approvals, at most one from each approver', () => {
    const three = [dana, omar, priya]
    const two = run([stage(1, three, { rule: 'quorum', quorum: 2 })], approved(dana), approved(omar))
    expect(two.outcomes).toEqual(['waiting', 'approved'])
    const five = run([stage(1, [dana, omar], { rule: 'quorum', quorum: 5 })], approved(dana), approved(omar))
    expect(five.outcomes).toEqual(['waiting', 'approved'])
  })

  it.each(['any', 'all', 'quorum'] as const)('%s: one rejection ends the whole request', (rule) => {
    const stages = [stage(1, [dana, omar, priya], { rule, quorum: 2 }), stage(2, [priya])]
    const { outcomes, stages: after } = run(stages, rejected(omar))
    expect(outcomes).toEqual(['rejected'])
    expect(openStage(after)).toBeUndefined()
    expect(waitingFor(after)).toEqual([])
  })
})

describe('several stages', () => {
  it('open one after another, and an approver of two stages decides in each', () => {
    const stages = [stage(1, [dana]), stage(2, [omar, dana], { rule: 'all' }), stage(3, [priya])]
    const { outcomes, stages: after } = run(
      stages,
      approved(dana, '09:31'),
      approved(dana, '09:32'),
      approved(omar, '09:33'),
      approved(priya, '09:34'),
    )
    expect(outcomes).toEqual(['next-stage', 'waiting', 'next-stage', 'approved'])
    expect(after.map(({ decisions }) => decisions.length)).toEqual([1, 2, 1])
    expect(lastDecision(after)?.by).toEqual(priya)
  })

  it('reject a decision by an approver of a later stage', async () => {
    const error = await refusal(() => run([stage(1, [dana]), stage(2, [omar])], approved(omar)))
    expect(error.code).toBe('not-an-approver')
  })
})

describe('a decision is rejected', () => {
  it('from the requester, even if the requester is an approver', async () => {
    expect((await refusal(() => run([stage(1, [dana])], approved(kim)))).code).toBe('self-approval')
    expect((await refusal(() => run([stage(1, [kim, dana])], rejected(kim)))).code).toBe('self-approval')
  })

  it('from a person who is not an approver', async () => {
    expect((await refusal(() => run([stage(1, [dana])], approved(omar)))).code).toBe('not-an-approver')
  })

  it('from a person who has decided, with the time of the first decision', async () => {
    const { stages } = run([stage(1, [dana, omar], { rule: 'all' })], approved(dana, '09:31'))
    const error = await refusal(() => run(stages, rejected(dana, '09:40')))
    expect(error.code).toBe('already-decided')
    expect(error.context).toEqual({ by: 'Dana Fox', at: at('09:31') })
  })

  it('after the end, with the last decider and the time', async () => {
    const { stages } = run([stage(1, [dana, omar])], approved(dana, '09:31'))
    const error = await refusal(() => run(stages, approved(omar, '09:32')))
    expect(error).toBeInstanceOf(ProvisioningError)
    expect([error.code, error.context]).toEqual(['already-decided', { by: 'Dana Fox', at: at('09:31') }])
  })
})

const everybody = [dana, omar, priya, kim]
const stagesToTry = fc
  .array(
    fc.record({
      rule: fc.constantFrom('any' as const, 'all' as const, 'quorum' as const),
      quorum: fc.integer({ min: 1, max: 4 }),
      approvers: fc.uniqueArray(fc.constantFrom(dana, omar, priya), { minLength: 1, selector: ({ id }) => id }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => all.map((one, index) => stage(index + 1, one.approvers, { rule: one.rule, quorum: one.quorum })))
const decisionsToTry = fc.array(fc.record({ by: fc.constantFrom(...everybody), yes: fc.boolean() }), { maxLength: 20 })

describe('any sequence of decisions', () => {
  it('has at most one outcome, and at most one decision for each person and stage', () => {
    fc.assert(
      fc.property(stagesToTry, decisionsToTry, (start, tries) => {
        let stages = start
        const ends: string[] = []
        for (const [minute, { by, yes }] of tries.entries()) {
          const waited = waitingFor(stages).some(({ id }) => id === by.id)
          try {
            const time = `10:${String(minute).padStart(2, '0')}`
            const result = decide(stages, kim.id, yes ? approved(by, time) : rejected(by, time))
            expect(waited, 'only people who can decide were accepted').toBe(true)
            stages = result.stages
            if (result.outcome === 'approved' || result.outcome === 'rejected') ends.push(result.outcome)
          } catch (error) {
            if (!(error instanceof ProvisioningError)) throw error
            expect(waited, `${by.displayName} could decide and was rejected: ${error.code}`).toBe(false)
          }
        }
        expect(ends.length).toBeLessThanOrEqual(1)
        expect(ends.length === 1).toBe(openStage(stages) === undefined)
        for (const { decisions, approvers } of stages) {
          expect(new Set(decisions.map(({ by }) => by.id)).size).toBe(decisions.length)
          for (const { by } of decisions) expect(approvers).toContainEqual(by)
        }
        const rejections = stages.flatMap(({ decisions }) => decisions.filter((one) => one.decision === 'rejected'))
        expect(rejections.length).toBe(ends[0] === 'rejected' ? 1 : 0)
      }),
      { numRuns: 5000, seed },
    )
  })
})
