import { setTimeout } from 'node:timers/promises'
import { type Activity, type Middleware, TurnContext } from 'botbuilder'
import { DialogContextError } from 'botbuilder-dialogs/lib/dialogContextError.js'
import { cardsFor, type Notice, toastFor, type Viewer, withdrawnCode } from '../../cards/index.ts'
import {
  type ActivityKey,
  type Actor,
  because,
  type Core,
  type Deciding,
  type ErrorCode,
  isDirectoryAway,
  isStoreAway,
  type LostRight,
  originNow,
  ProvisioningError,
  whyUnavailable,
} from '../../core/index.ts'
import { adminHealthCommand } from '../operations/index.ts'
import { cardActions, parseCommand } from '../registry.ts'
import { createPacedChats, type PacedChats } from './chat-pace.ts'
import { isPlayground } from './connectors.ts'
import { isPassing, refusalOf } from './refusal.ts'
import { answerKey, logKey, respond, respondBelow, respondMessage } from './respond.ts'
import {
  type BotServices,
  type Click,
  clickOf,
  clientIn,
  fillInClient,
  isForAdmins,
  isId,
  isInvoke,
  localeOf,
  mentionsIn,
  rememberTurn,
  senderOf,
  tenantOf,
  textOf,
  timeZoneOf,
} from './turn.ts'
import { noteOutcome } from './turn-metrics.ts'

/** The time after which the reference of a known chat is stored again, in milliseconds. */
const rewriteAfter = 3_600_000
/** The number of chats whose stored reference a process remembers. */
const mostStored = 5000
/** A repeated click polls for the first click's answer: the number of polls, and the milliseconds between them. */
const answerPolls = 40
const answerPollInterval = 100

/**
 * Wraps every turn: processes an activity once, identifies the person by the tenant id and the Entra object id of the
 * authenticated activity, stores their personal chat, and answers errors with a card.
 */
export class Listener implements Middleware {
  readonly #services: BotServices
  readonly #chats: PacedChats
  readonly #stored = new Map<string, { reference: string; at: number }>()

  constructor(services: BotServices) {
    this.#services = services
    this.#chats = createPacedChats(services.chatPace, services.log)
  }

  async onTurn(context: TurnContext, next: () => Promise<void>): Promise<void> {
    const key = keyOf(context)
    const began = performance.now()
    this.#countAnswers(context)
    context.turnState.set(logKey, this.#services.log)
    fillInClient(context.activity, clientIn(context.activity))
    try {
      const claimed = key && (await this.#services.inbox.claim(key, senderOf(context.activity)))
      if (key && !claimed?.isFirst) return await this.#repeat(context, key)
      if (await this.#identify(context, claimed?.isChatClosed)) await next()
      else if (!isSpeaking(context.activity)) noteOutcome(context, 'ignored')
    } catch (thrown) {
      // botbuilder-dialogs wraps an error that a dialog throws.
      const error: unknown = thrown instanceof DialogContextError ? thrown.error : thrown
      if (key && isPassing(error)) await this.#services.inbox.release(key).catch(() => undefined)
      if (!(await this.#showHealth(context, error, began))) await this.#explain(context, error)
      if (isPassing(error)) return
    }
    if (key) this.#remember(context, key)
  }

  /** Shows the health card even while the store is unavailable. If that fails, the person gets the usual answer. */
  #showHealth(context: TurnContext, error: unknown, began: number): Promise<boolean> {
    if (!isPersonal(context.activity) || !isId(context.activity.from.aadObjectId)) return Promise.resolve(false)
    const { log } = this.#services
    const about = { viewer: this.#viewerOf(context), began }
    return showHealthWithoutStore(context, error, this.#services, about).catch((err: unknown) => {
      log.warn({ err }, 'the health card could not be shown without the store')
      return false
    })
  }

  /** Counts answers towards the limits of proactive messages in the same chat. Answers are never delayed. */
  #countAnswers(context: TurnContext): void {
    const { id } = context.activity.conversation
    context.onSendActivities((_, activities, next) => {
      for (const { type } of activities) if (type !== 'invokeResponse') this.#chats.noteAnswer(id)
      return next()
    })
    context.onUpdateActivity((_, __, next) => {
      this.#chats.noteAnswer(id)
      return next()
    })
  }

  /** Returns the answer of the first delivery of the same activity, and does not run the activity again. */
  async #repeat(context: TurnContext, key: ActivityKey): Promise<void> {
    noteOutcome(context, 'repeated')
    if (!isInvoke(context.activity) || !clickOf(context.activity)) return
    for (let poll = 0; poll < answerPolls; poll += 1) {
      const answer = await this.#services.inbox.answer(key)
      if (answer !== undefined) return void (await context.sendActivity({ type: 'invokeResponse', value: answer }))
      await setTimeout(answerPollInterval)
    }
    await respondMessage(context, toastFor(this.#viewerOf(context), 'working'))
  }

  /**
   * Marks the activity as done, with the answer of a click, for a repeated delivery. Nothing waits for this write: the
   * turn is done even if the write fails.
   */
  #remember({ activity, turnState }: TurnContext, key: ActivityKey): void {
    const { inbox, log } = this.#services
    const answer: unknown = turnState.get(answerKey)
    // An invoke without an answer was not for us. A repeated delivery would poll for an answer that never comes.
    const foreign = isInvoke(activity) && answer === undefined
    const saved = foreign ? inbox.release(key) : inbox.remember(key, answer ?? null)
    saved.catch((error: unknown) => log.warn({ err: error }, 'an activity was not marked as done'))
  }

  /** Returns whether the turn continues. `isClosed`: the state of the chat, if the claim of the activity has read it. */
  async #identify(context: TurnContext, isClosed: boolean | undefined): Promise<boolean> {
    const { activity } = context
    await this.#fillInFromChat(activity)
    const tenantId = tenantOf(activity)
    const id = activity.from.aadObjectId
    const viewer = this.#viewerOf(context)
    if (!isPersonal(activity)) {
      noteOutcome(context, 'refused')
      if (isSpeaking(activity)) await respond(context, cardsFor(viewer).notice({ code: 'notPersonal' }, viewer))
      return false
    }
    if (!isId(id) || typeof tenantId !== 'string') {
      if (isSpeaking(activity)) throw new ProvisioningError('forbidden', because('accountUnknown'))
      return false
    }
    const actor = await this.#admit(activity, { tenantId, id })
    rememberTurn(context, {
      actor,
      viewer: { ...viewer, id: actor.id, isAdmin: actor.isAdmin },
      core: this.#services.core,
      conversationId: activity.conversation.id,
      mentions: mentionsIn(activity),
      clickedActivityId: activity.replyToId,
    })
    await this.#knowChat(context, { personId: actor.id, tenantId, isClosed })
    return true
  }

  /** Some clients send no language or no time zone. The person's chat has those of earlier activities. */
  async #fillInFromChat(activity: Activity): Promise<void> {
    const sender = senderOf(activity)
    if (!sender || (activity.locale && activity.localTimezone)) return
    const chat = await this.#services.core.system.storedChatOf(sender.tenantId, sender.personId)
    if (chat) fillInClient(activity, chat)
  }

  /**
   * Identifies the person. If a person without access to the service tries to decide a request, the audit records it.
   */
  async #admit(activity: Activity, who: { tenantId: string; id: string }): Promise<Actor> {
    const { core, log } = this.#services
    try {
      return await core.actor(who)
    } catch (error) {
      const decision = decisionIn(activity)
      if (decision && error instanceof ProvisioningError && error.code === 'forbidden')
        await aboutOf(core, decision)
          .then((requestId) => core.system.noteForbidden(who, requestId, decision.decides))
          .catch((err: unknown) => log.warn({ err }, 'a refusal was not audited'))
      throw error
    }
  }

