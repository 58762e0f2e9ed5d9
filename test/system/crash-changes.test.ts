import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { changeFaults } from '../laboratory/changes-check.ts'
import { readFacts } from '../laboratory/changes-facts.ts'
import { admin } from '../laboratory/changes-people.ts'
import { type ChangesOutcome, liveChanges } from '../laboratory/changes-run.ts'
import { type ChangesWorld, openChangesWorld } from '../laboratory/changes-world.ts'
import { killsIn } from '../laboratory/history.ts'
import { changeKinds, changePoints, hardestChange } from '../support/change-points.ts'

/**
 * `CRASH_POINTS=all` (npm run test:crash) kills at every point, `CRASH_ROUNDS` times each (default 1). A kind such as
 * `CRASH_POINTS=rejection` selects the points of this kind.
 */
const { CRASH_POINTS: wanted = '' } = process.env
const kinds = changeKinds.filter((kind) => kind === wanted)
const everything = wanted === 'all' || kinds.length > 0
const rounds = everything ? Number(process.env['CRASH_ROUNDS'] ?? 1) : 1
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const points = (kinds.length > 0 ? kinds : changeKinds).flatMap((kind) =>
  changePoints(kind).filter(({ name }) => everything || hardestChange[kind] === name),
)
/** Milliseconds until the last kill. A point without enough hits fails. */
const longest = (everything ? Number(process.env['CRASH_MINUTES'] ?? 10 + rounds * 4) : 4) * 60_000

describe('a change after kill -9 of the service', () => {
  console.info(
    `aimed kills of changes: seed ${seed}, ${points.length} points × ${rounds}${everything ? '' : ' (CRASH_POINTS=all for all)'}`,
  )
  let world: ChangesWorld
  let outcome: ChangesOutcome = { played: [], scores: [] }
  beforeAll(async () => {
    const folder = process.env['CRASH_AIMED_HISTORY'] ?? mkdtempSync(join(inject('runFolder'), 'changes-'))
    // A digest and an erasure need a person, and a rejection two, who had no part in another one. Some hit no point.
    world = await openChangesWorld(join(folder, 'changes'), seed, 20 + points.length * rounds * 4)
  })
  afterAll(() => world.close())
  const kills = () => killsIn(world.history.events)

  it('is completed, for every point that a kill is aimed at', { timeout: longest + 400_000 }, async () => {
    const began = performance.now()
    outcome = await liveChanges(world, points, { rounds, deadline: began + longest })
    const seconds = Math.round((performance.now() - began) / 1000)
    const { scores, played } = outcome
    const hits = scores.reduce((sum, one) => sum + one.hits, 0)
    console.info(
      `aimed kills of changes: ${seconds} s, ${kills().length} SIGKILLs hit ${played.length} changes at ${points.length} points ${hits} times; history in ${world.history.file}`,
    )
    if (everything) console.info(scores.map(({ point, hits }) => `${hits} × ${point.kind}: ${point.name}`).join('\n'))
    expect(scores.filter(({ hits }) => hits < rounds).map(({ point }) => `${point.kind}: ${point.name}`)).toEqual([])
  })

  it('is neither lost nor duplicated, also after one more restart', async () => {
    await world.cluster.kill(0)
    await world.cluster.start(0)
    await setTimeout(everything ? 5000 : 1500)
    const facts = await readFacts(world, outcome.played)
    const faults = facts.flatMap((one) => changeFaults(one, kills()))
    const deadLetters = (await world.people.get(admin, '/admin/v1/dead-letters'))['value']
    expect({ faults, deadLetters, unexpected: world.connector.unexpected }).toEqual({
      ...{ faults: [], deadLetters: [], unexpected: [] },
    })
  })
})
