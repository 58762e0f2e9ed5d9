import { z } from 'zod'
import { type SimilarResources, similarAmong, similarCandidates } from '../naming/index.ts'
import {
  type BasedOn,
  type Checks,
  comparedWithBasis,
  draftBasis,
  evaluate,
  foreseenIn,
  isForMailboxPlan,
  type Outlook,
  outlookOf,
  type Plan,
  type Request,
  type RequestPorts,
  readRequest,
  resourceOf,
} from '../requests/index.ts'
import {
  type Account,
  asking,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  handedBack,
  instant,
  type MailDomains,
  ProvisioningError,
} from '../shared/index.ts'
import { type Template, usableTemplate } from '../templates/index.ts'
import { bodyOfForm } from './form-values.ts'
import { type NamePreview, previewNames } from './name-preview.ts'

/**
 * What a person has filled in so far: a row with a version, and from the moment the form opens the id that its request
 * will have, so however often Send is clicked there is one request.
 */
export const draft = z.object({
  v: z.literal(1),
  requestId: z.uuid(),
  tenantId: z.uuid(),
  personId: z.uuid(),
  templateId: z.uuid(),
  /** A failed request that this one replaces when it is sent. */
  replaces: z.uuid().optional(),
  /** The request that its values come from. */
  basedOn: draftBasis.optional(),
  /** Somebody has filled something in, or asked for it to be kept: then it is offered again. */
  begun: z.boolean().optional(),
  version: z.int().min(1),
  step: z.enum(['details', 'review', 'submitted', 'discarded']),
  /** Input id → what was typed, as it was typed. */
  values: z.record(z.string(), z.string()),
  updatedAt: instant,
})
export type Draft = z.output<typeof draft>

/** A form as somebody filled it in; `version`: the one that they saw. */
export const filledForm = draft.pick({ requestId: true, version: true, values: true })

export interface DraftStore {
  find(requestId: string): Promise<Draft | undefined>
  /** What a person has begun and neither sent nor discarded, the last changed first. */
  listBegun(tenantId: string, personId: string, limit: number): Promise<Draft[]>
  insert(draft: Draft): Promise<void>
  /** Writes the next version; false when somebody else wrote first. */
  update(draft: Draft): Promise<boolean>
  /** Forgets, at this time, those that nobody will come back to. */
  forgetOld(at: Date): Promise<void>
}

/** The ports that this room and the rooms above it need. */
export interface DraftPorts extends RequestPorts {
  readonly drafts: DraftStore
}

/** The step of a draft, and what its card needs to show it. */
export type DraftView =
  | {
      readonly step: 'details'
      readonly draft: Draft
      readonly template: Template
      readonly faults: readonly Fault[]
      /** What comes of its names, where somebody asked for that. */
      readonly preview?: NamePreview
      readonly outdated: boolean
    }
  | {
      readonly step: 'review'
      readonly draft: Draft
      readonly plan: Plan
      /** What the tenant has already with a name like this one. */
      readonly similar: SimilarResources
      /** How it differs from the request that it comes from. */
      readonly basedOn?: BasedOn | undefined
      /** Who will be asked, and what may surprise. */
      readonly outlook: Outlook
      readonly outdated: boolean
    }
  | { readonly step: 'kept'; readonly draft: Draft; readonly template: Template }
  | { readonly step: 'submitted'; readonly request: Request }
  | { readonly step: 'discarded'; readonly draft: Draft }

/** The longest reason, in characters. */
const longestReason = 1024

/** A draft of this person; `not-found` for anybody else's. */
export async function ownDraft({ ports, actor }: Context<DraftPorts>, requestId: string): Promise<Draft> {
  const draft = await ports.drafts.find(requestId)
  if (!draft || draft.personId !== actor.id || draft.tenantId !== actor.tenantId)
    throw new ProvisioningError('not-found', because('draftUnknown'))
  return draft
}

/** The draft at its present step. A reviewed draft with new faults goes back to its form. */
export async function showDraft(context: Context<DraftPorts>, draft: Draft, outdated: boolean): Promise<DraftView> {
  const { ports } = context
  if (draft.step === 'submitted')
    return { step: 'submitted', request: await readRequest.handle(context, { requestId: draft.requestId }) }
  if (draft.step === 'discarded') return { step: 'discarded', draft }
  if (draft.step === 'details')
    return {
      step: 'details',
      draft,
      template: await knownTemplate(context, draft.templateId),
      faults: [],
      outdated,
    }
  const template = await knownTemplate(context, draft.templateId)
  const checked = await checkDraft(context, draft, template)
  if ('plan' in checked) return { step: 'review', draft, ...checked, outdated }
  const back = await write(ports, { ...draft, step: 'details' })
  return { step: 'details', draft: back ?? draft, template: checked.template, faults: checked.faults, outdated }
}

type Checked =
  | {
      readonly plan: Plan
      readonly similar: SimilarResources
      readonly basedOn?: BasedOn | undefined
      readonly outlook: Outlook
    }
  | { readonly template: Template; readonly faults: readonly Fault[] }

