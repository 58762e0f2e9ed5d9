import { z } from 'zod'
import { type Draft, isForMailboxPlan, openStage, type Plan, resourceKind } from '../core/index.ts'
import { labelFact, mainFacts, otherFacts, reasonFact } from './asked.ts'
import { defineCard } from './define-card.ts'
import { asCut, fact, fitting } from './facts.ts'
import { withoutScheme } from './links.ts'
import { isReadable } from './mailbox-facts.ts'
import { cut, decidersOf, longest } from './words.ts'

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
    facts: z.array(fact),
    hasDetails: z.boolean(),
    details: z.array(fact),
    hiddenDetails: z.int(),
    approvalRequired: z.boolean(),
    next: z.enum(['one', 'all', 'stages', 'none']),
    people: z.string(),
  }),
})

/** More lines than this hide the ones that matter; the others are folded away (card style, "Facts"). */
const mostFacts = 7

/** What will be sent, with the final address and who decides. */
export function reviewView({ draft, plan }: { draft: Draft; plan: Plan }): Parameters<typeof reviewCard.render>[0] {
  const { template, approvals } = plan
  const of = { ...plan, reason: draft.values['reason'] ?? '' }
  const before = mainFacts(of)
  const after = [...labelFact(of), ...reasonFact(of)]
  const own = before.length + after.length
  const { shown, hidden } = fitting([...before, ...after, ...otherFacts(of)], mostFacts)
  const details = shown.slice(mostFacts)
  const stage = openStage(approvals)
  return {
    requestId: draft.requestId,
    version: draft.version,
    kind: plan.kind,
    templateName: template.name,
    displayName: cut(plan.details.displayName, longest.title),
    address: isForMailboxPlan(plan) ? plan.address : withoutScheme(plan.url),
    resource: isForMailboxPlan(plan) ? 'mailbox' : 'site',
    nobody: isForMailboxPlan(plan) && plan.kind === 'sharedMailbox' && !isReadable(plan),
    hasFacts: shown.length > 0,
    facts: [...before.map(asCut), ...shown.slice(own, mostFacts), ...after.map(asCut)],
    hasDetails: details.length + hidden > 0,
    details,
    hiddenDetails: hidden,
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
