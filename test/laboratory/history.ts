import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { courses } from './course.ts'

export const kinds = ['teamSite', 'communicationSite', 'sharedMailbox', 'roomMailbox', 'equipmentMailbox'] as const
export type Kind = (typeof kinds)[number]

/** Cards that ask for a decision, the least urgent first. */
export const asking = ['question', 'reminder', 'lastCall'] as const
const cardKinds = [...asking, 'warning', 'expired', 'over', 'followUp', 'ready'] as const
export type CardKind = (typeof cardKinds)[number]

const n = z.int()
const at = z.number()
const requestId = z.string()
const verdict = z.enum(['approved', 'rejected'])
const people = z.array(z.string())

/** Who is asked to approve a wish, and what becomes of it where nobody does. */
const asks = z.object({
  approvers: people,
  /** Who may decide for one of them who is away. */
  delegates: people,
  /** Who may decide in their place once they have let the time for it pass. */
  backups: people,
  /** Absent: it is decided as usual, and none of its times comes. */
  course: z.enum(courses).optional(),
  /** Seconds from the moment it was asked for. */
  times: z.object({ remind: z.number(), escalate: z.number(), expire: z.number() }).optional(),
})

/**
 * One line of a history: what clients did and were told, and what everybody outside saw. `n` tells one wish of a person
 * from all others; `at` is in milliseconds since 1970, by the one clock of the machine.
 */
export const historyEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('up'), at, replica: z.int() }),
  z.object({ event: z.literal('killed'), at, replica: z.int() }),
  /** The kill that follows comes while the wish is at this point, which it was aimed at. */
  z.object({ event: z.literal('hit'), at, n, point: z.string() }),
  z.object({
    event: z.literal('asked'),
    ...{ at, n, channel: z.enum(['rest', 'chat']), kind: z.enum(kinds), approval: z.boolean(), by: z.string() },
    asks: asks.optional(),
  }),
  /** The service said that it has the request: a 202, or the status card as the answer of a click. */
  z.object({ event: z.literal('acknowledged'), at, n, requestId }),
  /** The service said that it has this person's decision. */
  z.object({ event: z.literal('decided'), at, n, requestId, by: z.string(), verdict }),
  /** A person was told that somebody else was faster. */
  z.object({ event: z.literal('late'), at, n, by: z.string() }),
  /** An answer that no well-behaved client should get, whatever dies. */
  z.object({ event: z.literal('refused'), at, n, why: z.string() }),
  /** An answer that clients take for a passing trouble and repeat. */
  z.object({ event: z.literal('troubled'), at, n, why: z.string() }),
  /**
   * The connector took a card. `question`, `reminder` and `lastCall` ask for a decision, and say how urgent it is;
   * `warning` and `expired` tell the requester. `ready` and `over` are status cards, brought up to date, that say so. `unheard`:
   * the connector was told to keep its answer.
   */
  z.object({
    event: z.literal('card'),
    ...{ at, n, card: z.enum(cardKinds), chat: z.string(), unheard: z.boolean().optional() },
  }),
  z.object({ event: z.literal('webhook'), at, id: z.string(), type: z.string(), requestId }),
  /** A request as the service holds it in the end, its timeline and its decisions. */
  z.object({
    event: z.literal('end'),
    ...{ at, n, requestId, status: z.string() },
    timeline: z.array(z.object({ at, action: z.string(), by: z.string() })),
    decisions: z.array(z.object({ by: z.string(), verdict, insteadOf: people.optional() })),
  }),
  /** Something that stands in the tenant in the end; `requestId` is the mark that it bears. */
  z.object({
    event: z.literal('made'),
    ...{ at, n, what: z.enum(['unifiedGroup', 'securityGroup', 'site', 'mailbox']), name: z.string() },
    requestId: z.string().nullable(),
  }),
  /** How often the tenant did what it was asked and dropped the line. */
  z.object({ event: z.literal('reset'), at, operation: z.string(), count: z.int() }),
])
export type HistoryEvent = z.output<typeof historyEvent>
type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> & { at?: number } : never

/** Notes events in a file of JSON lines, each on disk before the next thing happens. */
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

/** Reads a history back. Throws when a line is none. */
export const readHistory = (file: string): HistoryEvent[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => historyEvent.parse(JSON.parse(line)))
