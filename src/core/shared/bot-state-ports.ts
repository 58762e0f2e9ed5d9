// What the edges (bot and HTTP) keep in the store beside requests. The core itself uses none of it.

/** What the bot needs to be kept beside requests; none of it decides anything. */
export interface BotStateStore {
  read(keys: string[]): Promise<Record<string, unknown>>
  write(changes: Record<string, unknown>): Promise<void>
  delete(keys: string[]): Promise<void>
  /** Forgets, at this time, what nobody has written for long. */
  forgetOld(at: Date): Promise<void>
}

/** What names an activity: Teams may deliver the same one twice. */
export interface ActivityKey {
  readonly channel: string
  readonly conversationId: string
  readonly activityId: string
}
export interface Inbox {
  /** True for the first to claim; false when the activity has been heard. */
  claim(key: ActivityKey): Promise<boolean>
  /** The answer that the first delivery got, if it has ended and there was one. */
  answer(key: ActivityKey): Promise<unknown>
  /** Marks an activity as done for good; null = it had no answer. A claim without a mark counts as dead after a while. */
  remember(key: ActivityKey, answer: unknown): Promise<void>
  /** Gives a claim back when handling failed, so the channel's next delivery is heard. */
  release(key: ActivityKey): Promise<void>
  forgetOld(): Promise<void>
}

/** What a key belongs to: one caller's use of one route. */
export interface IdempotencyKey {
  readonly tenantId: string
  readonly personId: string
  /** Method and path pattern, e.g. `POST /collab/v1/spo`. */
  readonly route: string
  /** As sent: 1 to 255 printable ASCII characters. */
  readonly key: string
}

/** One try to answer a request that carries a key. */
export interface IdempotencyAttempt {
  /** SHA-256 over the address and the body, in hex. */
  readonly fingerprint: string
  /** The id that the request will have, if this is the key's first attempt ever. */
  readonly requestId: string
  /** Who holds the claim: new for each attempt. */
  readonly holder: string
  readonly at: Date
  /** From then on the attempt counts as dead, and another may take the claim over. */
  readonly leaseUntil: Date
  /** From then on the key is forgotten. */
  readonly keepUntil: Date
}

/** The first answer, kept to be given again: its status, its headers and its body as sent. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type IdempotencyClaim =
  | { readonly state: 'claimed'; readonly requestId: string }
  | { readonly state: 'in-flight' }
  | { readonly state: 'reused' }
  | { readonly state: 'answered'; readonly answer: StoredAnswer }

/**
 * Keeps keys. The request's id is fixed by the first claim and stays with the key until the key is forgotten or its only
 * attempt was refused. So however an attempt dies, whoever repeats it continues the same request and can never make a
 * second one.
 */
export interface IdempotencyStore {
  /**
   * Atomically, in this order: no row, or one past its `keepUntil` → a new row, `claimed` with this attempt's requestId.
   * Answered → `answered` if the fingerprint is the same, else `reused`. Another fingerprint → `reused`. A claim whose
   * lease still runs → `in-flight`. Else this attempt's holder, fingerprint and lease replace the old ones: `claimed`
   * with the requestId of the row.
   */
  claim(key: IdempotencyKey, attempt: IdempotencyAttempt): Promise<IdempotencyClaim>
  /** Keeps the answer, whoever holds the claim now; the first answer stays when there is one already. */
  complete(key: IdempotencyKey, answer: StoredAnswer): Promise<void>
  /** Lets the lease run until then, if `holder` still has it and there is no answer. */
  renew(key: IdempotencyKey, holder: string, leaseUntil: Date): Promise<void>
  /**
   * Gives the claim back, if `holder` still has it and there is no answer. `refused`: no attempt under this key did
   * anything, so the row is deleted. `unknown`: the lease ends, and only the same body may come under this key.
   */
  release(key: IdempotencyKey, holder: string, outcome: 'refused' | 'unknown'): Promise<void>
  /** Removes keys past their `keepUntil`. */
  forgetOld(at: Date): Promise<void>
}

/** What a chat was sent lately. Times are milliseconds since 1970. */
export interface ChatTraffic {
  /** When each message was done, in any order; a time to come = it is under way, until then at the latest. */
  readonly sent: readonly number[]
  /** Messages that were put off, first come first: what each is, and when it was told to come again. */
  readonly waiting: readonly (readonly [what: string, due: number])[]
  /** The connector asked us not to write before this (`Retry-After`). */
  readonly heldUntil: number
}

/** Keeps what chats were sent lately, for all processes that write to them. What may be sent is the bot's to say. */
export interface ChatPaceStore {
  /** Reads a chat's traffic and keeps what `decide` makes of it: one change of a chat at a time, whoever makes it. */
  change<T>(
    conversationId: string,
    decide: (traffic: ChatTraffic, now: number) => { readonly traffic: ChatTraffic; readonly result: T },
  ): Promise<T>
  /** Forgets chats that were long sent nothing. */
  forgetOld(): Promise<void>
}
