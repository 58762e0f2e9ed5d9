import { z } from 'zod'
import { action, textOf } from './cards.ts'
import type { Card } from './connector.ts'
import type { InvokeAnswer, TeamsUser } from './teams-user.ts'

export const filled = {
  'metadata.costCentre': '4711',
  'metadata.audience': 'internal',
  reason: 'Four companies need one place for drawings.',
}

/** A card in a chat, with its activity. */
export interface OnCard {
  readonly id: string
  readonly card: Card
}

/** Opens an empty form of a template: "new" and a unique part of its name. Existing drafts stay. */
export async function opens(user: TeamsUser, template = 'project'): Promise<OnCard> {
  const { id, card } = await user.says(`new ${template}`)
  const isOffer = textOf(card).includes('your draft?') || textOf(card).includes('a draft?')
  return isOffer ? { id, card: cardOf(await user.clicks({ id, card }, 'New')) } : { id, card }
}

/** Fills in a form and opens its review. */
export async function reviews(user: TeamsUser, inputs: Record<string, string>, template = 'project'): Promise<OnCard> {
  const { id, card } = await opens(user, template)
  const answers = template === 'project' ? { ...filled, ...inputs } : inputs
  const review = cardOf(await user.clicks({ id, card }, 'Review', answers))
  if (!textOf(review).includes('Is this right?')) throw new Error(`no review, but:\n${textOf(review)}`)
  return { id, card: review }
}

/** Requests a site in chat. Returns the status card with the ids for people and programs. */
export async function asksFor(user: TeamsUser, inputs: Record<string, string>, template = 'project') {
  const { id, card } = await reviews(user, inputs, template)
  const { requestId } = subject(card, template === 'project' ? 'Send' : 'Create')
  const sent = cardOf(await user.clicks({ id, card }, template === 'project' ? 'Send' : 'Create'))
  const reference = /REQ-\d+/.exec(textOf(sent))?.[0]
  if (reference === undefined) throw new Error(`no request, but:\n${textOf(sent)}`)
  return { id, card: sent, requestId, reference }
}

/** Returns the card that asks this person to decide about the site with this name. */
export const decisionAbout = (user: TeamsUser, displayName: string): Promise<OnCard> =>
  user.sees(new RegExp(`Your decision, please[\\s\\S]*${displayName}`), `the decision about ${displayName}`)

/** Returns the request and version in a button's data. */
export const subject = (card: Card, title: string): { requestId: string; version?: number | undefined } =>
  z.object({ requestId: z.uuid(), version: z.int().optional() }).parse(action(card, title).data)

/** Returns the card in the answer to a click. */
export function cardOf({ card, text }: InvokeAnswer): Card {
  if (!card) throw new Error(`no card, but: ${text}`)
  return card
}

/** Returns the text of the answer to a click: of the card, or the sentence. */
export const readsAfter = ({ card, text }: InvokeAnswer): string => (card ? textOf(card) : (text ?? ''))
