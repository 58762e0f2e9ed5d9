import type { Activity, TurnContext } from 'botbuilder'
import { z } from 'zod'
import type { CardJson, Viewer } from '../../cards/index.ts'
import {
  type Actor,
  type CardKey,
  type ChatPaceStore,
  type Core,
  type Inbox,
  isRecord,
  may,
  type Telemetry,
} from '../../core/index.ts'

export interface Log {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** The core and the stores that the bot uses; the composition root supplies them. */
export interface BotServices {
  readonly core: Core
  readonly inbox: Inbox
  readonly chatPace: ChatPaceStore
  readonly now: () => Date
  readonly telemetry?: Telemetry
  readonly log: Log
}

/** A person that a message mentions: the name in the text, and the object id if the channel sent it. */
export interface Mention {
  readonly name: string
  readonly id: string | undefined
}

/** One message or click of an identified person. */
export interface Turn {
  readonly actor: Actor
  readonly viewer: Viewer
  readonly core: Core
  readonly conversationId: string
  /** The people that the message mentions. A client sends them, so they are not trusted. */
  readonly mentions: readonly Mention[]
  /** The activity that shows the clicked card. */
  readonly clickedActivityId: string | undefined
}

/**
 * The answer to a command or a click. `keep` names a request and a card that is kept up to date; `shown` is the version of the
 * request that the card shows.
 */
export interface Reply {
  readonly card: CardJson
  /** Whether the card refuses what the person wants. The log and the metrics of turns count it. */
  readonly isRefusal?: boolean
  readonly keep?: { readonly requestId: string; readonly key: CardKey; readonly shown: number }
  /** The step of the request dialog that this card shows. */
  readonly at?:
    | { readonly step: 'choose' | 'offer' }
    | { readonly step: 'details' | 'review' | 'kept' | 'submitted' | 'discarded'; readonly requestId: string }
}

/** A click: the invoke of an Action.Execute, or the message of its fallback Action.Submit. */
export interface Click {
  readonly verb: string
  /** The action's data and the values of the inputs, untrusted. */
  readonly data: Readonly<Record<string, unknown>>
}

const turns = new WeakMap<TurnContext, Turn>()
export const rememberTurn = (context: TurnContext, turn: Turn): void => void turns.set(context, turn)

/** Returns the turn of a context. The listener has identified its person. */
export function turnOf(context: TurnContext): Turn {
  const turn = turns.get(context)
  if (!turn) throw new Error('the person of this turn is not identified')
  return turn
}

/** Whether a person has admin rights, by the access table. */
export const isForAdmins = (actor: Actor): boolean => may(actor, 'queue.read')

export const isInvoke = (activity: Partial<Activity>): boolean => activity.type === 'invoke'

/** The person's language in Teams, such as `de-CH`; English if it is unknown. */
export const localeOf = ({ locale }: Partial<Activity>): string => locale || 'en'

/** The person's time zone in Teams, such as `Europe/Zurich`; UTC if it is unknown. */
export const timeZoneOf = ({ localTimezone }: Partial<Activity>): string => localTimezone || 'UTC'

/** The language and the time zone of a person. An empty one is unknown. */
interface Client {
  readonly locale: string
  readonly timeZone: string
}

/** Fills in the language and the time zone that an activity lacks. */
export function fillInClient(activity: Activity, { locale, timeZone }: Client): void {
  activity.locale ||= locale
  activity.localTimezone ||= timeZone
}

const short = z.string().max(64).catch('')
/** The entity with which Teams describes the client (learn.microsoft.com, Teams SDK, `ClientInfoEntity`). */
const clientInfo = z.object({ type: z.literal('clientInfo'), locale: short, timezone: short })

/** Returns the client that the entities of an activity describe. */
export function clientIn({ entities }: Activity): Client {
  const found = (Array.isArray(entities) ? entities : []).map((entity) => clientInfo.safeParse(entity).data)
  const { locale = '', timezone: timeZone = '' } = found.find((info) => info !== undefined) ?? {}
  return { locale, timeZone }
}

/** Returns the click in an activity, from an invoke or from a message with a value. */
export function clickOf(activity: Partial<Activity>): Click | undefined {
  const value: unknown = activity.value
  if (!isRecord(value)) return undefined
  if (isInvoke(activity)) {
    if (activity.name !== 'adaptiveCard/action' || !isRecord(value['action'])) return undefined
    const { verb, data } = value['action']
    return typeof verb === 'string' ? { verb, data: isRecord(data) ? data : {} } : undefined
  }
  const { verb, ...data } = value
  return typeof verb === 'string' ? { verb, data } : undefined
}

/** Whether the client refreshed a card without a click (Bot Framework, "Universal Actions": `trigger`). */
export const isAutomatic = ({ value }: Partial<Activity>): boolean =>
  isRecord(value) && value['trigger'] !== undefined && value['trigger'] !== 'manual'

/** A longer text of a message is cut, in UTF-16 units. The longest command has a comment of 500. */
export const longestText = 2000

/**
 * Returns the text of a message on one line, or the command of a button if the client does not type it (card-style §7). The
 * inputs of a card are not in this text.
 */
export function textOf(activity: Activity): string {
  const text = typedByButton(activity) ?? withoutMarkup(activity)
  return text.replace(/\s+/g, ' ').trim().slice(0, longestText).trimEnd().toWellFormed()
}

function typedByButton(activity: Activity): string | undefined {
  const value: unknown = activity.value
  if (!isRecord(value)) return undefined
  const typed = isRecord(value['msteams']) ? value['msteams']['value'] : value['types']
  return typeof typed === 'string' ? typed : undefined
}

/** Returns the text without markup: mentioned people by name, and without the mention of the bot. */
function withoutMarkup(activity: Activity): string {
  const names = new Set(mentionsIn(activity).map(({ name }) => name))
  const named = (whole: string) => {
    const name = nameIn(whole)
    return names.has(name) ? ` ${name} ` : ' '
  }
  return (activity.text ?? '').replace(tag, named).replace(/&nbsp;/g, ' ')
}

/**
 * A mention (learn.microsoft.com, "Channel and group chat conversations with a bot", "Retrieve mentions"): the text has
 * `<at>Omar Haddad</at>`, and an entity with the same text has the person's id.
 */
const mention = z.object({
  type: z.literal('mention'),
  text: z.string(),
  mentioned: z.object({ id: z.string(), aadObjectId: z.uuid().optional().catch(undefined) }),
})

/** Returns the people that a message mentions, without the bot. */
export function mentionsIn({ entities, recipient }: Activity): Mention[] {
  return (Array.isArray(entities) ? entities : []).flatMap((entity) => {
    const { data } = mention.safeParse(entity)
    if (!data || data.mentioned.id === recipient?.id) return []
    return [{ name: nameIn(data.text), id: data.mentioned.aadObjectId }]
  })
}

// Without `<` inside a tag, the time grows only with the length of the text.
const tag = /<at\b[^<>]*>[^<]*<\/at>/g
const nameIn = (text: string): string =>
  text
    .replace(/<[^<>]*>|&nbsp;/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

export const tenantOf = ({ conversation, channelData }: Activity): unknown =>
  conversation.tenantId ?? channelData?.tenant?.id

/** Returns the sender of an activity, as their personal chat is stored. */
export function senderOf(activity: Activity): { tenantId: string; personId: string } | undefined {
  const [tenantId, personId] = [tenantOf(activity), activity.from.aadObjectId]
  return isId(tenantId) && isId(personId) ? { tenantId, personId } : undefined
}

/** Whether a value is an object id or another UUID. */
export const isId = (id: unknown): id is string => z.uuid().safeParse(id).success
