import { z } from 'zod'
import { cardsFor, type DraftOffer, peopleInputIds, type Verb } from '../../cards/index.ts'
import {
  type Draft,
  type DraftView,
  inLocale,
  isMailboxKind,
  ProvisioningError,
  type Template,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'

/** The data that a step of the request dialog shows. */
type DialogView =
  | DraftView
  | {
      readonly step: 'choose'
      readonly templates: readonly Template[]
      /** The typed part of a name, if no template's name contains it. */
      readonly unmatched?: string | undefined
      /** The name for the form, which the person has typed. */
      readonly newName?: string | undefined
    }
  | ({ readonly step: 'offer' } & DraftOffer)
type Step = DialogView['step']
interface StepOf<S extends Step> {
  /** The verbs of the card's buttons. A step without verbs ends the dialog. */
  readonly verbs: readonly Verb[]
  show(view: Extract<DialogView, { step: S }>, turn: Turn): Promise<Reply>
}

/** The steps of the request dialog in their usual order: the card of each step and its buttons. */
export const dialogSteps = {
  choose: {
    verbs: ['request.choose'],
    async show({ templates, unmatched, newName }, { viewer }) {
      const choices = templates.map((template) => {
        const { id, icon, name, description, kind, approval } = inLocale(template, viewer.locale)
        return { id, icon, name, description, kind, approvalRequired: approval !== null }
      })
      return { card: cardsFor(viewer).chooseTemplate(choices, unmatched, newName), at: { step: 'choose' } }
    },
  },
  offer: {
    verbs: ['request.continue', 'request.choose', 'request.cancel', 'drafts.page'],
    async show(offer, { viewer }) {
      return { card: cardsFor(viewer).continueDraft(offer, viewer), at: { step: 'offer' } }
    },
  },
  details: {
    verbs: ['request.review', 'request.check', 'request.keep', 'request.join', 'request.cancel'],
    async show({ draft, template, faults, preview, outdated }, { actor, core, viewer }) {
      const [people, mailDomain, names, earlierEnd] = await Promise.all([
        core.findNamedPeople(actor, { ids: peopleChosen(draft, template) }),
        isMailboxKind(template.kind) ? mailDomainOf({ actor, core }) : '',
        preview ?? core.likelyNames(actor, { draft, template }),
        draft.basedOn && core.readEarlierEnd(actor, { requestId: draft.requestId }),
      ])
      const card = cardsFor(viewer).form({
        draft,
        template: inLocale(template, viewer.locale),
        requester: actor,
        faults,
        people,
        mailDomain,
        names,
        earlierEnd,
        hidesChosen: viewer.hidesChosen,
        ...(outdated && { notice: 'stale' as const }),
      })
      return { card, at: { step: 'details', requestId: draft.requestId } }
    },
  },
  review: {
    verbs: ['request.submit', 'request.edit', 'request.join', 'request.cancel'],
    async show(reviewed, { core, viewer }) {
      const { draft } = reviewed
      const card = cardsFor(viewer).review({ ...reviewed, siteRoot: core.siteRoot, viewer })
      return { card, at: { step: 'review', requestId: draft.requestId } }
    },
  },
  kept: {
    verbs: ['request.continue'],
    async show({ draft, template }, { viewer }) {
      const card = cardsFor(viewer).continueDraft({ says: 'kept', drafts: [{ draft, template }] }, viewer)
      return { card, at: { step: 'kept', requestId: draft.requestId } }
    },
  },
  submitted: {
    verbs: [],
    async show({ request }, { viewer }) {
      const { requestId, version: shown } = request
      const card = cardsFor(viewer).requestStatus(request, viewer)
      return { card, keep: { requestId, key: 'status', shown }, at: { step: 'submitted', requestId } }
    },
  },
  discarded: {
    verbs: [],
    async show({ draft }, { viewer }) {
      const card = cardsFor(viewer).notice(
        { code: 'discarded', retry: { verb: 'request.continue', requestId: draft.requestId } },
        viewer,
      )
      return { card, at: { step: 'discarded', requestId: draft.requestId } }
    },
  },
} as const satisfies { readonly [S in Step]: StepOf<S> }

/** The limit of people to look up. A form holds fewer, but a client can send more. */
const maxPeople = 200

/** Returns the ids of the people in a form's pickers, each once. */
function peopleChosen({ values }: Draft, template: Template): string[] {
  const chosen = peopleInputIds(template).flatMap((id) => (values[id] ?? '').split(/[,;\n]/))
  const ids = chosen.map((id) => id.trim().toLowerCase()).filter((id) => z.uuid().safeParse(id).success)
  return [...new Set(ids)].slice(0, maxPeople)
}

/** Returns the domain of new mailboxes; `''` while the directory does not answer, so that the form still opens. */
async function mailDomainOf({ actor, core }: Pick<Turn, 'actor' | 'core'>): Promise<string> {
  try {
    return (await core.readMailDomains(actor)).default
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'unavailable') return ''
    throw error
  }
}

/** The verbs of the dialog. `request.again` is on the card of a completed request and opens a form. */
const dialogVerbs = new Set<string>(['request.again', ...Object.values(dialogSteps).flatMap(({ verbs }) => verbs)])

/** Whether a verb is an action of the request dialog. */
export const isDialogVerb = (verb: string): boolean => dialogVerbs.has(verb)

/** The dialog's state in botbuilder: only a cursor. The values that a person enters are a draft in the store. */
type DialogCursor = { readonly v: 1 } & NonNullable<Reply['at']>

/** Returns the cursor after a reply; undefined if the card has no button of the dialog, so that the dialog ends. */
export function cursorAfter({ at }: Reply): DialogCursor | undefined {
  return at && dialogSteps[at.step].verbs.length > 0 ? { v: 1, ...at } : undefined
}

/** Shows the card of a step. */
export function showStep(view: DialogView, turn: Turn): Promise<Reply> {
  const show = dialogSteps[view.step].show as (view: DialogView, turn: Turn) => Promise<Reply>
  return show(view, turn)
}
