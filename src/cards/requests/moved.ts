import { z } from 'zod'
import { type Request, referenceOf } from '../../core/index.ts'
import { look, looks, plain, shownState } from '../shared/look.ts'
import { format, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'

const forms = ['finished', 'stopped', 'moved'] as const
type Form = (typeof forms)[number]

/** An earlier card of a request, in one line: a newer card below shows the request. */
export const movedCard = defineCard({
  name: 'moved',
  data: z.strictObject({ form: z.enum(forms), look, reference: z.string(), fallback: z.string() }),
})

/** `form`: why the newer card came. The request has finished or stopped, or somebody brought its card forward. */
export function movedView(request: Request, form: Form): ViewOf<typeof movedCard> {
  const reference = referenceOf(request)
  const look = form === 'moved' ? { ...plain, mark: '–' as const } : looks[shownState(request)]
  return { form, look, reference, fallback: format(strings.moved[form].fallback, { reference }) }
}
