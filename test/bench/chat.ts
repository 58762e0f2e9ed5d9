import { randomUUID } from 'node:crypto'
import { startServer } from '../support/http-server.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

interface Spoken {
  readonly serviceUrl: string
  readonly who?: keyof typeof people
  /** The object id of another person, instead of `who`. */
  readonly personId?: string
  /** Distinguishes several chats of one person. */
  readonly chat?: string
}

/** Sends a typed text: one turn, from the activity to its 200. Throws for any other answer. */
export async function turn(botUrl: string, { text, ...spoken }: Spoken & { readonly text: string }): Promise<void> {
  await post(botUrl, spoken, { type: 'message', text })
}

/** Clicks on a card: from the activity to the card that answers it. Throws for any other answer. */
export async function click(botUrl: string, { verb, data, ...spoken }: Spoken & { verb: string; data: object }) {
  const value = { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' }
  const text = await post(botUrl, spoken, { type: 'invoke', name: 'adaptiveCard/action', value })
  if (JSON.parse(text).type !== 'application/vnd.microsoft.card.adaptive')
    throw new Error(`${botUrl} answered ${text} to "${verb}"`)
}

async function post(
  botUrl: string,
  { serviceUrl, who = 'kim', personId, chat = '' }: Spoken,
  what: object,
): Promise<string> {
  const { id, name } = personId === undefined ? people[who] : { id: personId, name: 'Employee' }
  const activity = {
    ...{ id: randomUUID(), channelId: 'msteams', serviceUrl, locale: 'en-GB', localTimezone: 'Europe/Zurich', ...what },
    from: { id: `29:${id}`, name, aadObjectId: id },
    recipient: { id: '28:bot', name: 'Quartermaster' },
    conversation: { id: `bench-${personId ?? who}${chat}`, conversationType: 'personal', tenantId: contosoTenant },
    channelData: { tenant: { id: contosoTenant } },
  }
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${botUrl}/api/messages`, { method: 'POST', headers, body: JSON.stringify(activity) })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${botUrl} answered ${answer.status} to ${JSON.stringify(what)}`)
  return text
}

/** Starts a Bot connector that accepts every reply and drops it, except the first one. */
export async function startBareConnector() {
  let count = 0
  let first = ''
  const { url, close } = await startServer((request, response) => {
    if (count === 0) request.setEncoding('utf8').on('data', (part: string) => (first += part))
    else request.resume()
    request.once('end', () => {
      count += 1
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: String(count) }))
    })
  })
  return { url, replies: () => count, first: () => first, close }
}
