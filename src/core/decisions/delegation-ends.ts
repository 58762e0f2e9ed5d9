import type { Delegation } from '../approvals/index.ts'
import { noteAct, noteFact, system } from '../audit/index.ts'
import type { Context } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/**
 * Why a delegation ended: its time was over; its person was back, or has chosen another colleague; an admin ended it so that
 * somebody can be erased. `early`: by a process of an earlier version, which did not say why.
 */
export type EndOfDelegation = 'expired' | 'back' | 'replaced' | 'erasure' | 'early'

/** The most that one run records. The next run, a minute later, records the others. */
const mostOfARun = 100

/** Records the start of a delegation in the organisation's chain; to be called in its transaction. */
export const noteStart = ({ ports, actor }: Context<DecisionPorts>, given: Delegation): Promise<void> =>
  noteAct(ports, actor, 'delegation-started', { ...aboutOf(given), until: given.until })

/** Records that somebody has ended a delegation before its time; to be called in its transaction. */
export const noteEnd = (
  { ports, actor }: Context<DecisionPorts>,
  ended: Delegation,
  why: 'back' | 'replaced' | 'erasure',
): Promise<void> => noteAct(ports, actor, 'delegation-ended', endOf(ended, why))

/**
 * Records the delegations that are over by now and of whose end no entry tells yet, each once, however long the service was
 * stopped. The entry's own time is when the end was recorded; `endedAt` is when it was.
 */
export async function noteExpired(ports: DecisionPorts, tenantId: string): Promise<void> {
  await ports.work.transaction(async () => {
    const at = ports.clock.now().toISOString()
    for (const one of await ports.delegations.takeEnded(tenantId, at, mostOfARun)) {
      const isExpired = one.endedAt === null || one.endedAt >= one.until
      await noteFact(ports, tenantId, system, 'delegation-ended', endOf(one, isExpired ? 'expired' : 'early'))
    }
  })
}

const endOf = (ended: Delegation, why: EndOfDelegation): Record<string, unknown> => ({
  ...aboutOf(ended),
  until: ended.until,
  endedAt: why === 'expired' ? ended.until : ended.endedAt,
  why,
})

const aboutOf = ({ delegationId, person, delegate, from }: Delegation): Record<string, unknown> => ({
  delegationId,
  person,
  delegate,
  from,
})
