import { cards } from '../cards/index.ts'
import type { DraftView } from '../core/index.ts'
import type { Reply, Turn } from './turn.ts'

type Step = DraftView['step']
type Showing = { [S in Step]: (view: Extract<DraftView, { step: S }>, turn: Turn) => Promise<Reply> }

/** The steps of the request dialog, as data: which card shows each. */
const showing: Showing = {
  async details({ draft, template, faults, outdated }, { actor, provisioning }) {
    const ids = (draft.values['owners'] ?? '').split(',').filter((id) => id !== '')
    const people = await provisioning.drafts.people(ids)
    const card = cards.siteForm({
      draft,
      template,
      requester: actor,
      faults,
      people,
      siteRoot: provisioning.siteRoot,
      ...(outdated && { notice: 'stale' as const }),
    })
    return { card, at: { step: 'details', requestId: draft.requestId } }
  },
  async review({ draft, plan }) {
    return { card: cards.review({ draft, plan }), at: { step: 'review', requestId: draft.requestId } }
  },
  async submitted({ request }, { viewer }) {
    const { requestId } = request
    return {
      card: cards.requestStatus(request, viewer),
      keep: { requestId, key: 'status' },
      at: { step: 'submitted', requestId },
    }
  },
  async discarded({ draft }, { viewer }) {
    return { card: cards.notice({ code: 'discarded' }, viewer), at: { step: 'discarded', requestId: draft.requestId } }
  },
}

/** The card of a draft, wherever it stands. */
export function showDraft(view: DraftView, turn: Turn): Promise<Reply> {
  const show = showing[view.step] as (view: DraftView, turn: Turn) => Promise<Reply>
  return show(view, turn)
}
