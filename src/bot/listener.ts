import { setTimeout } from 'node:timers/promises'
import { type Activity, type Middleware, TurnContext } from 'botbuilder'
import { DialogContextError } from 'botbuilder-dialogs'
import { z } from 'zod'
import { cards, type Notice, toasts, type Viewer, withdrawnCode } from '../cards/index.ts'
import {
  type ActivityKey,
  type Actor,
  type ErrorCode,
  type LostRight,
  originNow,
  ProvisioningError,
  whyUnavailable,
} from '../core/index.ts'
import { cardActions } from './actions/index.ts'
import { createPacedChats, type PacedChats } from './chat-pace.ts'
import { isPassing, refusalOf } from './refusal.ts'
import { answerKey, logKey, respond, respondBelow, respondMessage } from './respond.ts'
import { type BotServices, type Click, clickOf, isInvoke, mentionsIn, rememberTurn } from './turn.ts'
import { noteOutcome } from './turn-metrics.ts'
import { tellHealthWithoutStore } from './without-store.ts'

/** How long a chat that is already known is believed to be the same, in milliseconds, before it is written again. */
const rewriteAfter = 3_600_000
const defaultTimeZone = 'UTC'
/** How often, and at what distance in milliseconds, a repeated click looks for the answer that the first one gets. */
const looksForAnswer = 40
const betweenLooks = 100

/**
 * What happens around every turn: the activity is heard once, the person is identified by tenant id and Entra object id
 * of the authenticated activity, their personal chat is remembered, and whatever goes wrong is answered in words.
 */
export class Listener implements Middleware {
  readonly #services: BotServices
  readonly #chats: PacedChats
  readonly #written = new Map<string, { reference: string; at: number }>()

  constructor(services: BotServices) {
    this.#services = services
    this.#chats = createPacedChats(services.chatPace, services.log)
  }

  async onTurn(context: TurnContext, next: () => Promise<void>): Promise<void> {
    const key = keyOf(context)
    const began = performance.now()
    this.#countAnswers(context)
    context.turnState.set(logKey, this.#services.log)
    try {
      if (key && !(await this.#services.inbox.claim(key))) return await this.#repeat(context, key)
      if (await this.#identify(context)) await next()
      else if (!isSpeaking(context.activity)) noteOutcome(context, 'ignored')
    } catch (thrown) {
      // botbuilder-dialogs hides what a dialog throws in an error of its own.
      const error: unknown = thrown instanceof DialogContextError ? thrown.error : thrown
      if (key && isPassing(error)) await this.#services.inbox.release(key).catch(() => undefined)
      if (!(await this.#tellHealth(context, error, began))) await this.#explain(context, error)
      if (isPassing(error)) return
    }
    if (key) this.#remember(context, key)
  }

  /** How the service does is told also while the store is away; whatever keeps it from that, the answer is the usual one. */
  #tellHealth(context: TurnContext, error: unknown, began: number): Promise<boolean> {
    if (!isPersonal(context.activity) || !isObjectId(context.activity.from.aadObjectId)) return Promise.resolve(false)
    const { log } = this.#services
    const about = { viewer: this.#viewerOf(context), began }
    return tellHealthWithoutStore(context, error, this.#services, about).catch((err: unknown) => {
      log.warn({ err }, 'how the service does could not be told without the store')
      return false
    })
  }

  /** Answers go out at once, and count for what we send to the same chat of our own accord. */
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

  /** The answer that the first delivery got, or soon gets; nothing that was said is heard twice. */
  async #repeat(context: TurnContext, key: ActivityKey): Promise<void> {
    noteOutcome(context, 'repeated')
    if (!isInvoke(context.activity) || !clickOf(context.activity)) return
    for (let look = 0; look < looksForAnswer; look += 1) {
      const answer = await this.#services.inbox.answer(key)
      if (answer !== undefined) return void (await context.sendActivity({ type: 'invokeResponse', value: answer }))
      await setTimeout(betweenLooks)
    }
    await respondMessage(context, toasts.working)
  }

  /**
   * Marks the activity as done, with its answer if it is a click, for its next delivery. Nobody waits for it, and what
   * fails now changes nothing of what was done.
   */
  #remember({ activity, turnState }: TurnContext, key: ActivityKey): void {
    const { inbox, log } = this.#services
    const answer: unknown = turnState.get(answerKey)
    // An invoke without an answer was not for us, and whoever waits for the answer under its id would wait in vain.
    const foreign = isInvoke(activity) && answer === undefined
    const kept = foreign ? inbox.release(key) : inbox.remember(key, answer ?? null)
    kept.catch((error: unknown) => log.warn({ err: error }, 'that an activity is done was not kept'))
  }

  async #identify(context: TurnContext): Promise<boolean> {
    const { activity } = context
    const tenantId = activity.conversation.tenantId ?? activity.channelData?.tenant?.id
    const id = activity.from.aadObjectId
    const viewer = this.#viewerOf(context)
    if (!isPersonal(activity)) {
      noteOutcome(context, 'refused')
      if (isSpeaking(activity)) await respond(context, cards.notice({ code: 'notPersonal' }, viewer))
      return false
    }
    if (!isObjectId(id) || typeof tenantId !== 'string') {
      if (isSpeaking(activity)) throw new ProvisioningError('forbidden', 'Your account is not known here.')
      return false
    }
    const actor = await this.#admit(activity, { tenantId, id })
    rememberTurn(context, {
      actor,
      viewer: { ...viewer, id: actor.id, isAdmin: actor.isAdmin },
      provisioning: this.#services.provisioning,
      conversationId: activity.conversation.id,
      mentions: mentionsIn(activity),
      clickedActivityId: activity.replyToId,
      sentCards: this.#services.sentCards,
    })
    await this.#knowChat(context, actor.id, tenantId)
    return true
  }

  /** Who it is; that somebody tried to decide who is let into nothing is written down with the request. */
  async #admit(activity: Activity, who: { tenantId: string; id: string }): Promise<Actor> {
    const { provisioning, log } = this.#services
    try {
      return await provisioning.actor(who)
    } catch (error) {
      const click = clickOf(activity)
      const decides = click && cardActions.get(click.verb)?.decides
      if (decides && error instanceof ProvisioningError && error.code === 'forbidden')
        await provisioning.system
          .noteRefused(who, click.data['requestId'], decides)
          .catch((err: unknown) => log.warn({ err }, 'that somebody was refused was not noted'))
      throw error
    }
  }

  #viewerOf({ activity }: TurnContext): Viewer {
    const { locale = 'en', localTimezone: timeZone = defaultTimeZone } = activity
    const { now, provisioning } = this.#services
    const { siteRoot, outlookRoot } = provisioning
    return { id: activity.from.aadObjectId ?? '', locale, timeZone, now: now(), siteRoot, outlookRoot }
  }

