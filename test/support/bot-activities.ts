import { randomUUID } from 'node:crypto'
import type { Activity } from 'botbuilder'
import type { Card } from './connector.ts'
import { contosoTenant, people } from './teams-user.ts'

/** Creates an activity of a person in their personal chat with the bot, for adapters that run without HTTP. */
export function activityOf(who: keyof typeof people, change: Partial<Activity>): Partial<Activity> {
  const { id, name } = people[who]
  return {
    id: randomUUID(),
    channelId: 'msteams',
    serviceUrl: 'http://127.0.0.1:9',
    locale: 'en-GB',
    localTimezone: 'Europe/Zurich',
    from: { id: `29:${id}`, name, aadObjectId: id },
    recipient: { id: '28:bot', name: 'Quartermaster' },
    conversation: {
      id: `personal-${id}`,
      conversationType: 'personal',
      tenantId: contosoTenant,
      isGroup: false,
      name: '',
    },
    channelData: { tenant: { id: contosoTenant } },
    ...change,
  }
}

export const saying = (who: keyof typeof people, text: string, change: Partial<Activity> = {}): Partial<Activity> =>
  activityOf(who, { type: 'message', text, ...change })

/** Creates the invoke of an Action.Execute. Without `replyToId` only the answer shows a card. */
export const clicking = (
  who: keyof typeof people,
  verb: string,
  data: object,
  change: Partial<Activity> = {},
): Partial<Activity> =>
  activityOf(who, {
    type: 'invoke',
    name: 'adaptiveCard/action',
    value: { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' },
    ...change,
  })

/** Returns the card of an activity of the bot: an attachment, or the answer of an invoke. */
export function cardIn(activity: Partial<Activity> | undefined): Card {
  const card: unknown =
    activity?.type === 'invokeResponse' ? activity.value?.body?.value : activity?.attachments?.[0]?.content
  if (typeof card === 'object' && card !== null) return card as Card
  throw new Error(`there is no card in ${JSON.stringify(activity)}`)
}
