// Ports of the bot and HTTP layers for their own stored state. The core does not use them.

/** Stores the bot's own state by key. */
export interface BotStateStore {
  read(keys: string[]): Promise<Record<string, unknown>>
  write(changes: Record<string, unknown>): Promise<void>
  delete(keys: string[]): Promise<void>
  /** Deletes state that was last written more than 90 days before `at`. */
  forgetOld(at: Date): Promise<void>
}

/** Identifies an activity. Teams may deliver an activity twice. */
export interface ActivityKey {
  readonly channel: string
  readonly conversationId: string
  readonly activityId: string
}
/** The claim of a delivered activity. */
export interface ClaimedActivity {
  /** False for a repeated delivery. */
  readonly isFirst: boolean
  /** Whether the sender's chat does not accept our cards, as far as we know. */
  readonly isChatClosed: boolean
}
export interface Inbox {
  /** Claims an activity. Reads the state of its sender's chat in the same statement, because every turn needs both. */
  claim(key: ActivityKey, sender?: { readonly tenantId: string; readonly personId: string }): Promise<ClaimedActivity>
  /** Returns the stored answer of the first delivery, if there is one. */
  answer(key: ActivityKey): Promise<unknown>
  /** Marks an activity as done; null = it had no answer. A claim without this mark expires after a while. */
  remember(key: ActivityKey, answer: unknown): Promise<void>
  /** Releases a claim after a failure, so that the channel's next delivery is handled. */
  release(key: ActivityKey): Promise<void>
  forgetOld(): Promise<void>
}

/** An idempotency key in its scope: one caller on one route. */
export interface IdempotencyKey {
  readonly tenantId: string
  readonly personId: string
  /** Method and path pattern, e.g. `POST /collab/v1/spo`. */
  readonly route: string
  /** The key as sent: 1 to 255 printable ASCII characters. */
  readonly key: string
}

/** One attempt to answer a request that carries a key. */
export interface IdempotencyAttempt {
  /** SHA-256 over the address and the body, in hex. */
  readonly fingerprint: string
  /** The id of the new request, if this is the key's first attempt. */
  readonly requestId: string
  /** The holder of the claim: a new value for each attempt. */
  readonly holder: string
  readonly at: Date
  /** The end of the lease: from then on another attempt may take over the claim. */
  readonly leaseUntil: Date
  /** The time from which the key is forgotten. */
  readonly keepUntil: Date
}

/** The first answer as sent, stored for repeated requests. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type IdempotencyClaim =
  | { readonly state: 'claimed'; readonly requestId: string }
  | { readonly state: 'in-flight' }
  | { readonly state: 'reused' }
  | { readonly state: 'answered'; readonly answer: StoredAnswer }

/**
 * Stores idempotency keys. The first claim fixes the request's id until the key is forgotten or its only attempt was refused.
 * So an attempt that follows a crash continues the same request and cannot create a second one.
 */
export interface IdempotencyStore {
  /**
   * Claims a key atomically by the first rule that fits. No row, or a row past its `keepUntil` → a new row, `claimed` with this
   * attempt's requestId. Answered → `answered` if the fingerprint is the same, else `reused`. Another fingerprint → `reused`.
   * A claim with a running lease → `in-flight`. Else this attempt's holder, fingerprint and lease replace the old ones:
   * `claimed` with the requestId of the row.
   */
  claim(key: IdempotencyKey, attempt: IdempotencyAttempt): Promise<IdempotencyClaim>
  /** Stores the answer, also if another attempt holds the claim now. An existing answer stays. */
  complete(key: IdempotencyKey, answer: StoredAnswer): Promise<void>
  /** Extends the lease to `leaseUntil`, if `holder` still has the claim and there is no answer. */
  renew(key: IdempotencyKey, holder: string, leaseUntil: Date): Promise<void>
  /**
   * Releases the claim, if `holder` still has it and there is no answer. `refused`: no attempt with this key changed anything, so
   * the row is deleted. `unknown`: the lease ends, and only the same body may use this key.
   */
  release(key: IdempotencyKey, holder: string, outcome: 'refused' | 'unknown'): Promise<void>
  /** Removes keys past their `keepUntil`. */
  forgetOld(at: Date): Promise<void>
}

/**
 * The rank of a card in a chat: links and approvals first, then other new cards, then updates of cards that the chat has.
 */
export type CardRank = 'first' | 'new' | 'update'

/** The recent messages to a chat. Times are milliseconds since 1970. */
export interface ChatTraffic {
  /** The time at which each message was sent, in any order. A time in the future: sending ends by then. */
  readonly sent: readonly number[]
  /**
   * Postponed messages, first come first: their name, the time at which they are due again, their rank, and whether
   * they shrink a card to one line. Messages of earlier versions have no rank.
   */
  readonly waiting: readonly (readonly [what: string, due: number, rank?: CardRank, isShort?: boolean])[]
  /** The connector accepts no message before this time (`Retry-After`). */
  readonly heldUntil: number
}

/** Stores the recent traffic of chats for all processes that write to them. The bot decides what may be sent. */
export interface ChatPaceStore {
  /** Reads a chat's traffic and stores the result of `decide`. Changes of one chat run one at a time over all processes. */
  change<T>(
    conversationId: string,
    decide: (traffic: ChatTraffic, now: number) => { readonly traffic: ChatTraffic; readonly result: T },
  ): Promise<T>
  /** Counts a message that is sent now, and forgets messages that are older than `milliseconds`. */
  count(conversationId: string, milliseconds: number): Promise<void>
  /** Deletes chats without recent messages. */
  forgetOld(): Promise<void>
}
