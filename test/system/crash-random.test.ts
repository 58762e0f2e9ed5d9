import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { violationsIn } from '../laboratory/checker.ts'
import { figuresOf } from '../laboratory/figures.ts'
import { killsIn } from '../laboratory/history.ts'
import { type Laboratory, live, openLaboratory } from '../laboratory/laboratory.ts'
import { runSettings } from '../laboratory/plan.ts'

const settings = runSettings(process.env)
const { requests, kills, seed, store, replicas, resets } = settings
/** Milliseconds. On a busy machine each request may take this long. */
const longest = 300_000 + kills * 15_000 + requests * 5000
const how = resets > 0 ? `, the tenant resets ${resets * 100} % of creations` : ''

describe(`${requests} requests with ${kills} kills`, () => {
  console.info(
    `crash laboratory: seed ${seed}, ${requests} requests, ${kills} kills, ${store} store, ${replicas} replica(s)${how}`,
  )
  let lab: Laboratory
  beforeAll(async () => {
    lab = await openLaboratory(settings, mkdtempSync(join(inject('runFolder'), 'laboratory-')))
  })
  afterAll(() => lab?.close())

  it('are neither lost nor executed twice', {
    timeout: longest,
  }, async () => {
    const began = Date.now()
    await live(lab, settings)
    const { events, file } = lab.history
    // Waiting resolves lost answers. Only runs without lost answers must end within the minute.
    const violations = violationsIn(events, resets > 0 ? { terminalSeconds: 900 } : {})
    console.info(`crash laboratory: ${figuresOf(events, (Date.now() - began) / 1000)}; history in ${file}`)
    expect(violations).toEqual([])
    expect(lab.connector.unexpected).toEqual([])
    expect(killsIn(events).length).toBeGreaterThanOrEqual(kills)
  })
})
