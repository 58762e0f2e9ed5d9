import type { Activity, TurnContext } from 'botbuilder'
import type { CardJson, Viewer } from '../cards/index.ts'
import {
  type Actor,
  type CardKey,
  type ChatPaceStore,
  type Inbox,
  may,
  type Provisioning,
  type SentCards,
  type Telemetry,
} from '../core/index.ts'

export interface Log {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** What the bot works with; `app.ts` gives it. */
export interface BotServices {
  readonly provisioning: Provisioning
  readonly inbox: Inbox
  readonly sentCards: SentCards
  readonly chatPace: ChatPaceStore
  readonly now: () => Date
  readonly telemetry?: Telemetry
  readonly log: Log
}

/** A person whom somebody has mentioned, as the text names them; without an id the channel told none. */
export interface Mention {
  readonly name: string
  readonly id: string | undefined
}

/** One thing that one person said or clicked, once we know who it is. */
export interface Turn {
  readonly actor: Actor
  readonly viewer: Viewer
  readonly provisioning: Provisioning
  readonly conversationId: string
  /** Whom they mentioned: what a client says, so it names people and gives no rights. */
  readonly mentions: readonly Mention[]
  /** The activity that a click's card sits on. */
  readonly clickedActivityId: string | undefined
  /** Ties cards in this chat to their requests. */
  readonly sentCards: SentCards
}

/** What a command or a click comes to. `keep` ties the card in the chat to its request, so it is kept up to date. */
export interface Reply {
  readonly card: CardJson
  readonly keep?: { readonly requestId: string; readonly key: CardKey }
  /** Where the request dialog stands with this card. */
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

/** The turn of a context, as the listener has established it. */
export function turnOf(context: TurnContext): Turn {
  const turn = turns.get(context)
  if (!turn) throw new Error('nobody has been identified for this turn')
  return turn
}

/** Whether what is for admins is for this person: the access table says so, not the card or the command. */
export const isForAdmins = (actor: Actor): boolean => may(actor, 'queue.read')

export const isInvoke = (activity: Partial<Activity>): boolean => activity.type === 'invoke'

/** The click in an activity, if it is one. Both ways of Teams to tell it come out the same. */
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

/** Whether a client refreshes a card, and nobody has clicked (Bot Framework, "Universal Actions": `trigger`). */
export const isAutomatic = ({ value }: Partial<Activity>): boolean =>
  isRecord(value) && value['trigger'] !== undefined && value['trigger'] !== 'manual'

/** The command that a button types for clients that do not type it themselves (card-style §7). */
export function typedByButton(activity: Partial<Activity>): string | undefined {
  const value: unknown = activity.value
  if (!isRecord(value)) return undefined
  const typed = isRecord(value['msteams']) ? value['msteams']['value'] : value['types']
  return typeof typed === 'string' ? typed : undefined
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
