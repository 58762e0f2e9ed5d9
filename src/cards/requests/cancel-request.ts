import { z } from 'zod'
import { inLocale, type Request, referenceOf, resourceKind } from '../../core/index.ts'
import { askedAddress } from '../shared/links.ts'
import { looks, rowLook, shownState } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, rowTitle, type Viewer } from '../shared/texts.ts'

export const cancelRequestCard = defineCard({
  name: 'cancel-request',
  data: z.strictObject({
    requestId: z.uuid(),
    reference: z.string(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    address: z.string(),
    says: z.enum(['waiting', 'nothing', 'created']),
    fallback: z.string(),
  }),
})

/** Asks the requester once before the request is cancelled. */
export function cancelRequestView(request: Request, viewer: Viewer): ViewOf<typeof cancelRequestCard> {
  const reference = referenceOf(request)
  const isCreated = request.steps.some(({ status }) => status === 'done')
  return {
    requestId: request.requestId,
    reference,
    kind: request.kind,
    templateName: inLocale(request.template, viewer.locale).name,
    displayName: cut(request.details.displayName, longest.title),
    address: askedAddress(request, viewer),
    says: isCreated ? 'created' : request.status === 'pendingApproval' ? 'waiting' : 'nothing',
    fallback: format(strings.cancel.fallback, { reference }),
  }
}

/** More rows would be too long for a phone. */
const maxRows = 6

export const cancelWhichCard = defineCard({
  name: 'cancel-which',
  data: z.strictObject({
    requests: z
      .array(
        z.strictObject({
          reference: z.string(),
          displayName: z.string(),
          look: rowLook,
          state: z.string(),
          /** The title of a tap on the row. */
          open: z.string(),
        }),
      )
      .min(1),
    /** How many more there are, or `''`. */
    older: z.string(),
  }),
})

/** Asks which of the requester's open requests to cancel: a tap on a row types the command. */
export function cancelWhichView(requests: readonly Request[]): ViewOf<typeof cancelWhichCard> {
  const texts = strings.cancel.which
  const shown = requests.slice(0, maxRows).map((request) => {
    const [reference, state] = [referenceOf(request), shownState(request)]
    const { mark, color } = looks[state]
    return {
      reference,
      displayName: rowTitle(request.details),
      look: { mark, color },
      state: strings.state[state].name,
      open: format(strings.list.open, { reference }),
    }
  })
  return { requests: shown, older: restText(texts.more, requests.length - shown.length) }
}
