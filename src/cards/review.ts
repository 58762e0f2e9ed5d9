import { z } from 'zod'
import {
  type BasedOn,
  type Draft,
  inLocale,
  isForMailboxPlan,
  isMailboxKind,
  mailboxKinds,
  openStage,
  type Plan,
  resourceKind,
  type SimilarResource,
  type SimilarResources,
} from '../core/index.ts'
import { labelFact, mainFacts, otherFacts, reasonFact } from './asked.ts'
import { changedNames, changesInWords } from './based-on.ts'
import { defineCard } from './define-card.ts'
import { asCut, type Fact, fact, fitting } from './facts.ts'
import { siteLink, withoutScheme } from './links.ts'
import { isReadable } from './mailbox-facts.ts'
import { cut, decidersOf, longest, peopleList } from './words.ts'

const similarRow = z.strictObject({
  displayName: z.string(),
  address: z.string(),
  /** Where the site opens, or `''`. */
  link: z.string(),
  access: z.enum(['own', 'open', 'book', 'ask', 'askTeam']),
  people: z.string(),
})

/** A line, and whether it differs from the request that this one comes from. */
const reviewFact = fact.extend({ changed: z.boolean() })

export const reviewCard = defineCard({
  name: 'review',
  data: z.strictObject({
    requestId: z.uuid(),
    version: z.int(),
    kind: resourceKind,
    templateName: z.string(),
    displayName: z.string(),
    address: z.string(),
    resource: z.enum(['site', 'mailbox']),
    /** A shared mailbox that nobody can open. */
    nobody: z.boolean(),
    hasFacts: z.boolean(),
    facts: z.array(reviewFact),
    hasDetails: z.boolean(),
    details: z.array(reviewFact),
    hiddenDetails: z.int(),
    hasSimilar: z.boolean(),
    similarKind: z.enum(['site', ...mailboxKinds]),
    similarCount: z.enum(['one', 'many']),
    similarTotal: z.int(),
    similar: z.array(similarRow),
    moreSimilar: z.int(),
    /** What has changed since the request that this one comes from; `''` for a new one. */
    changes: z.string(),
    approvalRequired: z.boolean(),
    next: z.enum(['one', 'all', 'stages', 'none']),
    people: z.string(),
  }),
})

/** More lines than this hide the ones that matter; the others are folded away (card style, "Facts"). */
const mostFacts = 7

/** What is about to be sent, what there is like it, and how it differs from the request that it comes from. */
export interface Review {
  readonly draft: Draft
  readonly plan: Plan
  readonly similar: SimilarResources
  readonly basedOn?: BasedOn | undefined
  /** The language of the person who reads it. */
  readonly locale: string
  /** The root of the organisation's sites: links lead nowhere else. */
  readonly siteRoot: string
}

/** What will be sent, with the final address, what there is already, and who decides. */
export function reviewView(review: Review): Parameters<typeof reviewCard.render>[0] {
  const { draft, plan, basedOn, locale } = review
  const { template, approvals } = plan
  const of = { ...plan, reason: draft.values['reason'] ?? '' }
  const before = mainFacts(of)
  const after = [...labelFact(of), ...reasonFact(of)]
  const own = before.length + after.length
  const { shown, hidden } = fitting([...before, ...after, ...otherFacts(of)], mostFacts)
  const details = shown.slice(mostFacts)
  const stage = openStage(approvals)
  const changed = basedOn ? changedNames(plan, basedOn) : []
  const marked = (one: Fact) => ({ ...asCut(one), changed: changed.includes(one.label) })
  return {
    requestId: draft.requestId,
    version: draft.version,
    kind: plan.kind,
    templateName: inLocale(template, locale).name,
    displayName: cut(plan.details.displayName, longest.title),
    address: isForMailboxPlan(plan) ? plan.address : withoutScheme(plan.url),
    resource: isForMailboxPlan(plan) ? 'mailbox' : 'site',
    nobody: isForMailboxPlan(plan) && plan.kind === 'sharedMailbox' && !isReadable(plan),
    hasFacts: shown.length > 0,
    facts: [...before, ...shown.slice(own, mostFacts), ...after].map(marked),
    hasDetails: details.length + hidden > 0,
    details: details.map(marked),
    hiddenDetails: hidden,
    ...similarOf(review),
    changes: changesInWords(plan, basedOn),
    approvalRequired: stage !== undefined,
    next: nextOf(plan),
    people: stage ? decidersOf(stage, stage.approvers) : '',
  }
}

function nextOf({ approvals }: Plan): 'one' | 'all' | 'stages' | 'none' {
  const stage = openStage(approvals)
  if (!stage) return 'none'
  if (approvals.length > 1) return 'stages'
  return stage.rule === 'any' || stage.approvers.length === 1 ? 'one' : 'all'
}

function similarOf({ plan, similar: { resources, more }, siteRoot }: Review) {
  const total = resources.length + more
  return {
    hasSimilar: resources.length > 0,
    similarKind: isForMailboxPlan(plan) ? plan.kind : ('site' as const),
    similarCount: total === 1 ? ('one' as const) : ('many' as const),
    similarTotal: total,
    similar: resources.map((resource) => rowOf(resource, siteRoot)),
    moreSimilar: more,
  }
}

function rowOf({ kind, displayName, address, access, owners }: SimilarResource, siteRoot: string) {
  const isMailbox = kind !== undefined && isMailboxKind(kind)
  const opens = isMailbox ? 'book' : 'open'
  const asks = owners.length > 0 ? 'ask' : 'askTeam'
  return {
    displayName: cut(displayName, longest.name),
    address: cut(withoutScheme(address), longest.address),
    link: siteLink(address, siteRoot),
    access: ({ own: 'own', open: opens, ask: asks } as const)[access],
    people: peopleList(owners, 'or'),
  }
}
