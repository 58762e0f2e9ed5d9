import { startChild } from '../support/child.ts'
import { startBareConnector, turn } from './chat.ts'
import { quantile, timed } from './figures.ts'
import { employees, type RunningService } from './service.ts'

export interface TurnFigures {
  readonly p50: number
  readonly p95: number
}

/** A single person would type hundreds of messages within a minute, which each turn would then count. */
const peopleWhoType = 25

/**
 * Measures a turn from the activity to its 200, including one reply to the connector: our `help` with its card, and a
 * bare botbuilder echo bot. Their turns alternate, so that both run under the same load of the machine. Several people
 * type one after the other.
 */
export async function measureTurns(
  service: RunningService,
  { warmUp = 300, measured = 1000 }: { warmUp?: number; measured?: number } = {},
): Promise<{ ours: TurnFigures; echo: TurnFigures }> {
  const connector = await startBareConnector()
  const bot = startChild('../bench/echo-bot.ts')
  try {
    const [port] = await bot.lines(1)
    const bots = [service.url, `http://127.0.0.1:${port}`]
    const times: [number[], number[]] = [[], []]
    const ids = employees(peopleWhoType)
    for (let round = -warmUp; round < measured; round += 1) {
      if (round === 0) globalThis.gc?.()
      const personId = ids.at(round % ids.length) ?? ''
      for (const [index, url] of bots.entries()) {
        const milliseconds = await timed(() => turn(url, { serviceUrl: connector.url, text: 'help', personId }))
        if (round >= 0) times[index]?.push(milliseconds)
      }
    }
    if (connector.replies() !== 2 * (warmUp + measured))
      throw new Error(`${connector.replies()} replies to ${2 * (warmUp + measured)} turns`)
    const [ours, echo] = times.map((each) => ({ p50: quantile(each, 0.5), p95: quantile(each, 0.95) }))
    if (!ours || !echo) throw new Error('nothing was measured')
    return { ours, echo }
  } finally {
    await bot.kill()
    await connector.close()
  }
}
