import { startChild } from '../support/child.ts'
import { startBareConnector, turn } from './chat.ts'
import { quantile, timed } from './figures.ts'
import type { Place } from './places.ts'
import { employees, type RunningService } from './service.ts'

export interface TurnFigures {
  readonly p50: number
  readonly p95: number
}

/** A single person would type hundreds of messages within a minute, which each turn would then count. */
const peopleWhoType = 25

/**
 * Measures a turn from the activity to its 200, including one reply to the connector: our `help` with its card, and two
 * floors. One is a bare botbuilder echo bot. The other one also makes three statements, in a store at `floor`, and sends
 * the same card. All turns alternate, so that they run under the same load of the machine. Several people type one after
 * the other.
 */
export async function measureTurns(
  service: RunningService,
  floor: Place,
  { warmUp = 300, measured = 1000 }: { warmUp?: number; measured?: number } = {},
): Promise<{ ours: TurnFigures; echo: TurnFigures; storing: TurnFigures }> {
  const connector = await startBareConnector()
  const ids = employees(peopleWhoType)
  await turn(service.url, { serviceUrl: connector.url, text: 'help', personId: ids[0] })
  const { attachments } = JSON.parse(connector.first())
  const floors = [
    startChild('../bench/echo-bot.ts'),
    startChild('../bench/storing-bot.ts', floor.dataDir, floor.databaseUrl ?? '', JSON.stringify(attachments)),
  ]
  try {
    const ports = await Promise.all(floors.map(async (bot) => (await bot.lines(1))[0]))
    const bots = [service.url, ...ports.map((port) => `http://127.0.0.1:${port}`)]
    const times: number[][] = bots.map(() => [])
    for (let round = -warmUp; round < measured; round += 1) {
      if (round === 0) globalThis.gc?.()
      const personId = ids.at(round % ids.length) ?? ''
      for (const [index, url] of bots.entries()) {
        const milliseconds = await timed(() => turn(url, { serviceUrl: connector.url, text: 'help', personId }))
        if (round >= 0) times[index]?.push(milliseconds)
      }
    }
    const turns = 1 + bots.length * (warmUp + measured)
    if (connector.replies() !== turns) throw new Error(`${connector.replies()} replies to ${turns} turns`)
    const [ours, echo, storing] = times.map((each) => ({ p50: quantile(each, 0.5), p95: quantile(each, 0.95) }))
    if (!ours || !echo || !storing) throw new Error('nothing was measured')
    return { ours, echo, storing }
  } finally {
    await Promise.all(floors.map((bot) => bot.kill()))
    await connector.close()
  }
}
