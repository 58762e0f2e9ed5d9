import { z } from 'zod'
import { cards, type DraftOffer, peopleInputIds, type Verb } from '../cards/index.ts'
import { type Draft, type DraftView, inLocale, isMailboxKind, ProvisioningError, type Template } from '../core/index.ts'
import type { Reply, Turn } from './turn.ts'

/** What a step of the request dialog shows. */
export type DialogView =
  | DraftView
  | {
      readonly step: 'choose'
      readonly templates: readonly Template[]
      /** The part of a name that was asked for, when no template has it. */
      readonly unmatched?: string | undefined
    }
  | ({ readonly step: 'offer' } & DraftOffer)
type Step = DialogView['step']
interface StepOf<S extends Step> {
  /** What the buttons of its card say. A step without verbs ends the dialog. */
  readonly verbs: readonly Verb[]
  show(view: Extract<DialogView, { step: S }>, turn: Turn): Promise<Reply>
}

/** The request dialog as data, in the order in which people go: which card shows each step, and which clicks it takes. */
export const dialogSteps = {
  choose: {
    verbs: ['request.choose'],
    async show({ templates, unmatched }, { viewer }) {
      const choices = templates.map((template) => {
        const { id, icon, name, description, kind, approval } = inLocale(template, viewer.locale)
        return { id, icon, name, description, kind, approvalRequired: approval !== null }
      })
      return { card: cards.chooseTemplate(choices, unmatched), at: { step: 'choose' } }
    },
  },
  offer: {
    verbs: ['request.continue', 'request.choose', 'request.cancel'],
    async show(offer, { viewer }) {
      return { card: cards.continueDraft(offer, viewer), at: { step: 'offer' } }
    },
  },
  details: {
    verbs: ['request.review', 'request.check', 'request.keep', 'request.cancel'],
    async show({ draft, template, faults, preview, outdated }, { actor, provisioning, viewer }) {
      const { drafts } = provisioning
      const [people, mailDomain, names] = await Promise.all([
        drafts.people(peopleChosen(draft, template)),
        isMailboxKind(template.kind) ? mailDomainOf(provisioning) : '',
        preview ?? drafts.likelyNames(actor, draft, template),
      ])
      const card = cards.form({
        draft,
        template: inLocale(template, viewer.locale),
        requester: actor,
        faults,
        people,
        mailDomain,
        names,
        today: viewer.now.toISOString().slice(0, 10),
        ...(outdated && { notice: 'stale' as const }),
      })
      return { card, at: { step: 'details', requestId: draft.requestId } }
    },
  },
  review: {
    verbs: ['request.submit', 'request.edit', 'request.cancel'],
    async show({ draft, plan, similar, basedOn, outlook }, { provisioning, viewer }) {
      const { siteRoot } = provisioning
      const card = cards.review({ draft, plan, similar, basedOn, outlook, siteRoot, viewer })
      return { card, at: { step: 'review', requestId: draft.requestId } }
    },
  },
  kept: {
    verbs: ['request.continue'],
    async show({ draft, template }, { viewer }) {
      const card = cards.continueDraft({ says: 'kept', drafts: [{ draft, template }] }, viewer)
      return { card, at: { step: 'kept', requestId: draft.requestId } }
    },
  },
  submitted: {
    verbs: [],
    async show({ request }, { viewer }) {
      const { requestId } = request
      const card = cards.requestStatus(request, viewer)
      return { card, keep: { requestId, key: 'status' }, at: { step: 'submitted', requestId } }
    },
  },
  discarded: {
    verbs: [],
    async show({ draft }, { viewer }) {
      const card = cards.notice({ code: 'discarded' }, viewer)
      return { card, at: { step: 'discarded', requestId: draft.requestId } }
    },
  },
} as const satisfies { readonly [S in Step]: StepOf<S> }

/** More people than a form can ask for are not looked up, whatever a client sends. */
const mostPeople = 200

/** Whom the pickers of a form hold, each once. */
function peopleChosen({ values }: Draft, template: Template): string[] {
  const chosen = peopleInputIds(template).flatMap((id) => (values[id] ?? '').split(/[,;\n]/))
  const ids = chosen.map((id) => id.trim().toLowerCase()).filter((id) => z.uuid().safeParse(id).success)
  return [...new Set(ids)].slice(0, mostPeople)
}

/** The domain that new mailboxes get; `''` while the directory cannot tell, since a form opens all the same. */
async function mailDomainOf({ drafts }: Turn['provisioning']): Promise<string> {
  try {
    return (await drafts.mailDomains()).default
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'unavailable') return ''
    throw error
  }
}

type Steps = typeof dialogSteps
/** The steps that are about no single draft. */
const beforeForm = ['choose', 'offer'] as const satisfies readonly Step[]
type BeforeForm = (typeof beforeForm)[number]
/** The steps that wait for a click. */
type OpenStep = { [S in Step]: Steps[S]['verbs'] extends readonly [] ? never : S }[Step]
type DraftStep = Exclude<OpenStep, BeforeForm>

const steps = Object.keys(dialogSteps) as Step[]
const isBeforeForm = (step: Step): step is BeforeForm => beforeForm.some((one) => one === step)
const isDraftStep = (step: Step): step is DraftStep => !isBeforeForm(step) && dialogSteps[step].verbs.length > 0
/** A button of a finished request opens a form, and so begins the dialog. */
const dialogVerbs = new Set<string>(['request.again', ...steps.flatMap((step) => dialogSteps[step].verbs)])

/** Whether a verb is a step of the request dialog. */
export const isDialogVerb = (verb: string): boolean => dialogVerbs.has(verb)

/** What botbuilder keeps of the dialog: a cursor and nothing else, since what was filled in is a draft in the store. */
export const dialogState = z.discriminatedUnion('step', [
  z.object({ v: z.literal(1), step: z.enum(beforeForm) }),
  z.object({ v: z.literal(1), step: z.enum(steps.filter(isDraftStep)), requestId: z.uuid() }),
])
export type DialogState = z.output<typeof dialogState>

/** The cursor after a reply; undefined when no step waits for a click with it, so that the dialog ends. */
export const stateAfter = ({ at }: Reply): DialogState | undefined => dialogState.safeParse({ v: 1, ...at }).data

/** The card of a step. */
export function showStep(view: DialogView, turn: Turn): Promise<Reply> {
  const show = dialogSteps[view.step].show as (view: DialogView, turn: Turn) => Promise<Reply>
  return show(view, turn)
}
