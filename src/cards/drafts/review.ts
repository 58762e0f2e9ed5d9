import { z } from 'zod'
import {
  type ApprovalStage,
  type BasedOn,
  type Draft,
  fieldWarnings,
  isForMailboxPlan,
  isMailboxKind,
  leavesOut,
  type Outlook,
  openStage,
  type Plan,
  type Request,
  referenceOf,
  resourceKind,
  type SimilarResource,
  type SimilarResources,
  type Warning,
} from '../../core/index.ts'
import { endDay, fieldName } from '../decisions/stage-texts.ts'
import { guestsOf, isReadable, labelFact, mainFacts, otherFacts, reasonFact } from '../requests/request-facts.ts'
import { asCut, type Fact, fact, fitting, readBy, room } from '../shared/facts.ts'
import { siteLink, withoutScheme } from '../shared/links.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, decidersOf, fullName, longest, peopleList, shortName, type Viewer } from '../shared/texts.ts'
import { changedNames, changedText, inputNames } from './based-on.ts'
import { fieldLines } from './field-warnings.ts'

const similarRow = z.strictObject({
  displayName: z.string(),
  address: z.string(),
  link: z.string(),
  /** The people who can open it already, or who give access. */
  access: z.string(),
})

/** One of several approvals: its number, approvers and rule. */
export const stageRow = z.strictObject({ number: z.int(), text: z.string() })

/** A fact, whether it differs from the earlier request, and whether the template has set it. */
const reviewFact = fact.extend({ changed: z.boolean(), set: z.boolean() })