  #viewerOf({ activity }: TurnContext): Viewer {
    const { now, core } = this.#services
    const { siteRoot, otherSiteOrigins, outlookRoot } = core
    const id = activity.from.aadObjectId ?? ''
    const hidesChosen = isPlayground(activity.serviceUrl)
    return {
      id,
      locale: localeOf(activity),
      timeZone: timeZoneOf(activity),
      now: now(),
      siteRoot,
      otherSiteOrigins,
      outlookRoot,
      hidesChosen,
    }
  }

  /** Stores the personal chat. A chat that is new or open again then gets the cards that it missed. */
  async #knowChat(
    context: TurnContext,
    { personId, tenantId, isClosed }: { personId: string; tenantId: string; isClosed: boolean | undefined },
  ): Promise<void> {
    const { activity } = context
    const { activityId: _, ...reference } = TurnContext.getConversationReference(activity)
    const text = JSON.stringify([
      reference.conversation?.id,
      reference.serviceUrl,
      activity.locale,
      activity.localTimezone,
    ])
    const known = this.#stored.get(personId)
    const at = this.#services.now().getTime()
    const installed = activity.type === 'installationUpdate' && activity.action === 'add'
    const { system } = this.#services.core
    const isKnown = known?.reference === text && at - known.at < rewriteAfter
    if (!installed && isKnown && !(isClosed ?? (await system.storedChatOf(tenantId, personId))?.closed !== undefined))
      return
    const conversation = {
      tenantId,
      personId,
      conversationId: activity.conversation.id,
      reference,
      locale: activity.locale ?? '',
      timeZone: activity.localTimezone ?? '',
    }
    await system.meet(conversation, installed)
    if (this.#stored.size >= mostStored) this.#stored.clear()
    this.#stored.set(personId, { reference: text, at })
  }

  /** Returns the lost right that explains the refusal of a click, if any. The clicked card gets no more updates. */
  async #lostRight(
    { from, replyToId: activityId }: Activity,
    { code }: ProvisioningError,
    { data }: Click,
  ): Promise<LostRight | undefined> {
    const [requestId, personId] = [data['requestId'], from.aadObjectId]
    if (!aboutRights.includes(code) || !isId(requestId) || !isId(personId) || !activityId) return undefined
    const { core, log } = this.#services
    return core.system.withdrawCard({ requestId, personId, activityId }).catch((err: unknown) => {
      log.warn({ err }, 'a card could not be withdrawn')
      return undefined
    })
  }

  /** Answers an error with a notice. The notice of an unexpected error shows its trace id. */
  async #explain(context: TurnContext, error: unknown): Promise<void> {
    const { activity } = context
    const click = clickOf(activity)
    const { trace: traceId = '' } = originNow()
    const known = error instanceof ProvisioningError
    if (!known) noteOutcome(context, 'failed', error)
    else if (error.code === 'unavailable') noteOutcome(context, 'unavailable', error)
    else noteOutcome(context, 'refused')
    if (!isSpeaking(activity)) return
    const viewer = this.#viewerOf(context)
    const lost = known && click ? await this.#lostRight(activity, error, click) : undefined
    const refusal: Notice = known
      ? refusalOf(error, click, activity.replyToId !== undefined)
      : { code: 'unexpected', traceId }
    const notice = lost ? { code: withdrawnCode[lost] } : refusal
    const isForm = notice.code === 'templateGone' && click && cardActions.get(click.verb)?.sendsForm
    const passing = known ? (whyUnavailable(error) ?? 'unavailable') : 'failed'
    if (notice.retry || !(isForm || isPassing(error))) await respond(context, cardsFor(viewer).notice(notice, viewer))
    // The card stays unchanged, so that the values in its inputs are not lost.
    else if (isInvoke(activity))
      await respondMessage(context, toastFor(viewer, isForm ? 'templateGone' : passing, traceId))
    else await respondBelow(context, cardsFor(viewer).notice(notice, viewer))
  }
}

