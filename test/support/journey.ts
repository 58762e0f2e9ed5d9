import { actionsOf, textOf } from './cards.ts'
import type { ShownActivity } from './connector.ts'
import type { Processes } from './processes.ts'
import { labels } from './service.ts'
import { type InvokeAnswer, people, type TeamsUser } from './teams-user.ts'
import { until } from './until.ts'

export type JourneyKind = 'team' | 'communication' | 'room'

/** A site or a room of which a test follows every trace. The name tells one journey from all others. */
export interface Journey {
  readonly name: string
  readonly kind: JourneyKind
  readonly requestId: string
  /** Kim's card, which the form was on and which is the status card now. */
  readonly cardId: string
}

const asked = {
  team: { template: 'Project site', inputs: { 'metadata.costCentre': '4711', 'metadata.audience': 'internal' } },
  communication: { template: 'News site', inputs: {} },
} as const

/** Kim fills the form so that no step is left out, and gets the review. */
export const fillForm = ({ kim }: Processes, kind: JourneyKind, name: string) =>
  kind === 'room' ? fillRoomForm(kim, name) : fillSiteForm(kim, kind, name)

async function fillSiteForm(kim: TeamsUser, kind: keyof typeof asked, name: string) {
  const choose = await kim.says('new site')
  const form = await kim.clicks(choose, `Choose ${asked[kind].template}`)
  const reason = 'The work goes on, whatever happens.'
  const values = { displayName: name, reason, owners: people.dana.id, labelId: labels.internal, ...asked[kind].inputs }
  return reviewed(choose.id, await kim.clicks({ id: choose.id, card: form.card }, 'Review', values))
}

/** What a room can be asked for, one input for each group of cmdlets. */
const roomInputs = {
  officeLocation: 'ZRH 3.14',
  'metadata.seats': '12',
  'roomMailboxMetadata.hasWhiteboard': 'true',
  'permissions.FullAccess': people.dana.id,
  'permissions.SendAs': people.omar.id,
  city: 'Zürich',
  capacity: '2048',
  automaticReply: 'Book by noon, please.',
  reason: 'The work goes on, whatever happens.',
}

async function fillRoomForm(kim: TeamsUser, name: string) {
  const form = await kim.says('new room')
  const values = { ...roomInputs, displayName: name, name: mailNameOf(name) }
  return reviewed(form.id, await kim.clicks(form, 'Review', values))
}

function reviewed(id: string, { card }: InvokeAnswer) {
  if (!textOf(card ?? {}).includes('Is this right?')) throw new Error(`no review: ${textOf(card ?? {})}`)
  return { id, card }
}

const mailNameOf = (name: string): string => name.toLowerCase().replaceAll(' ', '-')
/** The address of a room of this name, by the naming policy of its template. */
export const addressOf = (name: string): string => `room-${mailNameOf(name)}@contoso.example`

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
  connector.sent.filter((one) => isAbout(one, name) && /Your (site|room) is ready/.test(textOf(one.card ?? {})))

/** The cards that were sent to ask for a decision. */
export const questions = ({ connector }: Processes, name: string): ShownActivity[] =>
  connector.sent.filter((one) => isAbout(one, name) && textOf(one.card ?? {}).includes('Your decision, please'))

/** Where a card says that the finished thing is: its button to the site, or a room's address; undefined before. */
export function linkOf(shown: ShownActivity | undefined): string | undefined {
  const card = shown?.card ?? {}
  const text = textOf(card)
  const address = /All checks passed|Your room is ready/.test(text) ? /room-[\w-]+@[\w.]+\w/.exec(text)?.[0] : undefined
  return actionsOf(card).find(({ title }) => title === 'Open site')?.url ?? address
}

/** The actions of the timeline, in order. */
export async function timelineOf(world: Processes, requestId: string): Promise<string[]> {
  const { value } = (await world.get(`/requests/v1/${requestId}/timeline`)) as { value: { action: string }[] }
  return value.map(({ action }) => action)
}

const madeSite = ['create-site', 'wait-for-site', 'add-owners', 'apply-label', 'ready-check', 'link-group']
const steps: { readonly [K in JourneyKind]: readonly string[] } = {
  team: madeSite,
  communication: madeSite,
  room: [
    ...['create-mailbox', 'block-sign-in', 'apply-settings', 'apply-contact', 'apply-place', 'apply-booking'],
    ...['apply-automatic-reply', 'grant-access', 'ready-check'],
  ],
}
/** What the timeline says in the end of what was approved and made with every step that it has, each line once. */
export const wholeTimeline = (kind: JourneyKind): string[] => [
  ...['pendingApproval', 'approved', 'queued', 'provisioning'],
  ...steps[kind].map((step) => `step:${step}`),
  ...['succeeded', 'announced'],
]
