import { actionsOf, textOf } from './cards.ts'
import type { ShownActivity } from './connector.ts'
import type { Processes } from './processes.ts'
import { labels } from './service.ts'
import { people } from './teams-user.ts'
import { until } from './until.ts'

export type SiteKind = 'team' | 'communication'

/** A site of which a test follows every trace. The name tells one journey from all others. */
export interface Journey {
  readonly name: string
  readonly kind: SiteKind
  readonly requestId: string
  /** Kim's card, which the form was on and which is the status card now. */
  readonly cardId: string
}

const asked = {
  team: { template: 'Project site', inputs: { 'metadata.costCentre': '4711', 'metadata.audience': 'internal' } },
  communication: { template: 'News site', inputs: {} },
} as const

/** Kim fills the form: another owner and a label beside the name, so that no step is left out. Gives the review. */
export async function fillForm({ kim }: Processes, kind: SiteKind, name: string) {
  const choose = await kim.says('new site')
  const form = await kim.clicks(choose, `Choose ${asked[kind].template}`)
  const reason = 'The work goes on, whatever happens.'
  const values = { displayName: name, reason, owners: people.dana.id, labelId: labels.internal, ...asked[kind].inputs }
  const review = await kim.clicks({ id: choose.id, card: form.card }, 'Review', values)
  if (!textOf(review.card ?? {}).includes('Is this right?')) throw new Error(`no review: ${textOf(review.card ?? {})}`)
  return { id: choose.id, card: review.card }
}

/** The id of the request with this name, as its requester reads it. */
export async function requestNamed(world: Processes, name: string): Promise<string> {
  const { value } = (await world.get('/requests/v1/')) as {
    value: { requestId: string; details: { displayName: string } }[]
  }
  const found = value.filter(({ details }) => details.displayName === name)
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} requests are called ${name}`)
  return found[0].requestId
}

/** The card that asks Dana for her decision, as it was when she saw it: a click on it can come again. */
export const decisionCard = (world: Processes, name: string): Promise<ShownActivity> =>
  until(() => waitingCards(world, name).at(-1), `an approval card for ${name}`)

const waitingCards = ({ dana }: Processes, name: string): ShownActivity[] =>
  dana.chat().filter((one) => isAbout(one, name) && textOf(one.card ?? {}).includes('Your decision, please'))

const isAbout = ({ card }: ShownActivity, name: string): boolean => card !== undefined && textOf(card).includes(name)

/** The cards that were sent to say that it is ready: what must never be two. */
export const followUps = ({ connector }: Processes, name: string): ShownActivity[] =>
  connector.sent.filter((one) => isAbout(one, name) && textOf(one.card ?? {}).includes('Your site is ready'))

/** The cards that were sent to ask for a decision. */
export const questions = ({ connector }: Processes, name: string): ShownActivity[] =>
  connector.sent.filter((one) => isAbout(one, name) && textOf(one.card ?? {}).includes('Your decision, please'))

/** Where a card's button to the site leads; undefined while it has none. */
export const linkOf = (shown: ShownActivity | undefined): string | undefined =>
  actionsOf(shown?.card ?? {}).find(({ title }) => title === 'Open site')?.url

/** The actions of the timeline, in order. */
export async function timelineOf(world: Processes, requestId: string): Promise<string[]> {
  const { value } = (await world.get(`/requests/v1/${requestId}/timeline`)) as { value: { action: string }[] }
  return value.map(({ action }) => action)
}

/** What the timeline of an approved site with a further owner and a label says in the end, each line once. */
export const wholeTimeline = [
  'pendingApproval',
  'approved',
  'queued',
  'provisioning',
  'step:create-site',
  'step:wait-for-site',
  'step:add-owners',
  'step:apply-label',
  'step:ready-check',
  'step:link-group',
  'succeeded',
  'announced',
]