/** Refusals that can mean that the person has lost a right since the card was sent. */
const aboutRights: readonly ErrorCode[] = ['forbidden', 'not-found', 'not-an-approver']

/** Whether an activity needs an answer: a message or a click. */
const isSpeaking = (activity: Activity): boolean => activity.type === 'message' || clickOf(activity) !== undefined

const isPersonal = ({ conversation }: Activity): boolean =>
  !conversation.isGroup && ['', 'personal'].includes(conversation.conversationType ?? '')

function keyOf({ activity }: TurnContext): ActivityKey | undefined {
  if (!activity.id || !['message', 'invoke', 'installationUpdate'].includes(activity.type)) return undefined
  return { channel: activity.channelId, conversationId: activity.conversation.id, activityId: activity.id }
}

/** The longest time until the answer, and the minimum wait for Microsoft 365, in milliseconds. */
const answerWithin = 4500
const leastPatience = 500

/** A decision that a person attempts: its request, by id or by the number in a command. */
interface Attempt {
  readonly decides: Deciding
  readonly requestId?: unknown
  readonly reference?: string | undefined
}

/** Returns the decision that a click or a command would make. */
function decisionIn(activity: Activity): Attempt | undefined {
  const click = clickOf(activity)
  const typed = click || activity.type !== 'message' ? undefined : parseCommand(textOf(activity), localeOf(activity))
  const decides = click ? cardActions.get(click.verb)?.decides : typed?.command.decides
  if (!decides) return undefined
  return click
    ? { decides, requestId: click.data['requestId'] }
    : { decides, reference: typed?.argument.split(/[\s,;:]/)[0] }
}

/** Returns the id of the request of a decision. */
const aboutOf = async ({ system }: Core, { requestId, reference }: Attempt): Promise<unknown> =>
  reference === undefined ? requestId : system.requestIdOf(reference)

/** Whether a message is `admin health`. */
function isHealthCommand({ activity }: TurnContext): boolean {
  if (activity.type !== 'message' || clickOf(activity)) return false
  return parseCommand(textOf(activity), localeOf(activity))?.command === adminHealthCommand
}

/**
 * Answers `admin health` while the store or the directory is unavailable, without the data of an unavailable store.
 * While the directory does not answer, only people who are known as admins get the answer. Returns false if it did not
 * answer the turn. `began`: the start of the turn, by `performance.now()`. Throws if the directory does not answer and
 * the person is not known.
 */
export async function showHealthWithoutStore(
  context: TurnContext,
  error: unknown,
  { core }: BotServices,
  { viewer, began }: { viewer: Viewer; began: number },
): Promise<boolean> {
  const tenantId = tenantOf(context.activity)
  const isAway = isStoreAway(error) || isDirectoryAway(error)
  if (!isAway || !isHealthCommand(context) || typeof tenantId !== 'string') return false
  const actor = await core.actorForHealth({ tenantId, id: viewer.id })
  if (!isForAdmins(actor)) return false
  const left = Math.max(leastPatience, answerWithin - (performance.now() - began))
  const [whole, brief] = [core.readHealth(actor), core.readOwnHealth(actor)]
  const report = await Promise.race([whole, setTimeout(left, brief, { ref: false })])
  await respond(context, cardsFor(viewer).adminHealth(report, { ...viewer, isAdmin: true }))
  return true
}
