import { describe, expect, it } from 'vitest'
import { followUpFaults } from '../laboratory/aimed-check.ts'
import type { HistoryEvent } from '../laboratory/history.ts'
import { pointsOf } from '../support/kill-points.ts'

const second = (at: number) => 1_800_000_000_000 + at * 1000
const end: HistoryEvent = {
  ...{ event: 'end', at: second(40), n: 1, requestId: '77777777-1111-4111-8111-000000000001', status: 'succeeded' },
  ...{ timeline: [{ at: second(16), action: 'succeeded', by: 'system' }], decisions: [] },
}

describe('the follow-up cards of a journey with aimed kills', () => {
  const lost = pointsOf('team').filter(({ name }) => name === 'while the follow-up card is sent, which is lost')
  const ready: HistoryEvent = { event: 'card', at: second(20), n: 1, card: 'ready', chat: 'kim' }
  const card: HistoryEvent = { event: 'card', at: second(19), n: 1, card: 'followUp', chat: 'kim' }
  const kill = (at: number): HistoryEvent => ({ event: 'killed', at: second(at), replica: 0 })
  const faults = (events: HistoryEvent[], met = lost.slice(1)) => {
    const all = [end, ready, ...events]
    return followUpFaults(all, all, { met })
  }

  it('are exactly one', () => {
    expect(faults([card])).toEqual([])
    expect(faults([card, card, kill(19)])).toEqual(['2 follow-up cards'])
    expect(faults([])).toEqual(['no follow-up card, and no kill that explains it'])
  })

  it('may be missing if a kill came between the end of the job and the status card', () => {
    expect(faults([kill(18)])).toEqual([])
    expect(faults([kill(15), kill(25)])).toEqual(['no follow-up card, and no kill that explains it'])
  })

  it('are missing if the card was lost on its way', () => {
    expect(lost).toHaveLength(1)
    expect(faults([kill(19)], lost)).toEqual([])
    expect(faults([card, kill(19)], lost)).toEqual(['1 follow-up cards, although it was lost'])
  })
})
