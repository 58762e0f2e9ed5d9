import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ChainedEntry, chain, erasure, headOf, newEntryOf, sealOf, system } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { another, chainOf, found, sealingKey, type Written } from '../support/audit-chains.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const foreignKey = createSecretKey(Buffer.alloc(32, 8))
const chainsOfEach = Number(process.env['CHAINS'] ?? 25)

describe(`a chain of entries (SEED=${seed})`, () => {
  const random = mulberry32(seed)
  const below = (count: number) => Math.floor(random() * count)
  const chains = Array.from({ length: chainsOfEach }, () => chainOf(1 + below(12), random))
  const put = (written: Written, place: number, change: Partial<Record<keyof ChainedEntry, unknown>>) => ({
    ...written,
    entries: written.entries.map((entry, index) => (index === place ? { ...entry, ...change } : entry) as ChainedEntry),
  })

  it('proves unchanged entries, also after a round trip through the store', () => {
    for (const written of chains) {
      expect(found(written)).toEqual([])
      expect(found(JSON.parse(JSON.stringify(written)))).toEqual([])
    }
  })

  it('is followed without searching the whole chain for each entry', () => {
    const length = 400
    let reads = 0
    const written = chainOf(length, random)
    const watched = written.entries.map((entry) => {
      const { seq } = entry
      const get = () => {
        reads += 1
        return seq
      }
      return Object.defineProperty({ ...entry }, 'seq', { enumerable: true, get })
    })
    expect(found({ ...written, entries: watched })).toEqual([])
    expect(reads).toBeLessThan(50 * length)
  })

  it('names an entry with any changed part', () => {
    for (const written of chains)
      for (const [place, entry] of written.entries.entries())
        for (const name of Object.keys(entry) as (keyof ChainedEntry)[]) {
          const changed = put(written, place, { [name]: another(entry[name], random) })
          const named = found(changed).filter((one) => one.endsWith(` ${place + 1}`))
          expect(named, `${name} of ${place + 1} of ${written.entries.length}: ${found(changed)}`).not.toEqual([])
        }
  })

  it('names an entry without its text or any other part', () => {
    for (const written of chains)
      for (const [place, entry] of written.entries.entries())
        for (const name of Object.keys(entry) as (keyof ChainedEntry)[]) {
          if (entry[name] === null) continue
          const found1 = found(put(written, place, { [name]: null }))
          const isNamed = found1.some((one) => one.endsWith(` ${place + 1}`))
          expect(isNamed || found1.includes('inserted'), `${name} of ${place + 1}: ${found1}`).toBe(true)
        }
  })

  it('names removed entries, also the first and the last', () => {
    for (const written of chains)
      for (const place of written.entries.keys()) {
        const count = 1 + below(written.entries.length - place)
        const left = { ...written, entries: written.entries.toSpliced(place, count) }
        const removed = Array.from({ length: count }, (_, index) => `removed ${place + index + 1}`)
        expect(found(left)).toEqual(removed)
      }
  })

  it('names an inserted entry at any position, also a fitting one', () => {
    for (const written of chains) {
      const other = chainOf(3, random).entries[below(3)]
      if (!other) throw new Error('a chain of three has three')
      const { requestId, tenantId, at } = written.entries[0] ?? other
      const addition = newEntryOf({ requestId, tenantId, at, actor: system, action: 'approved' })
      for (let place = 0; place <= written.entries.length; place += 1) {
        const into = (entry: ChainedEntry) => found({ ...written, entries: written.entries.toSpliced(place, 0, entry) })
        const [forged] = chain(written.entries[place - 1], [addition], { from: 'chat' })
        const copy = written.entries[Math.max(0, place - 1)]
        if (!forged || !copy) throw new Error('a chain has an entry')
        expect(into(forged)).toEqual([`inserted ${place + 1}`])
        expect(into({ ...copy })).toEqual([`inserted ${copy.seq}`])
        expect(into({ ...other, requestId }).join()).toMatch(/inserted|changed/)
        expect(into({ ...forged, hash: 'a'.repeat(64) })).toEqual([`inserted ${place + 1}`])
      }
    }
  })

  it('names entries that exchanged their positions', () => {
    for (const written of chains)
      for (let place = 1; place < written.entries.length; place += 1) {
        const [one, other] = [written.entries[place - 1], written.entries[place]]
        if (!one || !other) throw new Error('there are two')
        const swapped = { ...written, entries: written.entries.toSpliced(place - 1, 2, other, one) }
        expect(found(swapped)).toEqual([`moved ${place}`])
        const renumbered = put(put(written, place - 1, { seq: other.seq }), place, { seq: one.seq })
        expect(found(renumbered)).toEqual([`moved ${place}`, `moved ${place + 1}`])
      }
  })

  it('finds a foreign head, and a head that was adapted to a shorter chain', () => {
    for (const written of chains) {
      const { entries, head, requestId } = written
      expect(found({ ...written, head: null })).toEqual(['anchor'])
      for (const change of [{ seq: head.seq + 1 }, { hash: 'a'.repeat(64) }, { seal: 'a'.repeat(64) }, { seal: null }])
        expect(found({ ...written, head: { ...head, ...change } }).join()).toContain('anchor')
      const shorter = entries.slice(0, -1)
      const last = shorter.at(-1)
      if (!last) continue
      const fitted = { seq: last.seq, hash: last.hash }
      const stolen = { ...fitted, seal: sealOf(foreignKey, requestId, fitted) }
      expect(found({ ...written, entries: shorter, head: stolen }).join()).toContain('anchor')
      // With an older head of ours, the request reveals the removal.
      const older = { ...fitted, seal: sealOf(sealingKey, requestId, fitted) }
      const changed = shorter.findLast(({ after }) => after !== null)
      if (changed && changed.version !== entries.at(-1)?.version)
        expect(found({ ...written, entries: shorter, head: older })).toContain('request')
    }
  })

  it('finds a chain that was rewritten from some entry on with correct hashes', () => {
    for (const written of chains) {
      const place = below(written.entries.length)
      const rewritten = written.entries
        .slice(place)
        .map(({ text: _, ...entry }) => ({ ...entry, text: { comment: 'Lie' } }))
      const forged = chain(written.entries[place - 1], rewritten, { from: 'chat' })
      const whole = { ...written, entries: [...written.entries.slice(0, place), ...forged] }
      expect(found(whole)).not.toEqual([])
      const head = headOf(foreignKey, forged, true) ?? null
      expect(found({ ...whole, head }).join()).toContain('anchor')
    }
  })

  it('finds a request that differs from its last entry, or is missing', () => {
    for (const written of chains) {
      const { request } = written
      if (!request) throw new Error('there is one')
      const { body } = request
      const changed = { ...request, body: { ...body, reason: 'Another' } }
      expect(found({ ...written, request: changed })).toEqual(['request'])
      expect(found({ ...written, request: { ...request, status: 'queued' } })).toEqual(['request'])
      expect(found({ ...written, request: null })).toEqual(['request'])
      const later = { ...request, version: request.version + 1, body: { ...body, version: request.version + 1 } }
      expect(found({ ...written, request: later })).toEqual(['request'])
      const older = { ...request, version: request.version - 1, body: { ...body, version: request.version - 1 } }
      expect(found({ ...written, request: older })).toEqual(['request'])
    }
  })

  it('accepts missing texts only if an entry records their erasure', () => {
    for (const written of chains) {
      const { entries, requestId } = written
      const place = below(entries.length)
      const bare = entries.map((entry, index) => (index === place ? { ...entry, text: null, salt: null } : entry))
      expect(found({ ...written, entries: bare })).toEqual([`changed ${place + 1}`])
      const { tenantId, at } = entries[0] ?? { tenantId: '', at: '' }
      const erasureEntry = { requestId, tenantId, at, actor: system, action: erasure, data: { entries: [place + 1] } }
      const all = [...bare, ...chain(entries.at(-1), [newEntryOf(erasureEntry)], { from: 'command line' })]
      const head = headOf(sealingKey, all, true) ?? null
      expect(found({ ...written, entries: all, head })).toEqual([])
    }
  })
})
