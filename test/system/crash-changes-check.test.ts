import { describe, expect, it } from 'vitest'
import { type ChangeFacts, changeFaults, type EndedRequest } from '../laboratory/changes-check.ts'
import { changeKinds, changePoints, hardestChange } from '../support/change-points.ts'

const [dana, omar] = ['dana', 'omar']
const kill = 20_000
const arrival = { at: 10_000, isUnheard: false }
const unheard = { at: kill - 3000, isUnheard: true }

const request: EndedRequest = {
  ...{ name: 'Lab 0007', status: 'succeeded', mailboxes: 1 },
  decisions: [`1 approved ${dana}`, `2 approved ${omar}`],
  actions: ['pendingApproval', 'approved', 'approved', 'queued', 'provisioning', 'succeeded', 'announced'],
}
const good: ChangeFacts = {
  ...{ n: 7, kind: 'twoStages', point: 'somewhere', errors: [], requests: [request], names: ['Lab 0007'] },
  decisions: request.decisions,
  cards: { 'the question': [arrival] },
  order: [
    ['the first decision', 1000],
    ['the second question', 1100],
  ],
  results: { 'its audit': [['erasure-ordered'], ['erasure-ordered']] },
}
const faults = (change: Partial<ChangeFacts>) =>
  changeFaults({ ...good, ...change }, [kill]).map((one) => one.replace('7 (twoStages, killed somewhere): ', ''))
const requested = (change: Partial<EndedRequest>) => faults({ requests: [{ ...request, ...change }] })

describe('the check of a change with an aimed kill', () => {
  it('accepts a complete change', () => {
    expect(faults({})).toEqual([])
  })

  it.each<[string, string[], string]>([
    ['a client’s error', faults({ errors: ['gave up'] }), 'gave up'],
    ['a lost request', faults({ requests: [] }), 'its requests are missing'],
    ['a second request', faults({ requests: [request, request] }), 'its requests are Lab 0007, Lab 0007'],
    ['a request of no row', faults({ names: ['Lab 0007', 'Lab 0007 2'] }), 'its requests are Lab 0007'],
    ['a stuck request', requested({ status: 'queued' }), 'Lab 0007 is queued'],
    ['a missing mailbox', requested({ mailboxes: 0 }), 'Lab 0007 has 0 mailboxes'],
    ['a second mailbox', requested({ mailboxes: 2 }), 'Lab 0007 has 2 mailboxes'],
    [
      'a missing decision',
      requested({ decisions: [`1 approved ${dana}`] }),
      'Lab 0007 has the decisions 1 approved dana',
    ],
    [
      'a second success',
      requested({ actions: [...request.actions, 'succeeded'] }),
      'Lab 0007 was succeeded more than once',
    ],
    [
      'a second reassignment',
      requested({ actions: ['reassigned', 'reassigned'] }),
      'Lab 0007 was reassigned more than once',
    ],
    ['a missing card', faults({ cards: { 'the digest': [] } }), 'the digest never came'],
    [
      'a copy of a card',
      faults({ cards: { 'the digest': [arrival, arrival] } }),
      'the digest came 2 times: a kill after 10000 ms, a kill after 10000 ms',
    ],
    [
      'a third card after one lost answer',
      faults({ cards: { 'the digest': [unheard, arrival, arrival] } }),
      'the digest came 3 times: a kill after 3000 ms, a kill after 10000 ms, a kill after 10000 ms',
    ],
    [
      'a question before the decision that it follows',
      faults({ order: [...good.order].reverse() }),
      'the first decision came before the second question',
    ],
    [
      'a wrong result',
      faults({ results: { 'its audit': [[], ['person-erased']] } }),
      'its audit: [] instead of ["person-erased"]',
    ],
  ])('reports %s', (_, found, expected) => {
    expect(found).toEqual([expected])
  })

  it('accepts a copy that a kill explains: the answer was kept back, not stored yet, or never read', () => {
    const late = { at: kill - 100, isUnheard: false }
    const underWay = { at: kill + 2, isUnheard: false }
    for (const first of [unheard, late, underWay]) {
      expect(faults({ cards: { 'the digest': [first, arrival] } })).toEqual([])
    }
  })

  it('expects that the requests of an erasure stay cancelled, without a mailbox', () => {
    const cancelled = { ...request, status: 'cancelled', mailboxes: 0 }
    expect(changeFaults({ ...good, kind: 'erasure', requests: [cancelled] }, [])).toEqual([])
    expect(changeFaults({ ...good, kind: 'erasure' }, [])).toHaveLength(2)
  })
})

describe('the kill points of changes', () => {
  it('have different names, and the hardest of each kind is one of them', () => {
    for (const kind of changeKinds) {
      const names = changePoints(kind).map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
      expect(names).toContain(hardestChange[kind])
    }
  })
})
