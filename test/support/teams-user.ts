import { randomUUID } from 'node:crypto'
import { action, textOf, valuesOf } from './cards.ts'
import type { Card, Connector, ShownActivity } from './connector.ts'
import { until } from './until.ts'

export const people = {
  kim: { id: '11111111-aaaa-4aaa-8aaa-000000000001', name: 'Kim Lee' },
  dana: { id: '11111111-aaaa-4aaa-8aaa-000000000002', name: 'Dana Fox' },
  omar: { id: '11111111-aaaa-4aaa-8aaa-000000000003', name: 'Omar Haddad' },
  sam: { id: '11111111-aaaa-4aaa-8aaa-000000000004', name: 'Sam Roy' },
} as const
export const contosoTenant = '0c0ffee0-1111-4111-8111-000000000365'
/** The client ids and scopes of the simulated tenant's APIs. Version 2 tokens have the client ids as audience. */
export const apiIds = {
  collab: '0c0ffee0-3333-4333-8333-000000000001',
  mail: '0c0ffee0-3333-4333-8333-000000000002',
} as const
export const scopes = {
  collab: `api://${apiIds.collab}/App.ReadWrite.All`,
  mail: `api://${apiIds.mail}/App.ReadWrite.All`,
} as const

/** The answer to an invoke. */
export interface InvokeAnswer {
  readonly status: number
  readonly type: string | undefined
  readonly card: Card | undefined
  readonly text: string | undefined
}

/** A person in Teams who types, clicks and reads their personal chat, over HTTP like the Bot connector. */
export class TeamsUser {
  readonly conversationId: string
  readonly #botUrl: () => string
  readonly #connector: Connector
  readonly #person: { id: string; name: string }

  constructor(
    botUrl: () => string,
    connector: Connector,
    person: { id: string; name: string },
    conversationId = `personal-${person.id}`,
  ) {
    this.#botUrl = botUrl
    this.#connector = connector
    this.#person = person
    this.conversationId = conversationId
  }

  get id(): string {
    return this.#person.id
  }

  /** Returns an activity with everything that this person's activities contain. */
  activity(change: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      id: randomUUID(),
      channelId: 'msteams',
      serviceUrl: this.#connector.url,
      locale: 'en-GB',
      localTimezone: 'Europe/Zurich',
      from: { id: `29:${this.#person.id}`, name: this.#person.name, aadObjectId: this.#person.id },
      recipient: { id: '28:bot', name: 'Quartermaster' },
      conversation: { id: this.conversationId, conversationType: 'personal', tenantId: contosoTenant },
      channelData: { tenant: { id: contosoTenant } },
      ...change,
    }
  }

  /** Posts an unchanged activity, and returns the raw answer. */
  post(activity: Record<string, unknown>): Promise<Response> {
    const headers = { 'content-type': 'application/json' }
    return fetch(`${this.#botUrl()}/api/messages`, { method: 'POST', headers, body: JSON.stringify(activity) })
  }

  async installs(): Promise<void> {
    await this.#must(this.activity({ type: 'installationUpdate', action: 'add' }))
  }

  /** Types a text, and returns the card of the answer. */
  async says(text: string): Promise<ShownActivity & { card: Card }> {
    const id = randomUUID()
    await this.#must(this.activity({ type: 'message', id, text }))
    // Proactive cards that arrive in the meantime are not answers.
    const reply = await until(
      () => this.chat().findLast(({ card, replyToId }) => card !== undefined && replyToId === id),
      `an answer to "${text}"`,
    )
    return withCard(reply)
  }

  /** Presses a button of a card in this chat, with changed inputs. */
  async clicks(
    on: { id: string; card?: Card | undefined },
    title: string,
    inputs: Record<string, string> = {},
  ): Promise<InvokeAnswer> {
    const { card } = on
    if (!card) throw new Error('there is no card to click on')
    const { verb, data } = action(card, title)
    return this.invokes(on.id, String(verb), { ...data, ...valuesOf(card), ...inputs })
  }

  /** Sends an invoke with any verb and data, including those that no card has. */
  async invokes(
    replyToId: string,
    verb: string,
    data: unknown,
    change: Record<string, unknown> = {},
  ): Promise<InvokeAnswer> {
    const value = { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' }
    const response = await this.post(
      this.activity({ type: 'invoke', name: 'adaptiveCard/action', replyToId, value, ...change }),
    )
    return readAnswer(verb, response)
  }

  /** Returns this person's current chat. */
  chat(): ShownActivity[] {
    return this.#connector.chat(this.conversationId)
  }

  /** Waits for a card in the chat with this text. */
  async sees(pattern: RegExp, what = String(pattern)): Promise<ShownActivity & { card: Card }> {
    const found = await until(() => this.chat().find(({ card }) => card && pattern.test(textOf(card))), what)
    return withCard(found)
  }

  async #must(activity: Record<string, unknown>): Promise<void> {
    const response = await this.post(activity)
    if (response.status !== 200) throw new Error(`the bot answered ${response.status}: ${await response.text()}`)
  }
}

/** Reads the answer to a click. It must have the format that Teams requires, whatever the click. */
async function readAnswer(verb: string, response: Response): Promise<InvokeAnswer> {
  const text = await response.text()
  const { statusCode, type, value } = JSON.parse(text || '{}') as Record<string, unknown>
  const isCard = type === 'application/vnd.microsoft.card.adaptive' && typeof value === 'object' && value !== null
  const isText = type === 'application/vnd.microsoft.activity.message' && typeof value === 'string'
  if (response.status !== 200 || statusCode !== 200 || (!isCard && !isText))
    throw new Error(`Teams cannot read the answer to ${verb}: ${response.status} ${text}`)
  return {
    status: response.status,
    type,
    card: isCard ? (value as Card) : undefined,
    text: isCard ? undefined : String(value),
  }
}

function withCard(shown: ShownActivity): ShownActivity & { card: Card } {
  if (!shown.card) throw new Error('this activity has no card')
  return { ...shown, card: shown.card }
}
