import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { deadLetters, everyStatusCard, faultsOf, unaimed } from './laboratory/aimed-check.ts'
import { type AimedOutcome, liveAimed } from './laboratory/aimed-run.ts'
import { type AimedWorld, openAimedWorld } from './laboratory/aimed-world.ts'
import { violationsIn } from './laboratory/checker.ts'
import { figuresOf } from './laboratory/figures.ts'
import { noteEnds } from './laboratory/laboratory.ts'
import { createScores } from './laboratory/scores.ts'
import { journeyKinds } from './support/journey.ts'
import { hardest, pointsOf } from './support/kill-points.ts'
import { mulberry32 } from './support/random.ts'

/** `CRASH_POINTS=all` (npm run test:crash) kills at every point there is, `CRASH_ROUNDS` times (1 unless said) each. */
const everything = process.env['CRASH_POINTS'] === 'all'
const rounds = everything ? Number(process.env['CRASH_ROUNDS'] ?? 1) : 1
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const points = journeyKinds.flatMap((kind) =>
  pointsOf(kind).filter(({ name }) => everything || hardest[kind].includes(name)),
)
/** Milliseconds until the run gives up; on a busy machine everything takes longer. */
const longest = everything ? 900_000 + rounds * 240_000 : 80_000

describe('a site or a room outlives kill -9 of the service', () => {
  console.info(
    `aimed kills: seed ${seed}, ${points.length} points × ${rounds}${everything ? '' : ' (CRASH_POINTS=all)'}`,
  )
  const scores = createScores(points, rounds, mulberry32(seed + 1))
  let world: AimedWorld
  let outcome: AimedOutcome
  beforeAll(async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'aimed-'))
    world = await openAimedWorld(folder, seed, process.env['CRASH_AIMED_HISTORY'])
  })
  afterAll(() => world?.close())

  it('at every point that a kill is aimed at', { timeout: longest + 400_000 }, async () => {
    const began = Date.now()
    outcome = await liveAimed(world, scores, began + longest)
    const seconds = Math.round((Date.now() - began) / 1000)
    const { journeys, elsewhere } = outcome
    const kills = world.history.events.filter(({ event }) => event === 'killed').length
    const hits = `${journeys.length} journeys, ${kills} SIGKILLs hit ${scores.hits()} aimed points`
    console.info(`aimed kills: ${seconds} s, ${hits} and ${elsewhere} journeys elsewhere`)
    if (everything) console.info(scores.table().join('\n'))
    expect(scores.left()).toEqual([])
  })

  it('nothing is lost and nothing comes twice, also after one more restart', { timeout: 600_000 }, async () => {
    const { journeys } = outcome
    await everyStatusCard(world, journeys)
    await world.cluster.kill(0)
    await world.cluster.start(0)
    await setTimeout(everything ? 10_000 : 3000)
    world.outside.look()
    await noteEnds(world)
    world.noteTenant()
    const { events, file } = world.history
    console.info(`aimed kills: ${figuresOf(events, 0)}; history in ${file}`)
    const faults = await Promise.all(journeys.map((journey) => faultsOf(world, journey)))
    expect([...violationsIn(events), ...faults.flat()]).toEqual([])
    expect(await deadLetters(world)).toEqual([])
    expect(world.connector.unexpected).toEqual([])
  })

  it('the points cover every call that the work needs', () => {
    expect(unaimed(outcome.journeys)).toEqual({ team: [], communication: [], room: [] })
  })
})
