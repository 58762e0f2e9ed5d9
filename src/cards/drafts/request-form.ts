import type { Draft, Fault, NamePreview, Person, Template } from '../../core/index.ts'
import { format, strings } from '../shared/messages.ts'

/** What is said of the request that a form's values come from; `''` for none. */
export const basisOf = ({ basedOn }: Draft): string =>
  basedOn ? format(strings.basedOn.form[basedOn.how], { reference: basedOn.reference }) : ''

/** What a form shows: a draft of a template, what is wrong with it, and the names of the people chosen so far. */
export interface RequestForm {
  readonly draft: Draft
  /** With its name as the person reads it. */
  readonly template: Template
  readonly requester: Person
  readonly faults: readonly Fault[]
  readonly people: readonly Person[]
  /** The domain that a mailbox's address has unless another one is asked for. */
  readonly mailDomain: string
  /** What comes of the names. */
  readonly names: NamePreview
  /** The day in UTC, `2026-11-22`: what a template means by it. */
  readonly today: string
  readonly notice?: 'stale' | undefined
}
