import { randomUUID } from 'node:crypto'
import { type Middleware, TurnContext } from 'botbuilder'
import { cards, type NoticeCode, toasts, type Viewer } from '../cards/index.ts'
import { type ActivityKey, ProvisioningError } from '../core/index.ts'
import { answerKey, respond, respondMessage } from './respond.ts'
import { type BotServices, clickOf, isInvoke, rememberTurn } from './turn.ts'

/** How long a chat that is already known is believed to be the same, in milliseconds, before it is written again. */
const rewriteAfter = 3_600_000
const defaultTimeZone = 'UTC'

/**
 * What happens around every turn: the activity is heard once, the person is identified by tenant id and Entra object id
 * of the authenticated activity, their personal chat is remembered, and whatever goes wrong is answered in words.
 */
export class Listener implements Middleware {
  readonly #services: BotServices
  readonly #written = new Map<string, { reference: string; at: number }>()

  constructor(services: BotServices) {
    this.#services = services
  }

  async onTurn(context: TurnContext, next: () => Promise<void>): Promise<void> {
    const key = keyOf(context)
    if (key && !(await this.#services.inbox.claim(key))) return this.#repeat(context, key)
    try {
      if (await this.#identify(context)) await next()
      if (key && isInvoke(context.activity)) await this.#remember(context, key)
    } catch (error) {
      if (key && !(error instanceof ProvisioningError)) await this.#services.inbox.release(key).catch(() => undefined)
      await this.#explain(context, error)
    }
  }

  /** The answer that the first delivery got; while that one is still at work, nothing. */
  async #repeat(context: TurnContext, key: ActivityKey): Promise<void> {
    if (!isInvoke(context.activity)) return
    const answer = await this.#services.inbox.answer(key)
    if (answer === undefined) return respondMessage(context, toasts.working)
    await context.sendActivity({ type: 'invokeResponse', value: answer })
  }

  async #remember(context: TurnContext, key: ActivityKey): Promise<void> {
    const answer: unknown = context.turnState.get(answerKey)
    if (answer !== undefined) await this.#services.inbox.remember(key, answer)
  }

  async #identify(context: TurnContext): Promise<boolean> {
    const { activity } = context
    const tenantId = activity.conversation.tenantId ?? activity.channelData?.tenant?.id
    const id: unknown = activity.from?.aadObjectId
    const viewer = this.#viewerOf(context)
    if (activity.conversation.conversationType && activity.conversation.conversationType !== 'personal') {
      if (activity.type === 'message' || clickOf(activity))
        await respond(context, cards.notice({ code: 'notPersonal' }, viewer))
      return false
    }
    if (typeof id !== 'string' || typeof tenantId !== 'string') return false
    const actor = await this.#services.provisioning.actor({ tenantId, id })
    rememberTurn(context, {
      actor,
      viewer: { ...viewer, id: actor.id },
      provisioning: this.#services.provisioning,
      conversationId: activity.conversation.id,
      clickedActivityId: activity.replyToId,
      sentCards: this.#services.sentCards,
    })
    await this.#knowChat(context, actor.id, tenantId)
    return true
  }

  #viewerOf({ activity }: TurnContext): Viewer {
    const { locale = 'en', localTimezone: timeZone = defaultTimeZone } = activity
    const { now, provisioning } = this.#services
    return { id: activity.from.aadObjectId ?? '', locale, timeZone, now: now(), siteRoot: provisioning.siteRoot }
  }

  /** Remembers the personal chat; one that is new to us may have missed cards, which are sent now. */
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
    if (known?.reference === text && at - known.at < rewriteAfter) return
    const isNew = await this.#services.conversations.put({
      tenantId,
      personId,
      conversationId: activity.conversation.id,
      reference,
      locale: activity.locale ?? 'en',
      timeZone: activity.localTimezone ?? defaultTimeZone,
    })
    this.#written.set(personId, { reference: text, at })
    if (isNew) await this.#services.provisioning.system.catchUp({ tenantId, id: personId })
  }

  /** A refusal becomes a notice. Anything unforeseen is logged under an id that the person can name. */
  async #explain(context: TurnContext, error: unknown): Promise<void> {
    const { activity } = context
    const viewer = this.#viewerOf(context)
    const click = clickOf(activity)
    if (error instanceof ProvisioningError) {
      const { code, context: facts } = error
      const requestId = typeof click?.data['requestId'] === 'string' ? { requestId: click.data['requestId'] } : {}
      await respond(context, cards.notice({ code: noticeOf[code], ...requestId, ...facts }, viewer))
      return
    }
    const traceId = randomUUID().slice(0, 8)
    this.#services.log.error({ err: error, traceId, type: activity.type, verb: click?.verb }, 'a turn failed')
    if (activity.type !== 'message' && !click) return
    // The card stays as it is, so that nothing typed into it is lost.
    if (isInvoke(activity)) return respondMessage(context, toasts.failed(traceId))
    await respond(context, cards.notice({ code: 'unexpected', traceId }, viewer))
  }
}

function keyOf({ activity }: TurnContext): ActivityKey | undefined {
  if (!activity.id || (activity.type !== 'message' && activity.type !== 'invoke')) return undefined
  return { channel: activity.channelId, conversationId: activity.conversation.id, activityId: activity.id }
}

const noticeOf = {
  'validation-failed': 'outdated',
  'name-taken': 'outdated',
  'not-found': 'notFound',
  forbidden: 'notAllowed',
  'self-approval': 'selfApproval',
  'not-an-approver': 'notApprover',
  'already-decided': 'alreadyDecided',
  'already-ended': 'alreadyEnded',
  'illegal-transition': 'cannotCancel',
  'comment-required': 'outdated',
  'stale-version': 'outdated',
  'too-many-open-requests': 'tooManyOpen',
  unavailable: 'unavailable',
} as const satisfies Record<ProvisioningError['code'], NoticeCode>
