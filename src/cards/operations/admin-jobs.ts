import { z } from 'zod'
import { type GivenUpJob, type GivenUpJobs, referenceOf } from '../../core/index.ts'
import { defineCard } from '../shared/define-card.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, longest, moment, time, type Viewer } from '../shared/words.ts'

type JobWord = keyof typeof strings.jobs.job
const jobWords = Object.keys(strings.jobs.job) as [JobWord, ...JobWord[]]

export const adminJobsCard = defineCard({
  name: 'admin-jobs',
  data: z.strictObject({
    at: z.string(),
    heading: z.string(),
    /** Whether the card asks to confirm that its one job is run again. */
    asks: z.boolean(),
    /** Its batch was stopped: it can only be dismissed. */
    isOver: z.boolean(),
    letterId: z.string(),
    jobs: z
      .array(
        z.strictObject({
          letterId: z.uuid(),
          job: z.enum(jobWords),
          /** The request that the job is for; `''`: it is for none. */
          about: z.string(),
          gaveUpAt: z.string(),
          problem: z.string(),
        }),
      )
      .min(1),
    /** How many there is no room for, or `''`. */
    older: z.string(),
  }),
})

/** More would not fit beside their reasons. */
export const mostJobs = 5

/** What was given up, why, and the button that runs it again. There must be one. */
export function adminJobsView(
  { total, jobs }: GivenUpJobs,
  viewer: Viewer,
): Parameters<typeof adminJobsCard.render>[0] {
  const shown = jobs.slice(0, mostJobs)
  const older = total - shown.length
  return {
    at: time(viewer),
    heading: format(strings.jobs.heading, { count: total }),
    asks: false,
    isOver: false,
    letterId: '',
    jobs: shown.map((job) => rowOf(job, viewer)),
    older: older > 0 ? format(strings.jobs.older, { count: older }) : '',
  }
}

/** Asks once more before one of them is run again, or dismissed. */
export function adminReplayView(given: GivenUpJob, viewer: Viewer): Parameters<typeof adminJobsCard.render>[0] {
  const row = rowOf(given, viewer)
  const { isOver } = given
  const heading = isOver ? strings.jobs.gone : strings.jobs.confirm
  return { at: time(viewer), heading, asks: true, isOver, letterId: row.letterId, jobs: [row], older: '' }
}

const rowOf = ({ letterId, job, request, problem, at }: GivenUpJob, viewer: Viewer) => ({
  letterId,
  job,
  about: request
    ? format(strings.jobs.about, {
        reference: referenceOf(request),
        name: cut(request.details.displayName, longest.name),
      })
    : '',
  gaveUpAt: moment(at.toISOString(), viewer, 'full'),
  problem: cut(problem, longest.text),
})
