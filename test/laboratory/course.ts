/** Outcomes of an approval that its approvers do not decide: it expires, a backup decides, or both race. */
export const courses = ['expires', 'standIn', 'race'] as const
export type Course = (typeof courses)[number]

/** Times of reminder, escalation and expiry, in seconds after the submission. */
interface Times {
  readonly remind: number
  readonly escalate: number
  readonly expire: number
}
/** In `standIn` the backup has a day; in `race` one second, so the winner cannot be predicted. */
export const timesOf: Readonly<Record<Course, Times>> = {
  expires: { remind: 4, escalate: 8, expire: 20 },
  standIn: { remind: 4, escalate: 8, expire: 86_400 },
  race: { remind: 4, escalate: 8, expire: 9 },
}

/** Returns the approval policy of a template with this outcome. */
export function policyOf(course: Course, approvers: readonly { id: string }[], backup: { id: string }): object {
  const { remind, escalate, expire } = timesOf[course]
  const stage = {
    ...{ approvers: approvers.map(({ id }) => ({ user: id })), rule: 'any', backup: [{ user: backup.id }] },
    ...{ remindAfterHours: remind / 3600, escalateAfterHours: escalate / 3600 },
  }
  return { stages: [stage], expiresAfterDays: expire / 86_400 }
}
