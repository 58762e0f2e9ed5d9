import { describe, expect, it } from 'vitest'
import { processesParts, type SeenProcess } from '../../src/core/index.ts'

const now = Date.parse('2026-11-20T10:00:00Z')
const one = (more: Partial<SeenProcess> = {}): SeenProcess => {
  const { silentSeconds = 4 } = more
  return {
    ...{ processId: 'a', name: 'host / 1', version: '0.3.0', works: true, startedAt: new Date(now - 3_600_000) },
    ...{ seenAt: new Date(now - silentSeconds * 1000), silentSeconds },
    ...more,
  }
}
const says = (...all: SeenProcess[]) => processesParts(all).map(({ state, says }) => [state, says])

describe('the processes of the service', () => {
  it('are reported by the number that take jobs, and the start of the first', () => {
    const later = one({ startedAt: new Date(now - 60_000) })
    expect(processesParts([later, one()])).toEqual([
      { name: 'processes', state: 'green', says: 'processesWork', count: 2, sinceAt: '2026-11-20T09:00:00.000Z' },
    ])
    expect(processesParts([])).toEqual([])
  })

  it('may have two versions during an update', () => {
    expect(says(one(), one({ version: '0.4.0' }))).toEqual([['green', 'processesMixed']])
    // The version of a stopped process does not count.
    expect(says(one(), one({ version: '0.2.0', silentSeconds: 40 }))).toEqual([['amber', 'processSilent']])
  })

  it('need attention when one is silent for more than 30 seconds', () => {
    expect(says(one(), one({ silentSeconds: 30 }))).toEqual([['green', 'processesWork']])
    expect(processesParts([one(), one({ silentSeconds: 31 })])).toEqual([
      {
        ...{ name: 'processes', state: 'amber', says: 'processSilent', count: 1, silent: 1 },
        silentAt: '2026-11-20T09:59:29.000Z',
      },
    ])
    const two = [one({ silentSeconds: 90 }), one({ silentSeconds: 60 })]
    expect(processesParts([one(), ...two])).toMatchObject([
      { says: 'processesSilent', silent: 2, silentAt: '2026-11-20T09:59:00.000Z' },
    ])
  })

  it('are red when none of them takes jobs', () => {
    expect(says(one(), one({ works: false }))).toEqual([['amber', 'processesIdle']])
    expect(says(one({ works: false }))).toEqual([['red', 'processesStill']])
    expect(says(one({ works: false }), one({ silentSeconds: 100 }))).toEqual([['red', 'processesStill']])
    expect(says(one({ silentSeconds: 100 }))).toEqual([['red', 'processesStill']])
  })
})
