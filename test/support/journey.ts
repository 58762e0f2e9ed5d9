import { actionsOf, textOf } from './cards.ts'
import type { ShownActivity } from './connector.ts'
import { labels } from './service.ts'
import { people } from './teams-user.ts'

export type JourneyKind = 'team' | 'communication' | 'room'
export const journeyKinds: readonly JourneyKind[] = ['team', 'communication', 'room']

const site = { owners: people.dana.id, labelId: labels.internal }
/** Inputs besides the name, so that no step is omitted: for a room one input for each cmdlet. */
export const inputsOf: { readonly [K in JourneyKind]: Readonly<Record<string, string>> } = {
  team: { ...site, 'metadata.costCentre': '4711', 'metadata.audience': 'internal' },
  communication: site,
  room: {
    officeLocation: 'ZRH 3.14',
    'metadata.seats': '12',
    'roomMailboxMetadata.hasWhiteboard': 'true',
    city: 'Zürich',
    capacity: '2048',
    automaticReply: 'Book by noon, please.',
  },
}

/**
 * Returns the location of the finished resource on a card: the target of its button, or a room's address; undefined
 * before.
 */
export function linkOf(shown: ShownActivity | undefined): string | undefined {
  const card = shown?.card ?? {}
  const text = textOf(card)
  const address = /All checks passed|Your room is ready/.test(text) ? /room-[\w-]+@[\w.]+\w/.exec(text)?.[0] : undefined
  return actionsOf(card).find(({ title }) => title === 'Open site')?.url ?? address
}

/** Whether a status card has shrunk to one line, because the follow-up card is below it. */
export const isShort = (shown: ShownActivity | undefined): true | undefined =>
  textOf(shown?.card ?? {}).includes('Finished, see below') || undefined

const madeSite = ['create-site', 'wait-for-site', 'add-owners', 'apply-label', 'ready-check', 'link-group']
const steps: { readonly [K in JourneyKind]: readonly string[] } = {
  team: madeSite,
  communication: madeSite,
  room: [
    ...['create-mailbox', 'block-sign-in', 'apply-settings', 'apply-contact', 'apply-place', 'apply-booking'],
    ...['apply-automatic-reply', 'grant-access', 'ready-check'],
  ],
}
/** The final timeline of an approved request whose resource was created with every step, each entry once. */
export const wholeTimeline = (kind: JourneyKind): string[] => [
  ...['pendingApproval', 'approved', 'queued', 'provisioning'],
  ...steps[kind].map((step) => `step:${step}`),
  ...['succeeded', 'announced'],
]