/** What a request made of this draft would be and what there is like it, or what is wrong with it. */
export async function checkDraft(context: Context<DraftPorts>, draft: Draft, template: Template): Promise<Checked> {
  const { ports, settings, actor } = context
  const { requestId, replaces } = draft
  const { body, faults: inForm } = bodyOfForm(template, draft.values)
  const inquiry = { ports, settings, actor, requestId, replaces, isSubmission: false, crowded: false }
  const sought = { kind: template.kind, displayName: draft.values['displayName'] ?? '' }
  const [evaluation, candidates] = await Promise.all([
    evaluate(inquiry, resourceOf(template.kind), body),
    similarCandidates(ports, sought),
  ])
  const faults = [...inForm, ...(evaluation.ok ? [] : evaluation.faults), ...reasonFaults(draft, template)]
  if (!evaluation.ok || faults.length > 0) return { template, faults }
  const { plan } = evaluation
  const address = isForMailboxPlan(plan) ? plan.address : plan.url
  const [similar, basedOn, outlook] = await Promise.all([
    similarAmong(context, { ...sought, address }, candidates),
    comparedWithBasis(context, draft.basedOn, { ...plan, reason: reasonOf(draft) }),
    outlookOf(context, foreseenIn(plan, requestId)),
  ])
  return { plan, similar, basedOn, outlook }
}

export const reasonOf = (draft: Draft): string => (draft.values['reason'] ?? '').trim()

function reasonFaults(draft: Draft, template: Template): Fault[] {
  const reason = reasonOf(draft)
  if (template.approval !== null && reason === '') return [fault('/reason', 'required', because('reasonNeeded'))]
  return reason.length > longestReason
    ? [fault('/reason', 'too-long', because('reasonTooLong', { count: longestReason }))]
    : []
}

/**
 * Whether a form holds something else than before. Boxes that nobody ticked say nothing, nor does that Outlook opens a
 * mailbox by itself, which is so unless somebody switches it off.
 */
export function isFilledIn(before: Draft['values'], now: Draft['values']): boolean {
  const contentOf = (values: Draft['values'], input: string): string => {
    const value = (values[input] ?? '').trim()
    return value === (input === 'autoMapping' ? 'true' : 'false') ? '' : value
  }
  return [...Object.keys(before), ...Object.keys(now)].some(
    (input) => contentOf(before, input) !== contentOf(now, input),
  )
}

/** A draft with what its form holds now; begun, once that is something else than it opened with. */
export function withAnswers(draft: Draft, values: Draft['values']): Draft {
  const answers = { ...draft.values, ...values }
  return { ...draft, values: answers, ...(isFilledIn(draft.values, answers) && { begun: true }) }
}

/** The template of a form; `not-found` when it is gone. */
export async function knownTemplate(context: Context<DraftPorts>, templateId: string): Promise<Template> {
  const template = await usableTemplate(context, templateId)
  if (template) return template
  const reason = because('templateNotOffered')
  throw new ProvisioningError('not-found', reason, { faults: [fault('/templateId', 'unknown-template', reason)] })
}

/** The next version; undefined when another click was faster. */
export async function write(ports: DraftPorts, draft: Draft): Promise<Draft | undefined> {
  const next = { ...draft, version: draft.version + 1, updatedAt: ports.clock.now().toISOString() }
  return (await ports.drafts.update(next)) ? next : undefined
}

/** Finds the people that a form names by their ids, as far as the directory knows them: only to show their names. */
export const findNamedPeople = defineUseCase({
  permission: 'request.create',
  input: z.object({ ids: z.array(z.string()) }),
  async handle({ ports }: Context<DraftPorts>, { ids }): Promise<Account[]> {
    const found = await Promise.all(ids.map((id) => ports.directory.person(id).catch(() => undefined)))
    return found.filter((person) => person !== undefined)
  },
})

/** Reads the domains that the organisation takes mail for. */
export const readMailDomains = defineUseCase({
  permission: 'request.create',
  input: z.object({}),
  handle: ({ ports }: Context<DraftPorts>): Promise<MailDomains> => asking(() => ports.directory.mailDomains()),
})

/**
 * Takes a form as far as it is filled in and says of its names alone what comes of them and whether they are free. What else is
 * missing or wrong is no mistake yet; what was typed is kept.
 */
export const checkDraftNames = defineUseCase({
  permission: 'request.create',
  input: filledForm,
  handle: (context: Context<DraftPorts & Checks>, form): Promise<DraftView> =>
    context.ports.checks.ofForm(context.actor, {}, () => checkNames(context, form)),
})

async function checkNames(
  context: Context<DraftPorts>,
  { requestId, version, values }: z.output<typeof filledForm>,
): Promise<DraftView> {
  const { ports } = context
  const draft = await ownDraft(context, requestId)
  if (draft.step !== 'details' || draft.version !== version) return showDraft(context, draft, true)
  const template = await knownTemplate(context, draft.templateId)
  const next = await write(ports, withAnswers(draft, values))
  if (!next) return showDraft(context, await ownDraft(context, requestId), true)
  const { preview, faults } = await previewNames(inquiryOf(context, next), template, next.values, {
    isChecked: true,
  })
  return { step: 'details', draft: next, template, faults, preview, outdated: false }
}

/** What the names of a form would be, as far as that is known without asking whether they are free. */
export const likelyNames = defineUseCase({
  permission: 'request.create',
  input: z.object({ draft: handedBack<Draft>(), template: handedBack<Template>() }),
  async handle(context: Context<DraftPorts>, { draft, template }): Promise<NamePreview> {
    const inquiry = inquiryOf(context, draft)
    return (await previewNames(inquiry, template, draft.values, { isChecked: false })).preview
  },
})

const inquiryOf = ({ ports, settings, actor }: Context<DraftPorts>, { requestId, replaces }: Draft) => ({
  ports,
  settings,
  actor,
  requestId,
  replaces,
  isSubmission: false,
  crowded: false,
})
