import type { Activity } from 'botbuilder'
import { z } from 'zod'
import type { Mention } from './turn.ts'

/**
 * A mention as Teams tells it (learn.microsoft.com, "Channel and group chat conversations with a bot", "Retrieve mentions"): the
 * text has `<at>Omar Haddad</at>`, and an entity of the same text says who that is.
 */
const mention = z.object({
  type: z.literal('mention'),
  text: z.string(),
  mentioned: z.object({ id: z.string(), aadObjectId: z.uuid().optional().catch(undefined) }),
})

/** The people whom a message mentions, without the bot itself. */
export function mentionsIn({ entities, recipient }: Pick<Partial<Activity>, 'entities' | 'recipient'>): Mention[] {
  return (Array.isArray(entities) ? entities : []).flatMap((entity) => {
    const { data } = mention.safeParse(entity)
    if (!data || data.mentioned.id === recipient?.id) return []
    return [{ name: nameIn(data.text), id: data.mentioned.aadObjectId }]
  })
}

/** What was typed, without markup: people who are mentioned by their names, and without the mention of the bot. */
export function plainText(activity: Pick<Partial<Activity>, 'text' | 'entities' | 'recipient'>): string {
  const names = mentionsIn(activity).map(({ name }) => name)
  return (activity.text ?? '')
    .replace(tag, (whole) => (names.includes(nameIn(whole)) ? ` ${nameIn(whole)} ` : ' '))
    .replace(/&nbsp;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

const tag = /<at\b[^>]*>[^<]*<\/at>/g
const nameIn = (text: string): string =>
  text
    .replace(/<[^>]*>|&nbsp;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
