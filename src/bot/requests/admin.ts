import { z } from 'zod'
import { cardsFor, exampleNameFor, rowsOfPage, type WhichFor } from '../../cards/index.ts'
import {
  isRetryable,
  isTerminal,
  longestComment,
  meantTemplates,
  type QueueEntry,
  type Request,
  type RequestState,
  referenceOf,
  referencePattern,
  requestStates,
  transitions,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { peopleMeant } from '../channel/typed-arguments.ts'
import { splitAt, typedPhrases } from '../channel/typed-phrases.ts'
import {
  type Command,
  comment,
  defineCardAction,
  defineCommand,
  isRefusal,
  requestId,
  showNotice,
  undefinedIfNotFound,
} from '../define.ts'
import { statusOf } from './status.ts'

/** `REQ-1042` and an optional text. Several numbers are refused, because the command is for one request. */
export const referenceAndText = z.string().transform((typed, context) => {
  const [, reference = '', text = ''] = /^((?:REQ-?|#)?\s*\d+)[,;:.!]*(?:\s+(.+))?$/is.exec(typed.trim()) ?? []
  const several = text !== '' && text.split(/[\s,;]+/).every((word) => referencePattern.test(word))
  if (!referencePattern.test(reference) || several) context.addIssue('Enter the number of one request.')
  return { reference, text: text.slice(0, longestComment) }
})

/** Defines `admin <verb> REQ-1042 <text>`. Without a number, the card lists the requests to which the verb applies. */
export const defineAdminVerb = (
  verb: WhichFor,
  act: (turn: Turn, request: Request, text: string) => Promise<Reply>,
): Command =>
  defineCommand({
    name: `admin ${verb}`,
    forAdmins: true,
    argument: referenceAndText,
    handle: (turn, { reference, text }) => ifFound(turn, reference, (request) => act(turn, request, text)),
    withoutValidArgument: (turn) => listFitting(turn, verb),
  })

/** Runs a command on the request with this number. If the request does not exist, the card leads to the queue. */
export async function ifFound(
  turn: Turn,
  reference: string,
  then: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const request = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
  return request ? then(request) : showNotice(turn, { code: 'notFoundForAdmin' })
}

/** Explains a command that needs a number, and lists the requests to which it applies, oldest first. */
async function listFitting({ core, actor, viewer }: Turn, verb: WhichFor): Promise<Reply> {
  const { entries, counts } = await core.readQueue(actor)
  // An admin does not decide their own request.
  const isDecidable = ({ request }: QueueEntry): boolean =>
    request.status === 'pendingApproval' && request.requester.id !== actor.id
  const fits = {
    approve: isDecidable,
    reject: isDecidable,
    reassign: isDecidable,
    retry: ({ request }: QueueEntry) => isRetryable(request, viewer.now),
    cancel: ({ request }: QueueEntry) => isCancellable(request),
  }[verb]
  const fitting = entries.filter(fits).toSorted((one, other) => one.since.localeCompare(other.since))
  const isAboutWaiting = verb !== 'retry' && verb !== 'cancel'
  const total = isAboutWaiting ? counts.waiting : fitting.length
  return { card: cardsFor(viewer).adminWhich(verb, { entries: fitting, total }, viewer) }
}

/** The states of requests that can still be cancelled. The core checks them again. */
export const cancellableStates = requestStates.filter((status) => {
  const next: readonly RequestState[] = transitions[status]
  return next.includes('cancelled')
})
export const isCancellable = ({ status }: Request): boolean => cancellableStates.includes(status)

/** `admin retry REQ-1042`: shows a confirmation; the click retries. */
export const adminRetryCommand = defineAdminVerb('retry', async (turn, request) => {
  if (!isRetryable(request, turn.viewer.now)) return showNotice(turn, { code: 'cannotRetry', ...about(request) })
  if (request.status !== 'succeeded')
    return { card: cardsFor(turn.viewer).adminConfirm({ verb: 'admin.retry', request }, turn.viewer) }
  // A poll of the directory changes nothing, so it needs no confirmation.
  await turn.core.retryRequest(turn.actor, { requestId: request.requestId })
  return statusOf(turn, request.requestId)
})

/** `admin cancel REQ-1042 <comment>`: shows a confirmation with a comment; the click cancels. */
export const adminCancelCommand = defineAdminVerb('cancel', confirmCancel)

/**
 * Shows the confirmation to cancel a request, with a typed comment; a notice if the request can no longer be cancelled.
 */
export async function confirmCancel(turn: Turn, request: Request, comment = ''): Promise<Reply> {
  if (isCancellable(request))
    return { card: cardsFor(turn.viewer).adminConfirm({ verb: 'admin.cancel', request, comment }, turn.viewer) }
  return showNotice(turn, { code: isTerminal(request.status) ? 'alreadyEnded' : 'cannotCancel', ...about(request) })
}

/** Returns the part of a notice that adds a button for the request's status. */
const about = (request: Request) => ({ reference: referenceOf(request), requestId: request.requestId })

/** Retries a failed request. The card becomes the status card. */
export const retryAsAdmin = defineCardAction({
  verb: 'admin.retry',
  forAdmins: true,
  data: z.object({ requestId }),
  handle: (turn, { requestId }) =>
    statusAfter(turn, requestId, ['queued', 'provisioning', 'succeeded'], () =>
      turn.core.retryRequest(turn.actor, { requestId }),
    ),
})

/** Cancels a person's request. If the comment for the requester is missing, the card returns. */
export const cancelAsAdmin = defineCardAction({
  verb: 'admin.cancel',
  forAdmins: true,
  data: z.object({ requestId, comment }),
  async handle(turn, { requestId, comment }) {
    const { core, actor, viewer } = turn
    const request = await core.readRequest(actor, { requestId })
    if (comment !== '' || !isCancellable(request))
      return statusAfter(turn, requestId, ['cancelled'], () => core.cancelRequest(actor, { requestId, comment }))
    return {
      card: cardsFor(viewer).adminConfirm({ verb: 'admin.cancel', request, comment, commentMissing: true }, viewer),
    }
  },
})

/** Shows the request's status after a click. A second click shows the result of the first. */
async function statusAfter(
  turn: Turn,
  requestId: string,
  wanted: readonly RequestState[],
  act: () => Promise<unknown>,
): Promise<Reply> {
  try {
    await act()
  } catch (error) {
    if (!isRefusal(error, 'already-ended', 'illegal-transition')) throw error
    if (!wanted.includes((await turn.core.readRequest(turn.actor, { requestId })).status)) throw error
  }
  return statusOf(turn, requestId)
}

/** `admin simulate Project site as Kim Lee`: shows the template as that person sees it, and the result of a request. */
export const adminSimulateCommand = defineCommand({
  name: 'admin simulate',
  forAdmins: true,
  argument: z.string().max(300).transform(templateAndPerson),
  handle: simulate,
  withoutValidArgument: (turn) => simulate(turn, { what: '', who: '' }),
})

/** Returns the template and the person in "Project site as Kim Lee". Without a person: the admin. */
function templateAndPerson(typed: string): { what: string; who: string } {
  const parts = splitAt(typed, typedPhrases.as)
  return parts && parts.after !== '' ? { what: parts.before, who: parts.after } : { what: typed.trim(), who: '' }
}

/** Shows the simulation. If the text fits no template or person, or several, the admin chooses. */
async function simulate(turn: Turn, typed: { what: string; who: string }): Promise<Reply> {
  const { core, actor, viewer } = turn
  const all = await core.listTemplates(actor)
  const { found, near } = typed.what === '' ? { found: [], near: [] } : meantTemplates(all, typed.what)
  const [template, ...otherTemplates] = found
  if (!template || otherTemplates.length > 0) {
    const says = template ? 'whichTemplate' : typed.what === '' ? 'howTo' : 'noTemplate'
    const offered = template ? found : near.length > 0 ? near : all
    return {
      card: cardsFor(viewer).adminSimulateChoice({ says, typed, templates: offered.slice(0, rowsOfPage) }, viewer),
    }
  }
  const people = typed.who === '' ? [actor] : (await peopleMeant(turn, typed.who)).people
  const [person, ...otherPeople] = people
  if (!person || otherPeople.length > 0) {
    const says = person ? 'whichPerson' : 'nobody'
    const choice = { says, typed: { ...typed, what: template.name }, people: people.slice(0, rowsOfPage) } as const
    return { card: cardsFor(viewer).adminSimulateChoice(choice, viewer) }
  }
  const simulation = await core.simulate(actor, {
    ...{ templateId: template.id, personId: person.id, example: exampleNameFor(viewer) },
  })
  return { card: cardsFor(viewer).adminSimulate(simulation, viewer) }
}
