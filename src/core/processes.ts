/** A process that says nothing for so many seconds has ended without a goodbye, or hangs. */
export const silentAfterSeconds = 30

/** One process of the service, by its own word. */
export interface ServiceProcess {
  readonly processId: string
  /** Its host and its number there. */
  readonly name: string
  readonly version: string
  readonly startedAt: Date
  /** Whether it works on the queue. */
  readonly works: boolean
}
/** A process as the others see it. */
export interface SeenProcess extends ServiceProcess {
  /** When it last said that it is there. */
  readonly seenAt: Date
  /** For how long it has been silent, in seconds, by the clock of the store. */
  readonly silentSeconds: number
}

export interface ProcessStore {
  /** Says that it is there now. */
  beat(process: ServiceProcess): Promise<void>
  /** It stops in order. */
  leave(processId: string): Promise<void>
  /** All that have not left, the longest at work first. */
  list(): Promise<SeenProcess[]>
  /** Forgets all but this one: an embedded store belongs to one process at a time. */
  forgetOthers(processId: string): Promise<void>
  forgetOld(): Promise<void>
}
