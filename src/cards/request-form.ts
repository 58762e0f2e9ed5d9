import { z } from 'zod'
import type { Draft, Fault, Person, Template } from '../core/index.ts'

/** What a form shows: a draft of a template, what is wrong with it, and the names of the people chosen so far. */
export interface RequestForm {
  readonly draft: Draft
  readonly template: Template
  readonly requester: Person
  readonly faults: readonly Fault[]
  readonly people: readonly Person[]
  /** `https://contoso.sharepoint.com/sites/` */
  readonly siteRoot: string
  /** The domain that a mailbox's address has unless another one is asked for. */
  readonly mailDomain: string
  readonly notice?: 'stale' | undefined
}

/** The request that a form's values come from; `''` for none. */
export const formBasis = { how: z.enum(['', 'resubmission', 'repeat']), basedOn: z.string() }
export const basisOf = ({ basedOn }: Draft) => ({
  how: basedOn?.how ?? ('' as const),
  basedOn: basedOn?.reference ?? '',
})