  /** Remembers the personal chat; one that is new to us, or again, may have missed cards, which are sent then. */
  async #knowChat(context: TurnContext, personId: string, tenantId: string): Promise<void> {
    const { activity } = context
    const { activityId: _, ...reference } = TurnContext.getConversationReference(activity)
    const text = JSON.stringify([
      reference.conversation?.id,
      reference.serviceUrl,
      activity.locale,
      activity.localTimezone,
    ])
    const known = this.#written.get(personId)
    const at = this.#services.now().getTime()
    const installed = activity.type === 'installationUpdate' && activity.action === 'add'
    const { system } = this.#services.provisioning
    const isKnown = known?.reference === text && at - known.at < rewriteAfter
    if (!installed && isKnown && !(await system.isClosed(tenantId, personId))) return
    const conversation = {
      tenantId,
      personId,
      conversationId: activity.conversation.id,
      reference,
      locale: activity.locale ?? 'en',
      timeZone: activity.localTimezone ?? defaultTimeZone,
    }
    await system.meet(conversation, installed)
    this.#written.set(personId, { reference: text, at })
  }

  /** What somebody is no longer whose card was clicked, if that is why they were refused. The card is not updated any more. */
  async #lostRight(
    { from, replyToId: activityId }: Activity,
    { code }: ProvisioningError,
    { data }: Click,
  ): Promise<LostRight | undefined> {
    const [requestId, personId] = [data['requestId'], from.aadObjectId]
    if (!aboutRights.includes(code) || !isObjectId(requestId) || !isObjectId(personId) || !activityId) return undefined
    const { provisioning, log } = this.#services
    return provisioning.system.withdrawClicked({ requestId, personId, activityId }).catch((err: unknown) => {
      log.warn({ err }, 'whether a card is to be withdrawn could not be found out')
      return undefined
    })
  }

  /** A refusal becomes a notice. Anything unforeseen is logged under a trace id that the person can name. */
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
    if (!isPassing(error) || notice.retry) await respond(context, cards.notice(notice, viewer))
    // The card stays as it is, so that nothing typed into it is lost.
    else if (isInvoke(activity))
      await respondMessage(context, known ? toasts[whyUnavailable(error) ?? 'unavailable'] : toasts.failed(traceId))
    else await respondBelow(context, cards.notice(notice, viewer))
  }
}

/** Refusals that can mean that somebody is no longer what they were when they got the card. */
const aboutRights: readonly ErrorCode[] = ['forbidden', 'not-found', 'not-an-approver']

/** Something that a person said or clicked, and so wants an answer to. */
const isSpeaking = (activity: Activity): boolean => activity.type === 'message' || clickOf(activity) !== undefined

const isPersonal = ({ conversation }: Activity): boolean =>
  !conversation.isGroup && ['', 'personal'].includes(conversation.conversationType ?? '')

const isObjectId = (id: unknown): id is string => z.uuid().safeParse(id).success

function keyOf({ activity }: TurnContext): ActivityKey | undefined {
  if (!activity.id || !['message', 'invoke', 'installationUpdate'].includes(activity.type)) return undefined
  return { channel: activity.channelId, conversationId: activity.conversation.id, activityId: activity.id }
}