export const reviewCard = defineCard({
  name: 'review',
  data: z.strictObject({
    requestId: z.uuid(),
    version: z.int(),
    step: z.string(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    /** The typed name, if the policy changed it; else `''`. */
    typed: z.string(),
    address: z.string(),
    /** Whether the address gets a number when the request is sent. */
    numberLater: z.boolean(),
    /** That nobody, or not the requester, can open the shared mailbox; else `''`. */
    access: z.string(),
    /** Whether a button adds the requester. */
    joins: z.boolean(),
    warnings: z.array(z.strictObject({ text: z.string() })),
    moreWarnings: z.string(),
    hasFacts: z.boolean(),
    facts: z.array(reviewFact),
    hasDetails: z.boolean(),
    details: z.array(reviewFact),
    hiddenDetails: z.string(),
    hasSimilar: z.boolean(),
    similarHeading: z.string(),
    similar: z.array(similarRow),
    moreSimilar: z.string(),
    /** The changes since the earlier request; `''` for a new request. */
    changes: z.string(),
    approvalRequired: z.boolean(),
    /** The approvers, and what happens after the approval. */
    next: z.string(),
    /** The approvers of each stage, if there are several stages. */
    stages: z.array(stageRow),
  }),
})

/** A click shows the other facts (card style, "Facts"). */
const maxFacts = 7
/** The cost of a warning or an approval in addition to its text, in code units. */
const costOfRow = 260

/** A request before it is sent, similar resources, and the earlier request that it is based on. */
export interface Review {
  readonly draft: Draft
  readonly plan: Plan
  readonly similar: SimilarResources
  /** The viewer's own waiting requests with a similar name. */
  readonly waiting?: readonly Request[]
  readonly basedOn?: BasedOn | undefined
  /** Approvals and warnings; without it there are no warnings. */
  readonly outlook?: Outlook | undefined
  /** The template has changed since the viewer's last review. */
  readonly templateChanged?: boolean
  readonly viewer: Viewer
  /** The root of the organisation's sites: links lead nowhere else. */
  readonly siteRoot: string
}

/** Shows the request before it is sent, with the final address, similar resources and the approvers. */
export function reviewView(review: Review): ViewOf<typeof reviewCard> {
  const { draft, waiting = [], basedOn, viewer, templateChanged } = review
  const plan = readBy(review.plan, viewer)
  const { template, approvals } = plan
  const of = { ...plan, reason: draft.values['reason'] ?? '' }
  const before = mainFacts(of)
  const after = [...labelFact(of), ...reasonFact(of)]
  const own = before.length + after.length
  const outlook = review.outlook ?? { approvals, warnings: [] }
  const ofFields = isForMailboxPlan(plan) ? fieldLines(plan, fieldWarnings(plan)) : []
  const warnings = warningLines(outlook, viewer, {
    template,
    first: [
      ...(templateChanged ? [strings.review.warning.templateChanged] : []),
      ...waitingLines(waiting),
      ...guestLines(plan),
    ],
    last: ofFields,
  })
  const stages = stageRows(outlook.approvals)
  const taken = JSON.stringify([warnings, stages]).length + costOfRow * (warnings.shown.length + stages.length)
  const { shown, hidden } = fitting([...before, ...after, ...otherFacts(of)], maxFacts, room - taken)
  const details = shown.slice(maxFacts)
  const stage = openStage(approvals)
  const changed = basedOn ? changedNames(plan, basedOn) : []
  const set = setByTemplate(plan)
  const texts = strings.review
  const marked = (one: Fact) => ({ ...asCut(one), changed: changed.includes(one.label), set: set.includes(one.label) })
  return {
    requestId: draft.requestId,
    version: draft.version,
    step: format(strings.form.step, { step: 3 }),
    kind: plan.kind,
    templateName: template.name,
    displayName: fullName(plan.details.displayName),
    typed: plan.typedName ? format(texts.typed, { typed: fullName(plan.typedName) }) : '',
    address: isForMailboxPlan(plan) ? plan.address : withoutScheme(plan.url),
    numberLater: outlook.warnings.some(({ code }) => code === 'number-later'),
    ...accessOf(review),
    warnings: warnings.shown.map((text) => ({ text })),
    moreWarnings: warnings.more,
    hasFacts: shown.length > 0,
    facts: [...before, ...shown.slice(own, maxFacts), ...after].map(marked),
    hasDetails: details.length + hidden > 0,
    details: details.map(marked),
    hiddenDetails: restText(strings.facts.more, hidden),
    ...similarOf(review),
    changes: changedText(plan, basedOn),
    approvalRequired: stage !== undefined,
    next: format((isForMailboxPlan(plan) ? texts.mailbox : texts.site)[nextOf(plan)], {
      people: stage ? decidersOf(stage, stage.approvers) : '',
      count: stage?.quorum ?? 1,
    }),
    stages,
  }
}

/** Whether the requester of a shared mailbox, or anybody, can open it. The template can set who opens it. */
function accessOf({ draft, plan, viewer }: Review): { access: string; joins: boolean } {
  if (!isForMailboxPlan(plan) || plan.kind !== 'sharedMailbox') return { access: '', joins: false }
  const { nobody, withoutYou } = strings.review
  const isOut = plan.details.permissions[viewer.id] !== 'FullAccess'
  return {
    access: isReadable(plan) ? (isOut ? withoutYou : '') : nobody,
    joins: isOut && leavesOut(plan.template, draft.values, viewer.id),
  }
}

function nextOf({ approvals }: Plan): 'one' | 'all' | 'quorum' | 'stages' | 'none' {
  const stage = openStage(approvals)
  if (!stage) return 'none'
  return approvals.length > 1 ? 'stages' : ruleOf(stage)
}

function similarOf({ plan, similar: { resources, more }, siteRoot, viewer }: Review) {
  const texts = strings.review.similar
  return {
    hasSimilar: resources.length > 0,
    similarHeading: format(texts[isForMailboxPlan(plan) ? plan.kind : 'site'], { count: resources.length + more }),
    similar: resources.map((resource) => rowOf(resource, siteRoot, viewer.otherSiteOrigins)),
    moreSimilar: restText(texts.more, more),
  }
}

function rowOf(
  { kind, displayName, address, access, owners }: SimilarResource,
  siteRoot: string,
  others: readonly string[] | undefined,
) {
  const isMailbox = kind !== undefined && isMailboxKind(kind)
  const opens = isMailbox ? 'book' : 'open'
  const asks = owners.length > 0 ? 'ask' : 'askTeam'
  return {
    displayName: cut(displayName, longest.name),
    address: cut(withoutScheme(address), longest.address),
    link: siteLink(address, siteRoot, others),
    access: format(strings.review.similar[({ own: 'own', open: opens, ask: asks } as const)[access]], {
      people: peopleList(owners, 'or'),
    }),
  }
}

/** How many warnings a card has room for; the most important come first. */
const maxWarnings = 4

/** The labels of the values that the template has set. */
const setByTemplate = (plan: Plan): string[] =>
  inputNames(
    plan,
    plan.applied.map(({ field }) => field),
  )

/** The rule of a stage: `one` person decides, `all` must approve, or a quorum. */
function ruleOf({ rule, approvers, quorum = 1 }: ApprovalStage): 'one' | 'all' | 'quorum' {
  if (rule === 'any' || approvers.length === 1) return 'one'
  return rule === 'quorum' && quorum < approvers.length ? 'quorum' : 'all'
}

/** The approvers of each stage, if there are several stages. */
function stageRows(approvals: readonly ApprovalStage[]): z.output<typeof stageRow>[] {
  if (approvals.length < 2) return []
  return approvals.map(stageRowOf)
}

/** The number, approvers and rule of a stage. */
export const stageRowOf = (stage: ApprovalStage): z.output<typeof stageRow> => {
  const values = { people: decidersOf(stage, stage.approvers), count: String(stage.quorum ?? 1) }
  return { number: stage.stage, text: format(strings.review.stage[ruleOf(stage)], values) }
}

/** How many similar waiting requests the card names. */
const maxWaiting = 2

const waitingLines = (waiting: readonly Request[]): string[] =>
  waiting
    .slice(0, maxWaiting)
    .map((one) => format(strings.review.warning.waiting, { reference: referenceOf(one), name: shortName(one.details) }))

function guestLines(plan: Plan): string[] {
  const guests = guestsOf(plan)
  const values = { people: peopleList(guests, 'and'), count: guests.length }
  return guests.length > 0 ? [format(strings.review.warning.guests, values)] : []
}

/** The template as the viewer reads it, other sentences for a list of warnings, and the sentence about a missing property. */
interface WarningTexts {
  readonly template: Parameters<typeof fieldName>[0]['template']
  readonly unknownToken?: string
  /** The reasons why admins decide. */
  readonly since?: Readonly<Record<string, string>>
  readonly first?: readonly string[]
  readonly last?: readonly string[]
}

/** Warnings as sentences, except those that the card shows elsewhere. */
export function warningLines(
  { approvals, warnings }: Outlook,
  viewer: Viewer,
  {
    template,
    unknownToken = strings.review.warning.unknownToken,
    since = { ...strings.approval.since, ...strings.review.warning.since },
    first = [],
    last = [],
  }: WarningTexts,
): { shown: string[]; more: string } {
  const known = warnings.flatMap((warning) =>
    warningTexts(warning, approvals.length > 1, viewer, { template, unknownToken, since }),
  )
  const lines = [...first, ...known, ...last]
  return {
    shown: lines.slice(0, maxWarnings),
    more: restText(strings.review.warning.more, lines.length - maxWarnings),
  }
}

function warningTexts(
  { code, field = '', reason }: Warning,
  isOneOfMany: boolean,
  viewer: Viewer,
  { template, unknownToken, since }: Required<Pick<WarningTexts, 'template' | 'unknownToken' | 'since'>>,
): string[] {
  const texts = strings.review.warning
  const facts = Object.entries(reason.facts ?? {}).map(([name, value]) => [name, String(value)])
  const values: Readonly<Record<string, string>> = Object.fromEntries(facts)
  const { token = '', taken = '', stage = '', why = '', name = '', person = '', until = '' } = values
  const tokens: Readonly<Record<string, string>> = strings.review.token
  switch (code) {
    case 'unknown-token':
      return [format(unknownToken, { token: tokens[token] ?? token })]
    case 'empty-answer':
      return [format(texts.emptyAnswer, { label: fieldName({ template }, field) })]
    case 'next-address':
      return [format(texts.nextAddress, { taken })]
    case 'address-of-id':
      return [texts.addressOfId]
    case 'admins-instead':
    case 'admins-too': {
      const message = texts[code === 'admins-too' ? 'adminsToo' : 'adminsInstead']
      return [format(isOneOfMany ? message.ofStage : message.only, { stage, why: since[why] ?? '' })]
    }
    case 'delegated':
      return [
        format(texts.delegated, {
          name: cut(name, longest.name),
          people: cut(person, longest.name),
          at: until === '' ? '' : endDay(until, viewer),
        }),
      ]
    // The card shows these next to the address, on a line of their own, or as similar resources.
    case 'number-later':
    case 'nobody-can-open':
    case 'similar':
    // The fields without effect have lines of their own.
    case 'kept-on-request':
    case 'not-enforced':
    case 'already-so':
    case 'nobody-has-access':
      return []
  }
}
