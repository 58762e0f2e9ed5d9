import { approvalCard, approvalView } from '../../src/cards/decisions/approval-card.ts'
import { approvalDecidedCard, approvalDecidedView } from '../../src/cards/decisions/approval-decided.ts'
import { requestStatusCard, requestStatusView } from '../../src/cards/requests/request-card.ts'
import type { Person } from '../../src/core/index.ts'
import { dana, kim, omar, priya, sam, viewerOf } from './card-requests.ts'
import { type Sample, sample } from './card-sample.ts'
import { inTime } from './card-stages.ts'

type Situation = keyof typeof inTime
const asks = (variant: string, situation: Situation, who: Person) =>
  sample(variant, approvalCard, () => approvalView(inTime[situation], viewerOf(who)))
const decided = (variant: string, situation: Situation, who: Person) =>
  sample(variant, approvalDecidedCard, () => approvalDecidedView(inTime[situation], viewerOf(who)))
const status = (variant: string, situation: Situation, viewer = viewerOf(kim)) =>
  sample(variant, requestStatusCard, () => requestStatusView(inTime[situation], viewer))

/** The cards of approvals that have waited for some time. */
export const timeSamples: readonly Sample[] = [
  asks('delegate', 'delegated', omar),
  asks('delegate-of-delegate', 'delegatedOn', sam),
  asks('away', 'delegated', dana),
  asks('reminded', 'reminded', dana),
  asks('nudged', 'nudged', dana),
  asks('escalated', 'escalated', sam),
  asks('escalated-for-one', 'escalatedForOne', sam),
  asks('escalated-from', 'escalated', dana),
  asks('unreachable', 'unreachable', sam),
  asks('unreachable-from', 'unreachable', dana),
  asks('handed', 'handed', omar),
  asks('handed-own', 'handedOwn', omar),
  asks('expiring', 'expiring', priya),
  decided('approved-by-you-for', 'approvedFor', omar),
  decided('approved-for-you', 'approvedFor', dana),
  decided('approved-by-other-for', 'approvedFor', sam),
  decided('rejected-by-other-for', 'rejectedFor', priya),
  decided('rejected-for-you', 'rejectedFor', dana),
  decided('approved-over', 'overridden', dana),
  decided('approved-over-by-you', 'overridden', sam),
  decided('rejected-over', 'rejectedOver', dana),
  decided('rejected-over-by-you', 'rejectedOver', sam),
  decided('second-admin', 'handedSelf', sam),
  decided('given-away-by', 'handed', dana),
  decided('given-away', 'handedOwn', dana),
  decided('not-yours', 'delegated', sam),
  status('delegated', 'delegated'),
  status('approved-over', 'overridden'),
  status('rejected-over', 'rejectedOver'),
  status('nudged', 'nudged'),
  status('escalated', 'escalated'),
  status('unreachable', 'unreachable'),
  status('partly-unreachable', 'partlyUnreachable'),
  status('nobody-reached-for-admin', 'nobodyReached', viewerOf(sam, { isAdmin: true })),
  status('handed', 'handed'),
  status('expiring', 'expiring'),
  status('approved-for', 'approvedFor'),
  status('rejected-for', 'rejectedFor'),
]
