import { z } from 'zod'
import { likeness, type SimilarResources, similarAmong, similarCandidates, similarFrom } from '../naming/index.ts'
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
  isMailboxKind,
  type MailDomains,
  ProvisioningError,
} from '../shared/index.ts'
import { type Template, usableTemplate } from '../templates/index.ts'
import { bodyOfForm, defaultsOf } from './form-values.ts'
import { type NamePreview, neededAddress, previewNames } from './name-preview.ts'

/**
 * A form in progress. The draft gets the id of its later request when the form opens, so repeated clicks on Send create
 * one request.
 */
export const draft = z.object({
  v: z.literal(1),
  requestId: z.uuid(),
  tenantId: z.uuid(),
  personId: z.uuid(),
  templateId: z.uuid(),
  /** The version of the template on the last review. A draft from an earlier version of the service has no version. */
  templateVersion: z.int().optional(),
  /** The failed request that this draft replaces when it is submitted. */
  replaces: z.uuid().optional(),
  /** The request from which the values were copied. */
  basedOn: draftBasis.optional(),
  /** Whether the person has entered something or saved the draft. The bot then offers the draft again. */
  begun: z.boolean().optional(),
  version: z.int().min(1),
  step: z.enum(['details', 'review', 'submitted', 'discarded']),
  /** Input id → typed text, unchanged. */
  values: z.record(z.string(), z.string()),
  updatedAt: instant,
})
export type Draft = z.output<typeof draft>

/** A completed form; `version`: the version that the person saw. */
export const filledForm = draft.pick({ requestId: true, version: true, values: true })

export interface DraftStore {
  find(requestId: string): Promise<Draft | undefined>
  /** Lists the drafts that a person has started and neither submitted nor discarded, last changed first. */
  listStarted(tenantId: string, personId: string, limit: number): Promise<Draft[]>
  /** Reads in one statement whether requests wait for the person's decision, and whether the person has started drafts. */
  waitingFor(tenantId: string, personId: string): Promise<{ approvals: boolean; drafts: boolean }>
  /** Stores a new draft; returns false if a draft with its id exists. */
  insert(draft: Draft): Promise<boolean>
  /** Writes the next version; returns false if another write was first. */
  update(draft: Draft): Promise<boolean>
  /** Deletes the drafts that are too old at this time. */
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
      /** The preview of the names, if the person requested it. */
      readonly preview?: NamePreview
      readonly outdated: boolean
    }
  | {
      readonly step: 'review'
      readonly draft: Draft
      readonly plan: Plan
      /** Existing resources of the tenant with a similar name. */
      readonly similar: SimilarResources
      /** The person's own waiting requests with a similar name. */
      readonly waiting: readonly Request[]
      /** The differences from the request from which the draft was copied. */
      readonly basedOn?: BasedOn | undefined
      /** The approvers and the warnings. */
      readonly outlook: Outlook
      readonly outdated: boolean
      /** The template has changed since the person's last review. */
      readonly templateChanged?: boolean
    }
  | { readonly step: 'kept'; readonly draft: Draft; readonly template: Template }
  | { readonly step: 'submitted'; readonly request: Request }
  | { readonly step: 'discarded'; readonly draft: Draft }

/** The longest reason, in characters. */
const longestReason = 1024

/** Returns a draft of this person. Throws `not-found` for a draft of another person. */
export async function ownDraft({ ports, actor }: Context<DraftPorts>, requestId: string): Promise<Draft> {
  const draft = await ports.drafts.find(requestId)
  if (!draft || draft.personId !== actor.id || draft.tenantId !== actor.tenantId)
    throw new ProvisioningError('not-found', because('draftUnknown'))
  return draft
}

/**
 * Returns the view of a draft at its current step. A reviewed draft with new faults returns to its form. If its template
 * has changed since, the new review gets its own version, so that the earlier review cannot be sent.
 */
export async function showDraft(context: Context<DraftPorts>, draft: Draft, outdated: boolean): Promise<DraftView> {
  const { ports } = context
  if (draft.step === 'submitted')
    return { step: 'submitted', request: await readRequest.handle(context, { requestId: draft.requestId }) }
  if (draft.step === 'discarded') return { step: 'discarded', draft }
  const template = await knownTemplate(context, draft.templateId)
  if (draft.step === 'details') {
    const opened = withAnswers(template, draft, {})
    const hasNewDefaults = Object.keys(opened.values).length > Object.keys(draft.values).length
    const written = hasNewDefaults && (await write(ports, opened))
    return { step: 'details', draft: written || draft, template, faults: [], outdated }
  }
  const checked = await checkDraft(context, draft, template)
  if ('plan' in checked) {
    const templateChanged = isOutdated(draft, template)
    const renewed = templateChanged && (await write(ports, { ...draft, templateVersion: template.version }))
    return { step: 'review', draft: renewed || draft, ...checked, outdated, templateChanged }
  }
  const returned = await write(ports, { ...draft, step: 'details' })
  return { step: 'details', draft: returned ?? draft, template: checked.template, faults: checked.faults, outdated }
}

/** Whether the template has changed since the person reviewed the draft. */
export const isOutdated = ({ templateVersion }: Draft, { version }: Template): boolean =>
  templateVersion !== undefined && templateVersion !== version

