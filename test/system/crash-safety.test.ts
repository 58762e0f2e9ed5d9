import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { deadLetters, everyStatusCard, faultsOf, unaimed } from '../laboratory/aimed-check.ts'
import { type AimedOutcome, liveAimed } from '../laboratory/aimed-run.ts'
import { type AimedWorld, openAimedWorld } from '../laboratory/aimed-world.ts'
import { violationsIn } from '../laboratory/checker.ts'
import { figuresOf } from '../laboratory/figures.ts'
import { killsIn } from '../laboratory/history.ts'
import { noteEnds } from '../laboratory/laboratory.ts'
import { createScores } from '../laboratory/scores.ts'
import { journeyKinds } from '../support/journey.ts'
import { hardest, pointsOf } from '../support/kill-points.ts'

/** `CRASH_POINTS=all` (npm run test:crash) kills at every point, `CRASH_ROUNDS` times each (default 1). */
const everything = process.env['CRASH_POINTS'] === 'all'
const rounds = everything ? Number(process.env['CRASH_ROUNDS'] ?? 1) : 1
/** Number of services that share the work, each with its own tenant and chats: while one starts, the others work. */
const services = everything ? Number(process.env['CRASH_SERVICES'] ?? 2) : 1
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const points = journeyKinds.flatMap((kind) =>
  pointsOf(kind).filter(({ name }) => everything || hardest[kind].includes(name)),
)
/**
 * Milliseconds until the last kill. On a busy machine everything takes longer, and a point without enough hits fails.
 */
const longest = (everything ? Number(process.env['CRASH_MINUTES'] ?? 15 + rounds * 4) : 4) * 60_000

describe('a site or a room after kill -9 of the service', () => {
  const how = everything ? `${services} services` : 'CRASH_POINTS=all for all'
  console.info(`aimed kills: seed ${seed}, ${points.length} points × ${rounds} (${how})`)
  const scores = createScores(points, rounds, mulberry32(seed))
  const worlds: AimedWorld[] = []
  const outcomes: AimedOutcome[] = []
  beforeAll(async () => {
    const folder = process.env['CRASH_AIMED_HISTORY'] ?? mkdtempSync(join(inject('runFolder'), 'aimed-'))
    for (let index = 1; index <= services; index += 1)
      worlds.push(await openAimedWorld(join(folder, `service-${index}`), seed + index))
  })
  afterAll(() => Promise.all(worlds.map((world) => world.close())))
  const events = () => worlds.flatMap(({ history }) => history.events)

  it('is completed, for every point that a kill is aimed at', { timeout: longest + 400_000 }, async () => {
    const began = Date.now()
    outcomes.push(...(await Promise.all(worlds.map((world) => liveAimed(world, scores, began + longest)))))
    const seconds = Math.round((Date.now() - began) / 1000)
    const journeys = outcomes.reduce((sum, one) => sum + one.journeys.length, 0)
    const elsewhere = outcomes.reduce((sum, one) => sum + one.elsewhere, 0)
    const kills = killsIn(events()).length
    console.info(
      `aimed kills: ${seconds} s, ${kills} SIGKILLs hit ${journeys} journeys at ${scores.hits()} points, ${elsewhere} times one elsewhere`,
    )
    if (everything) console.info(scores.table().join('\n'))
    expect(scores.left()).toEqual([])
  })

  /** Returns all faults at the end, in one world. */
  async function wrongIn(world: AimedWorld, journeys: AimedOutcome['journeys']) {
    await everyStatusCard(world, journeys)
    await world.cluster.kill(0)
    await world.cluster.start(0)
    await setTimeout(everything ? 10_000 : 2000)
    world.outside.observe()
    await noteEnds(world)
    world.noteTenant()
    console.info(`aimed kills: ${figuresOf(world.history.events, 0)}; history in ${world.history.file}`)
    const faults = await Promise.all(journeys.map((journey) => faultsOf(world, journey)))
    const violations = [...violationsIn(world.history.events), ...faults.flat()]
    return { violations, deadLetters: await deadLetters(world), unexpected: world.connector.unexpected }
  }

  it('is neither lost nor duplicated, also after one more restart', { timeout: 900_000 }, async () => {
    const wrong = await Promise.all(worlds.map((world, index) => wrongIn(world, outcomes[index]?.journeys ?? [])))
    const nothing = { violations: [], deadLetters: [], unexpected: [] }
    expect(wrong).toEqual(worlds.map(() => nothing))
  })

  it('has kill points for every call of its steps', () => {
    const none = { team: [], communication: [], room: [] }
    expect(unaimed(outcomes.flatMap(({ journeys }) => journeys))).toEqual(none)
  })
})
