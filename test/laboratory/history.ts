import { appendFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { courses } from './course.ts'

export const kinds = ['teamSite', 'communicationSite', 'sharedMailbox', 'roomMailbox', 'equipmentMailbox'] as const
export type Kind = (typeof kinds)[number]

/** Cards that request a decision, in order of urgency. */
export const asking = ['question', 'reminder', 'lastCall'] as const
const cardKinds = [...asking, 'warning', 'expired', 'over', 'followUp', 'ready'] as const
export type CardKind = (typeof cardKinds)[number]

const n = z.int()
const at = z.number()
const requestId = z.string()
const verdict = z.enum(['approved', 'rejected'])
const people = z.array(z.string())

/** The people who are asked to approve, and the outcome if they do not decide. */
const asks = z.object({
  approvers: people,
  /** People who may decide on behalf of an absent approver. */
  delegates: people,
  /** People who may decide after the escalation. */
  backups: people,
  /** Absent for a usual decision without reminders, escalation and expiry. */
  course: z.enum(courses).optional(),
  /** Seconds after the submission. */
  times: z.object({ remind: z.number(), escalate: z.number(), expire: z.number() }).optional(),
})

/**
 * One line of a history: actions of clients, their answers, and observations of external systems. `n` is the number of
 * the planned request; `at` is in milliseconds since 1970, by the clock of the machine.
 */
export const historyEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('up'), at, replica: z.int() }),
  z.object({ event: z.literal('killed'), at, replica: z.int() }),
  /** The kill that follows hits the planned request at this point, at which it was aimed. */
  z.object({ event: z.literal('hit'), at, n, point: z.string() }),
  z.object({
    event: z.literal('submitted'),
    ...{ at, n, channel: z.enum(['rest', 'chat']), kind: z.enum(kinds), approval: z.boolean(), by: z.string() },
    asks: asks.optional(),
  }),
  /** The service acknowledged the request: a 202, or the status card as the answer of a click. */
  z.object({ event: z.literal('acknowledged'), at, n, requestId }),
  /** The service acknowledged this person's decision. */
  z.object({ event: z.literal('decided'), at, n, requestId, by: z.string(), verdict }),
  /** A person read that another person had already decided. */
  z.object({ event: z.literal('late'), at, n, by: z.string() }),
  /** An answer that a correct client should never receive, whatever dies. */
  z.object({ event: z.literal('refused'), at, n, why: z.string() }),
  /** An answer that clients treat as a temporary error and repeat. */
  z.object({ event: z.literal('troubled'), at, n, why: z.string() }),
  /**
   * The connector accepted a card. `question`, `reminder` and `lastCall` request a decision with increasing urgency;
   * `warning` and `expired` notify the requester. `ready` and `over` are updated status cards. `unheard`: the connector
   * kept its acknowledgement back.
   */
  z.object({
    event: z.literal('card'),
    ...{ at, n, card: z.enum(cardKinds), chat: z.string(), unheard: z.boolean().optional() },
  }),
  z.object({ event: z.literal('webhook'), at, id: z.string(), type: z.string(), requestId }),
  /** The final state of a request in the service, with its timeline and decisions. `problem`: the code, if it failed. */
  z.object({
    event: z.literal('end'),
    ...{ at, n, requestId, status: z.string(), problem: z.string().optional() },
    timeline: z.array(z.object({ at, action: z.string(), by: z.string() })),
    decisions: z.array(z.object({ by: z.string(), verdict, insteadOf: people.optional() })),
  }),
  /** An object that exists in the tenant at the end; `requestId` is the id in the object's mark. */
  z.object({
    event: z.literal('made'),
    ...{ at, n, what: z.enum(['unifiedGroup', 'securityGroup', 'site', 'mailbox']), name: z.string() },
    requestId: z.string().nullable(),
  }),
  /** How often the tenant executed an operation and dropped the connection. */
  z.object({ event: z.literal('reset'), at, operation: z.string(), count: z.int() }),
])
export type HistoryEvent = z.output<typeof historyEvent>

/** Returns the times of all kills. */
export const killsIn = (events: readonly HistoryEvent[]): number[] =>
  events.flatMap(({ event, at }) => (event === 'killed' ? [at] : []))
type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> & { at?: number } : never

/** Opens a file of JSON lines for events. Each event is on disk before the next one happens. */
export function openHistory(file: string) {
  const events: HistoryEvent[] = []
  writeFileSync(file, '')
  return {
    file,
    events: events as readonly HistoryEvent[],
    note(event: WithoutTime<HistoryEvent>): void {
      const whole = { at: Date.now(), ...event } as HistoryEvent
      events.push(whole)
      appendFileSync(file, `${JSON.stringify(whole)}\n`)
    },
  }
}
export type History = ReturnType<typeof openHistory>
