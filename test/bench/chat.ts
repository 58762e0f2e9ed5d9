import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { contosoTenant, people } from '../support/teams-user.ts'

/** What somebody types, and where: one turn, from the activity to its 200. Throws at any other answer. */
export async function turn(
  botUrl: string,
  { serviceUrl, text, who = 'kim' }: { serviceUrl: string; text: string; who?: keyof typeof people },
): Promise<void> {
  const { id, name } = people[who]
  const activity = {
    ...{ type: 'message', text, id: randomUUID(), channelId: 'msteams', serviceUrl, locale: 'en-GB' },
    from: { id: `29:${id}`, name, aadObjectId: id },
    recipient: { id: '28:bot', name: 'Quartermaster' },
    conversation: { id: `bench-${who}`, conversationType: 'personal', tenantId: contosoTenant },
    channelData: { tenant: { id: contosoTenant } },
  }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${botUrl}/api/messages`, { method: 'POST', headers, body: JSON.stringify(activity) })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${botUrl} answered ${answer.status} to "${text}"`)
}

/** A Bot connector that takes every reply, and forgets it. */
export async function startBareConnector() {
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
