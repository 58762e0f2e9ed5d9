import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isTerminal,
  openStates,
  type Request,
  type RequestState,
  requestStates,
  transition,
  transitions,
} from '../../src/core/index.ts'
import { requestOf } from '../support/card-requests.ts'
import { refusalOf } from '../support/refusal.ts'
import { seed } from '../support/seed.ts'

/** The moves of DESIGN §4. An independent copy, so that a mistake in the code's table shows. */
const legalMoves = [
  'pendingApproval → queued',
  'pendingApproval → rejected',
  'pendingApproval → expired',
  'pendingApproval → cancelled',
  'queued → provisioning',
  'queued → cancelled',
  'provisioning → succeeded',
  'provisioning → failed',
  'failed → queued',
  'failed → cancelled',
]
const terminal = ['succeeded', 'rejected', 'expired', 'cancelled']
const at = (step: number): string => new Date(Date.UTC(2026, 10, 20, 9, 0, step)).toISOString()

describe('the states of a request', () => {
  it('allow only the moves of the design', () => {
    const possible = requestStates.flatMap((from) =>
      requestStates.flatMap((to) => {
        const moved = (() => {
          try {
            return transition(requestOf({ status: from }), to, at(1))
          } catch (error) {
            expect(refusalOf(error)).toBe('illegal-transition')
            return undefined
          }
        })()
        return moved ? [`${from} → ${to}`] : []
      }),
    )
    expect(possible.sort()).toEqual([...legalMoves].sort())
  })

  it('hold in 10,000 random sequences of events: the input is unchanged, and an ended request stays ended', () => {
    const events = fc.array(fc.constantFrom(...requestStates), { maxLength: 12 })
    const start = fc.constantFrom<RequestState>('pendingApproval', 'queued')
    fc.assert(
      fc.property(start, events, (status, states) => {
        let request: Request = requestOf({ status, queuedAt: status === 'queued' ? at(0) : null })
        for (const [step, to] of states.entries()) {
          const before = Object.freeze(request)
          const legal = legalMoves.includes(`${request.status} → ${to}`)
          try {
            const next = transition(request, to, at(step + 1))
            expect(legal).toBe(true)
            expect(next.status).toBe(to)
            expect(next.updatedAt).toBe(at(step + 1))
            expect(next.queuedAt).toBe(to === 'queued' ? at(step + 1) : before.queuedAt)
            expect(next.finishedAt).toBe(terminal.includes(to) ? at(step + 1) : null)
            expect(terminal).not.toContain(before.status)
            request = next
          } catch (error) {
            if (legal) throw error
            expect(refusalOf(error)).toBe('illegal-transition')
          }
        }
      }),
      { numRuns: 10_000, seed },
    )
  })

  it('are open until they are terminal', () => {
    expect(requestStates.filter(isTerminal).sort()).toEqual([...terminal].sort())
    expect([...openStates].sort()).toEqual(['failed', 'pendingApproval', 'provisioning', 'queued'])
  })

  it('do not compile if a table omits one', () => {
    const { failed: _, ...without } = transitions
    // @ts-expect-error: a table that omits a state
    const table: Record<RequestState, readonly RequestState[]> = without
    // @ts-expect-error: an unknown state
    const unknown: RequestState = 'approved'
    expect(requestStates).not.toContain(unknown)
    expect(Object.keys(table)).not.toContain('failed')
  })
})
