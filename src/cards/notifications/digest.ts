import { z } from 'zod'
import {
  type AwaitedEntry,
  type Digest,
  type DigestSetting,
  isEmptyDigest,
  openStage,
  type QueueEntry,
  type Request,
  referenceOf,
} from '../../core/index.ts'
import { takenAddress } from '../decisions/row-facts.ts'
import { expiryOf, urgencyOf } from '../decisions/stage-texts.ts'
import { healthMarks } from '../operations/admin-health.ts'
import { lookOf, reasonOf } from '../requests/admin-queue.ts'
import { look, looks, marks, plain, rowLook } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, duration, hourOf, quantity, rowTitle, shortName, sinceDay, time, type Viewer } from '../shared/texts.ts'

const row = {
  reference: z.string(),
  /** The title of a tap on the row. */
  open: z.string(),
  displayName: z.string(),
  says: z.string(),
  look: rowLook,
}

export const digestCard = defineCard({
  name: 'digest',
  data: z.strictObject({
    at: z.string(),
    look,
    heading: z.enum(['open', 'nothing']),
    approvals: z.array(z.strictObject({ ...row, asks: z.string() })),
    hasApprovals: z.boolean(),
    /** How many more there are, or `''`. */
    older: z.string(),
    isAdmin: z.boolean(),
    tiles: z.array(
      z.strictObject({ name: z.enum(['failed', 'stuck', 'givenUp']), quantity: z.string(), command: z.string() }),
    ),
    stuck: z.array(z.strictObject(row)),
    health: z.enum(['green', 'amber', 'red']),
    healthLook: rowLook,
    /** Whether the service sends the digest each day, and at which hour. */
    comes: z.string(),
    /** The setting after a click on the button; `''` without a button. */
    switches: z.enum(['', 'on', 'off']),
  }),
})
type View = ViewOf<typeof digestCard>

export const digestChoiceCard = defineCard({
  name: 'digest-choice',
  data: z.strictObject({ look, heading: z.enum(['on', 'off', 'offForAll']), what: z.string() }),
})

/** The numbers of rows that have room. An admin's card has both kinds. */
const maxRows = { approver: { approvals: 6, stuck: 0 }, admin: { approvals: 4, stuck: 3 } } as const

/**
 * Shows the requests that wait for the viewer's decision, the longest wait first; for an admin also the health of the
 * service.
 */
export function digestView(digest: Digest, setting: DigestSetting, viewer: Viewer): View {
  const { hour, isOn } = setting
  const { approvals, admin } = digest
  const most = maxRows[admin ? 'admin' : 'approver']
  const shown = approvals.entries.slice(0, most.approvals)
  const older = approvals.entries.length - shown.length
  const stuck = admin?.entries.slice(0, most.stuck).map((entry) => stuckRow(entry, viewer)) ?? []
  const health = admin?.health ?? 'green'
  return {
    at: time(viewer),
    ...(isEmptyDigest(digest)
      ? { heading: 'nothing', look: looks.succeeded }
      : { heading: 'open', look: looks.pendingApproval }),
    approvals: shown.map((entry) => approvalRow(entry, viewer)),
    hasApprovals: shown.length > 0,
    older: approvals.more ? strings.digest.olderMany : restText(strings.digest.older, older),
    isAdmin: admin !== undefined,
    tiles: admin
      ? [
          { name: 'failed', quantity: quantity(admin.failed), command: strings.types.adminStuck },
          {
            name: 'stuck',
            quantity: quantity(Math.max(0, admin.stuck - admin.failed)),
            command: strings.types.adminStuck,
          },
          { name: 'givenUp', quantity: quantity(admin.givenUp), command: strings.types.adminJobs },
        ]
      : [],
    stuck,
    health,
    healthLook: healthMarks[health],
    comes:
      hour === null
        ? strings.digest.offForAll
        : format(isOn ? strings.digest.on : strings.digest.off, {
            at: hourOf(hour, viewer),
            reminder: withoutText(setting),
          }),
    switches: hour === null ? '' : isOn ? 'off' : 'on',
  }
}

const openOf = (request: Request) => {
  const reference = referenceOf(request)
  return { reference, open: format(strings.digest.open, { reference }) }
}

function approvalRow({ request, since }: AwaitedEntry, viewer: Viewer): View['approvals'][number] {
  const stage = openStage(request.approvals)
  const { addressConflict } = request
  const isExpiring = urgencyOf(stage, viewer) === 'expiring'
  const waits = isExpiring
    ? format(strings.digest.expires, { at: expiryOf(stage, viewer) })
    : format(strings.digest.waits, { since: sinceDay(since, viewer) })
  return {
    ...openOf(request),
    displayName: rowTitle(request.details),
    asks: format(strings.approvals.from, { name: shortName(request.requester) }),
    says: addressConflict ? takenAddress(addressConflict.taken) : waits,
    look: addressConflict || isExpiring ? marks.attention : marks.busy,
  }
}

function stuckRow(entry: QueueEntry, viewer: Viewer): View['stuck'][number] {
  const { why, value } = reasonOf(entry, viewer)
  return {
    ...openOf(entry.request),
    displayName: rowTitle(entry.request.details),
    says: format(strings.queue.why[why], { value: cut(value, 120) }),
    look: lookOf(entry),
  }
}

const hourMilliseconds = 3_600_000

/** When people without the digest get a reminder of a request. */
const reminderText = ({ remindAfterHours: hours }: DigestSetting): string =>
  hours > 0
    ? format(strings.digestChoice.reminder, { after: duration(hours * hourMilliseconds) })
    : strings.digestChoice.noReminder

/** The cards that the viewer would get instead of the digest. */
const withoutText = ({ remindAfterHours: hours }: DigestSetting): string =>
  hours > 0
    ? format(strings.digest.without, { after: duration(hours * hourMilliseconds) })
    : strings.digest.withoutReminders

/** Whether the viewer gets the digest, and at which hour. */
export function digestChoiceView(setting: DigestSetting, viewer: Viewer): ViewOf<typeof digestChoiceCard> {
  const { hour: at, isOn } = setting
  const heading = at === null ? 'offForAll' : isOn ? 'on' : 'off'
  return {
    heading,
    look: heading === 'on' ? looks.succeeded : { ...plain, mark: '–' },
    what: format(strings.digestChoice.what[heading], {
      at: at === null ? '' : hourOf(at, viewer),
      reminder: reminderText(setting),
    }),
  }
}
