import { type ApprovalStage, type Foreseen, realigned, type Warning, warningsOf } from '../approvals/index.ts'
import type { Context } from '../shared/index.ts'
import { awayOf } from './change.ts'
import { isForMailboxPlan, type Plan } from './plan.ts'
import type { RequestPorts } from './ports.ts'

/** What people want to know of a request before they send it, beside what it will be. */
export interface Outlook {
  /** All stages, with those who decide for whoever is away today. */
  readonly approvals: readonly ApprovalStage[]
  readonly warnings: readonly Warning[]
}

/** Looks at who is away, and at what may surprise. */
export async function lookAhead({ ports, actor }: Context<RequestPorts>, foreseen: Foreseen): Promise<Outlook> {
  const at = ports.clock.now().toISOString()
  const away = await awayOf(ports, { tenantId: actor.tenantId, approvals: [...foreseen.approvals] }, at)
  const approvals = foreseen.approvals.map((stage) => realigned(stage, away, actor.id, at))
  return { approvals, warnings: warningsOf({ ...foreseen, approvals }) }
}

/** What a plan foresees. */
export function foreseenIn(plan: Plan, requestId: string): Foreseen {
  const { template, details, approvals, emptyTokens } = plan
  const isMailbox = isForMailboxPlan(plan)
  const name = isMailbox ? plan.address.slice(0, plan.address.indexOf('@')) : plan.alias
  const passedOver = isMailbox ? [] : (plan.passedOver ?? [])
  return { requestId, template, details, approvals, emptyTokens, name, passedOver }
}
