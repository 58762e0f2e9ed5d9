/** What becomes of an approval that its approvers never give: nobody decides it, somebody does in their place, or either. */
export const courses = ['expires', 'standIn', 'race'] as const
export type Course = (typeof courses)[number]

/** When its people are reminded, others are asked too, and it ends, in seconds from the moment it was asked for. */
interface Times {
  readonly remind: number
  readonly escalate: number
  readonly expire: number
}
/** Who stands in has a day; in a race they have a second, in which nobody can say who wins. */
export const timesOf: Readonly<Record<Course, Times>> = {
  expires: { remind: 4, escalate: 8, expire: 20 },
  standIn: { remind: 4, escalate: 8, expire: 86_400 },
  race: { remind: 4, escalate: 8, expire: 9 },
}

/** The policy of a template whose approvals take this course. */
export function policyOf(course: Course, approvers: readonly { id: string }[], backup: { id: string }): object {
  const { remind, escalate, expire } = timesOf[course]
  const stage = {
    ...{ approvers: approvers.map(({ id }) => ({ user: id })), rule: 'any', backup: [{ user: backup.id }] },
    ...{ remindAfterHours: remind / 3600, escalateAfterHours: escalate / 3600 },
  }
  return { stages: [stage], expiresAfterDays: expire / 86_400 }
}
