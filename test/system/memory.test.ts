import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { soakPart } from '../bench/parts.ts'
import { growth, measureSoak } from '../bench/soak.ts'
import { newDatabaseUrl } from '../support/database.ts'

const newFolder = () => mkdtempSync(join(inject('runFolder'), 'soak-'))

/**
 * Bytes for each turn that separate a service that keeps something for each turn from one that does not. An activity alone
 * takes 4,000. The collector's own variation is some 300 over this number of turns.
 */
const most = 1500

describe('the memory of the service', () => {
  it('does not grow with turns and requests', { timeout: 240_000 }, async () => {
    const samples = await measureSoak({ dataDir: newFolder() }, { turns: 1200, requests: 60, samples: 10 })
    expect(samples.map(({ turns }) => turns)).toEqual([0, 120, 240, 360, 480, 600, 720, 840, 960, 1080, 1200])
    for (const { resident, heap } of samples) expect(resident).toBeGreaterThan(heap)
    expect(growth(samples)).toBeLessThan(most)
    // The process runs in 512 MiB.
    expect(Math.max(...samples.map(({ resident }) => resident)) / 2 ** 20).toBeLessThan(512)
  })

  it('is reported to grow when something is kept for each turn', () => {
    const samples = Array.from({ length: 11 }, (_, index) => ({
      ...{ turns: index * 100, resident: 3e8, arrays: 0 },
      heap: 8e7 + index * 100 * 4000,
    }))
    expect(growth(samples)).toBeCloseTo(4000)
  })

  it('is measured by the bench with a PostgreSQL server too, next to its limits', { timeout: 240_000 }, async () => {
    const place = async () => ({ dataDir: newFolder(), databaseUrl: await newDatabaseUrl() })
    const soak = { turns: 20, requests: 4, samples: 2 }
    const { rows, charts } = await soakPart({ place, close: async () => undefined }, soak, ['server'])
    expect(rows.map(([figure]) => figure)).toEqual([
      'resident memory, highest, PostgreSQL server',
      'heap at the end, PostgreSQL server',
    ])
    for (const [, ours, limit] of rows)
      for (const cell of [ours, limit]) expect(Number.parseFloat(cell)).toBeGreaterThan(0)
    expect(charts['soak']?.chart.panels).toHaveLength(1)
  })
})
