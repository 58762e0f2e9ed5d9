import { randomUUID } from 'node:crypto'
import type { Who } from './access-roles.ts'
import { type AccessWorld, foreignTenant, idOf } from './access-world.ts'
import { textOf } from './cards.ts'
import type { Card } from './connector.ts'
import { tenantId } from './rest.ts'

/** The people who can write in chats. An application cannot. */
export type Chatter = Exclude<Who, 'application'>

export interface Heard {
  readonly status: number
  /** The text that the person reads, or the refusal of the endpoint. */
  readonly text: string
}

/** Creates calls to the bot's own endpoint over HTTP. Activities have no id, so the inbox stores nothing about them. */
export function chatting(world: AccessWorld) {
  async function post(activity: object): Promise<{ status: number; text: string }> {
    const response = await fetch(`${world.doors.rest.server.url}/api/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(activity),
    })
    return { status: response.status, text: await response.text() }
  }
  function activityOf(who: Chatter, change: object, conversationType = 'personal') {
    const tenant = who === 'foreign' ? foreignTenant : tenantId
    const id = idOf(who)
    return {
      ...{ channelId: 'msteams', serviceUrl: world.doors.connector.url, recipient: { id: '28:bot', name: 'Bot' } },
      from: { id: `29:${who}`, name: who, ...(id !== undefined && { aadObjectId: id }) },
      conversation: { id: `${conversationType}-${who}`, conversationType, tenantId: tenant },
      channelData: { tenant: { id: tenant } },
      ...change,
    }
  }
  return {
    async clicks(who: Chatter, verb: string, data: object, conversationType?: string): Promise<Heard> {
      const value = { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' }
      const change = { type: 'invoke', name: 'adaptiveCard/action', value }
      const { status, text } = await post(activityOf(who, change, conversationType))
      const answer = (status === 200 ? JSON.parse(text) : {}) as { value?: Card | string }
      if (status !== 200 || answer.value === undefined) return { status, text }
      return { status, text: typeof answer.value === 'string' ? answer.value : textOf(answer.value) }
    },
    async says(who: Chatter, text: string, conversationType?: string): Promise<Heard> {
      const { sent } = world.doors.connector
      const before = sent.length
      const answer = await post(activityOf(who, { type: 'message', text, timestamp: new Date() }, conversationType))
      const replies = sent.slice(before).flatMap(({ card }) => (card ? [textOf(card)] : []))
      return { status: answer.status, text: answer.status === 200 ? replies.join('\n') : answer.text }
    },
    /** Returns an id that no request has. */
    nothing: () => randomUUID(),
  }
}
