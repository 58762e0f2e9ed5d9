import type { Context, Fault } from '../shared/index.ts'
import type { Template, TokenValues } from '../templates/index.ts'
import type { Around } from './naming.ts'
import type { NamingPorts } from './ports.ts'

/** The names of a request by its template's policy, and what is wrong with them. */
export interface Named {
  readonly displayName: string
  /** What was typed, where that is another one. */
  readonly typedName?: string
  /** Of a site its alias, of a mailbox what stands before the `@`. */
  readonly name: string
  /** The address that was wanted: another one where that is taken. */
  readonly wanted: string
  readonly passedOver: readonly string[]
  readonly around: Around
  readonly emptyTokens: readonly string[]
  /** What the tokens stand for, the counter's number too. */
  readonly values: TokenValues
  readonly faults: readonly Fault[]
}

/** Who asks for what: the id that the request has or will have. */
export interface Inquiry<Ports = NamingPorts> extends Context<Ports> {
  readonly requestId: string
  /** A request that failed and that this one takes the place of: what it keeps is free for this one. */
  readonly replaces?: string | undefined
  /** Whether numbers are taken for good, not only looked at. */
  readonly isSubmission: boolean
  /** Whether as much as can be said is wanted of a request that is refused. */
  readonly isPreview?: true
  /** The template, where it was looked at already: then nobody asks again who may use it. */
  readonly template?: Template
  /** Others keep taking the names that we derive, so the next one is made of the request's id. */
  readonly crowded: boolean
}
