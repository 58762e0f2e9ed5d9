import { z } from 'zod'
import {
  type BasedOn,
  type Draft,
  inLocale,
  isForMailboxPlan,
  isMailboxKind,
  type Outlook,
  openStage,
  type Plan,
  resourceKind,
  type SimilarResource,
  type SimilarResources,
} from '../../core/index.ts'
import { labelFact, mainFacts, otherFacts, reasonFact } from '../requests/asked.ts'
import { isReadable } from '../requests/mailbox-facts.ts'
import { defineCard } from '../shared/define-card.ts'
import { asCut, type Fact, fact, fitting, room } from '../shared/facts.ts'
import { siteLink, withoutScheme } from '../shared/links.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, decidersOf, longest, peopleList, type Viewer } from '../shared/words.ts'
import { changedNames, changesInWords } from './based-on.ts'
import { ruleOf, setByTemplate, stageRow, stageRows, warningLines } from './review-outlook.ts'

const similarRow = z.strictObject({
  displayName: z.string(),
  address: z.string(),
  /** Where the site opens, or `''`. */
  link: z.string(),
  /** Who can open it already, or whom to ask. */
  access: z.string(),
})

/** A line, whether it differs from the request that this one comes from, and whether the template has put it there. */
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
    /** What was typed for the name, where the policy made another one of it; else `''`. */
    typed: z.string(),
    address: z.string(),
    /** A number in it is given only when the request is sent. */
    numberLater: z.boolean(),
    /** A shared mailbox that nobody can open. */
    nobody: z.boolean(),
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
    /** What has changed since the request that this one comes from; `''` for a new one. */
    changes: z.string(),
    approvalRequired: z.boolean(),
    /** Who decides, and what comes after. */
    next: z.string(),
    /** Who decides what, where several approvals follow each other. */
    stages: z.array(stageRow),
  }),
})

/** More lines than this hide the ones that matter; the others are folded away (card style, "Facts"). */
const mostFacts = 7
/** What a warning or an approval costs beside its words, in code units. */
const costOfRow = 260

/** What is about to be sent, what there is like it, and how it differs from the request that it comes from. */
export interface Review {
  readonly draft: Draft
  readonly plan: Plan
  readonly similar: SimilarResources
  readonly basedOn?: BasedOn | undefined
  /** What people may want to know beside it; left out, nobody is away and nothing may surprise. */
  readonly outlook?: Outlook | undefined
  readonly viewer: Viewer
  /** The root of the organisation's sites: links lead nowhere else. */
  readonly siteRoot: string
}

/** What will be sent, with the final address, what there is already, and who decides. */
export function reviewView(review: Review): Parameters<typeof reviewCard.render>[0] {
  const { draft, plan, basedOn, viewer } = review
  const { template, approvals } = plan
  const of = { ...plan, reason: draft.values['reason'] ?? '' }
  const before = mainFacts(of)
  const after = [...labelFact(of), ...reasonFact(of)]
  const own = before.length + after.length
  const outlook = review.outlook ?? { approvals, warnings: [] }
  const warnings = warningLines(outlook, viewer)
  const stages = stageRows(outlook.approvals)
  const taken = JSON.stringify([warnings, stages]).length + costOfRow * (warnings.shown.length + stages.length)
  const { shown, hidden } = fitting([...before, ...after, ...otherFacts(of)], mostFacts, room - taken)
  const details = shown.slice(mostFacts)
  const stage = openStage(approvals)
  const changed = basedOn ? changedNames(plan, basedOn) : []
  const set = setByTemplate(plan)
  const words = strings.review
  const marked = (one: Fact) => ({ ...asCut(one), changed: changed.includes(one.label), set: set.includes(one.label) })
  return {
    requestId: draft.requestId,
    version: draft.version,
    step: format(strings.form.step, { step: 3 }),
    kind: plan.kind,
    templateName: inLocale(template, viewer.locale).name,
    displayName: cut(plan.details.displayName, longest.title),
    typed: plan.typedName ? format(words.typed, { typed: cut(plan.typedName, longest.title) }) : '',
    address: isForMailboxPlan(plan) ? plan.address : withoutScheme(plan.url),
    numberLater: outlook.warnings.some(({ code }) => code === 'number-later'),
    nobody: isForMailboxPlan(plan) && plan.kind === 'sharedMailbox' && !isReadable(plan),
    warnings: warnings.shown.map((text) => ({ text })),
    moreWarnings: warnings.more,
    hasFacts: shown.length > 0,
    facts: [...before, ...shown.slice(own, mostFacts), ...after].map(marked),
    hasDetails: details.length + hidden > 0,
    details: details.map(marked),
    hiddenDetails: hidden > 0 ? format(strings.facts.more, { count: hidden }) : '',
    ...similarOf(review),
    changes: changesInWords(plan, basedOn),
    approvalRequired: stage !== undefined,
    next: format((isForMailboxPlan(plan) ? words.mailbox : words.site)[nextOf(plan)], {
      people: stage ? decidersOf(stage, stage.approvers) : '',
      count: stage?.quorum ?? 1,
    }),
    stages,
  }
}

function nextOf({ approvals }: Plan): 'one' | 'all' | 'quorum' | 'stages' | 'none' {
  const stage = openStage(approvals)
  if (!stage) return 'none'
  return approvals.length > 1 ? 'stages' : ruleOf(stage)
}

function similarOf({ plan, similar: { resources, more }, siteRoot, viewer }: Review) {
  const words = strings.review.similar
  return {
    hasSimilar: resources.length > 0,
    similarHeading: format(words[isForMailboxPlan(plan) ? plan.kind : 'site'], { count: resources.length + more }),
    similar: resources.map((resource) => rowOf(resource, siteRoot, viewer.otherSiteOrigins)),
    moreSimilar: more > 0 ? format(words.more, { count: more }) : '',
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
