import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startChild } from '../support/child.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { quantile, timed } from './figures.ts'
import type { RunningService } from './service.ts'

const warmUp = 300
const measured = 1_000

export interface TurnFigures {
  readonly p50: number
  readonly p95: number
}

/**
 * How long a turn takes from the activity to its 200, one reply to the connector included: our `help` with its card, and a
 * bare botbuilder bot that echoes. One turn of each in turn, so both meet the same machine.
 */
export async function measureTurns(service: RunningService): Promise<{ ours: TurnFigures; echo: TurnFigures }> {
  const connector = await startBareConnector()
  const bot = startChild('../bench/echo-bot.ts')
  try {
    const [port] = await bot.lines(1)
    const endpoints = [service.url, `http://127.0.0.1:${port}`].map((url) => `${url}/api/messages`)
    const times: [number[], number[]] = [[], []]
    for (let round = -warmUp; round < measured; round += 1) {
      if (round === 0) globalThis.gc?.()
      for (const [index, endpoint] of endpoints.entries()) {
        const milliseconds = await timed(() => turn(endpoint, connector.url))
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
    connector.close()
  }
}

async function turn(endpoint: string, serviceUrl: string): Promise<void> {
  const { id, name } = people.kim
  const activity = {
    ...{ type: 'message', text: 'help', id: randomUUID(), channelId: 'msteams', serviceUrl, locale: 'en-GB' },
    from: { id: `29:${id}`, name, aadObjectId: id },
    recipient: { id: '28:bot', name: 'Quartermaster' },
    conversation: { id: 'bench', conversationType: 'personal', tenantId: contosoTenant },
    channelData: { tenant: { id: contosoTenant } },
  }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(activity) })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${endpoint} answered ${answer.status}`)
}

/** Takes every reply, and forgets it. */
async function startBareConnector() {
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      count += 1
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: String(count) }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    replies: () => count,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