type Checked =
  | {
      readonly plan: Plan
      readonly similar: SimilarResources
      readonly waiting: readonly Request[]
      readonly basedOn?: BasedOn | undefined
      readonly outlook: Outlook
    }
  | { readonly template: Template; readonly faults: readonly Fault[] }

/** Returns the plan of the draft's request, similar resources and the outlook; or the faults of the draft. */
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
  const faults = [
    ...inForm,
    ...(evaluation.ok ? [] : evaluation.faults),
    ...reasonFaults(draft, template),
    ...missingLabel(body, template),
    ...neededAddress(template, sought.displayName, draft.values['alias'] ?? ''),
  ]
  if (!evaluation.ok || faults.length > 0) return { template, faults }
  const { plan } = evaluation
  const address = isForMailboxPlan(plan) ? plan.address : plan.url
  const [similar, waiting, basedOn, outlook] = await Promise.all([
    similarAmong(context, { ...sought, address }, candidates),
    ownWaiting(context, draft, plan),
    comparedWithBasis(context, draft.basedOn, { ...plan, reason: reasonOf(draft) }),
    outlookOf(context, foreseenIn(plan, requestId)),
  ])
  return { plan, similar, waiting, basedOn, outlook }
}

/** The number of own waiting requests that are compared with a draft. */
const maxOwn = 30

/** Returns the actor's waiting requests of the same kind with a similar name, except the one that the draft replaces. */
async function ownWaiting(
  { ports, actor }: Context<DraftPorts>,
  { requestId, replaces }: Draft,
  { kind, details }: Plan,
): Promise<Request[]> {
  const query = {
    tenantId: actor.tenantId,
    requesterId: actor.id,
    kind,
    status: 'pendingApproval',
    limit: maxOwn,
  } as const
  const own = await ports.requests.list(query)
  return own.filter(
    (one) =>
      one.requestId !== requestId &&
      one.requestId !== replaces &&
      likeness(one.details.displayName, details.displayName) >= similarFrom,
  )
}

export const reasonOf = (draft: Draft): string => (draft.values['reason'] ?? '').trim()

function reasonFaults(draft: Draft, template: Template): Fault[] {
  const reason = reasonOf(draft)
  if (template.approval !== null && reason === '') return [fault('/reason', 'required', because('reasonNeeded'))]
  return reason.length > longestReason
    ? [fault('/reason', 'too-long', because('reasonTooLong', { count: longestReason }))]
    : []
}

/** Returns the fault of a form without a label if the template has labels but no default. The API does not require one. */
function missingLabel({ labelId }: Record<string, unknown>, { kind, labels }: Template): Fault[] {
  if (isMailboxKind(kind) || labels.allowed.length === 0 || labels.default || labelId !== undefined) return []
  return [fault('/labelId', 'required', because('fieldRequired', { field: 'labelId' }))]
}

/**
 * Whether a form contains other values than before. Ignores default values: toggles that are off, and `autoMapping`,
 * which is on by default.
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

/**
 * Returns a draft with the form's values, marked as started if they differ from the earlier values. Fields that the
 * template has got since then have their defaults.
 */
export function withAnswers(template: Template, draft: Draft, values: Draft['values']): Draft {
  const opened = { ...defaultsOf(template), ...draft.values }
  const answers = { ...opened, ...values }
  return { ...draft, values: answers, ...(isFilledIn(opened, answers) && { begun: true }) }
}

/** Returns the template of a form. Throws `not-found` if the person can no longer use it. */
export async function knownTemplate(context: Context<DraftPorts>, templateId: string): Promise<Template> {
  const template = await usableTemplate(context, templateId)
  if (template) return template
  const reason = because('templateNotOffered')
  throw new ProvisioningError('not-found', reason, { faults: [fault('/templateId', 'unknown-template', reason)] })
}

/** Writes the next version of a draft; returns undefined if another click was faster. */
export async function write(ports: DraftPorts, draft: Draft): Promise<Draft | undefined> {
  const next = { ...draft, version: draft.version + 1, updatedAt: ports.clock.now().toISOString() }
  return (await ports.drafts.update(next)) ? next : undefined
}

/** Finds the people with these ids that the directory knows, to show their names. */
export const findNamedPeople = defineUseCase({
  permission: 'request.create',
  input: z.object({ ids: z.array(z.string()) }),
  async handle({ ports }: Context<DraftPorts>, { ids }): Promise<Account[]> {
    const found = await Promise.all(ids.map((id) => ports.directory.person(id).catch(() => undefined)))
    return found.filter((person) => person !== undefined)
  },
})

/** Reads the organisation's mail domains. */
export const readMailDomains = defineUseCase({
  permission: 'request.create',
  input: z.object({}),
  handle: ({ ports }: Context<DraftPorts>): Promise<MailDomains> => asking(() => ports.directory.mailDomains()),
})

/**
 * Saves an incomplete form, previews its names and checks whether they are free. Other missing or wrong values are no
 * faults yet.
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
  const next = await write(ports, withAnswers(template, draft, values))
  if (!next) return showDraft(context, await ownDraft(context, requestId), true)
  const { preview, faults } = await previewNames(inquiryOf(context, next), template, next.values, {
    isChecked: true,
  })
  return { step: 'details', draft: next, template, faults, preview, outdated: false }
}

/** Previews the names of a form without a check whether they are free. */
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
