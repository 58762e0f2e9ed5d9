import type { RequestState } from './request-state.ts'

/**
 * What the rooms tell of what they do, for whoever counts it. Every word in it is one of ours (a verb, a route's pattern, a
 * job's name): never an id, a name, an address or anything that somebody typed. Times are seconds.
 */
export interface Telemetry {
  /** A turn of the bot has ended. `what`: the verb of a click or the words of a command. */
  turnEnded(turn: {
    readonly kind: TurnKind
    readonly what: string
    readonly outcome: TurnOutcome
    readonly seconds: number
  }): void
  /** An HTTP request was answered. `route`: the pattern of its path; `none` where no route took it. */
  requestAnswered(answer: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }): void
  /** A request for a resource has come into a state, and the store has it. */
  stateReached(state: RequestState): void
  /** A job was tried once. `waited`: from when it was due to when it began. */
  jobTried(job: {
    readonly job: string
    readonly outcome: JobOutcome
    readonly seconds: number
    readonly waitedSeconds: number
  }): void
  /** A call to Microsoft 365 was answered; without a status it was not. */
  serviceCalled(call: {
    readonly service: string
    readonly purpose: string
    readonly status: number | undefined
    readonly seconds: number
  }): void
  webhookTried(attempt: { readonly subscriber: 'bot' | 'template'; readonly outcome: WebhookOutcome }): void
  /** A card was written into a chat of our own accord, or was to be. */
  cardWritten(card: { readonly how: 'send' | 'update'; readonly outcome: CardOutcome }): void
}

export const turnKinds = ['message', 'click', 'install', 'other'] as const
export type TurnKind = (typeof turnKinds)[number]

/**
 * `done`: answered as it was meant. `refused`: answered with a no. `unavailable`: something that we need was away.
 * `failed`: a defect. `repeated`: heard before. `ignored`: nobody waits for an answer.
 */
export const turnOutcomes = ['done', 'refused', 'unavailable', 'failed', 'repeated', 'ignored'] as const
export type TurnOutcome = (typeof turnOutcomes)[number]

export const jobOutcomes = ['done', 'put-off', 'tried-again', 'given-up'] as const
export type JobOutcome = (typeof jobOutcomes)[number]

export const webhookOutcomes = ['delivered', 'tried-again', 'failed', 'not-sent'] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]

/** `gone`: the card to update is not there any more. `refused`: the chat takes none. `unknown`: sent, and the answer lost. */
export const cardOutcomes = ['written', 'unknown', 'gone', 'refused', 'put-off', 'failed'] as const
export type CardOutcome = (typeof cardOutcomes)[number]
