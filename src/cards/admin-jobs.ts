import { z } from 'zod'
import { type GivenUpJob, type GivenUpJobs, referenceOf } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { strings } from './messages.ts'
import { cut, longest, moment, time, type Viewer } from './words.ts'

type JobWord = keyof typeof strings.jobs.job
const jobWords = Object.keys(strings.jobs.job) as [JobWord, ...JobWord[]]

export const adminJobsCard = defineCard({
  name: 'admin-jobs',
  data: z.strictObject({
    at: z.string(),
    heading: z.enum(['one', 'many', 'confirm', 'gone']),
    count: z.int(),
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
          /** `''` when the job is for no request. */
          reference: z.string(),
          displayName: z.string(),
          gaveUpAt: z.string(),
          problem: z.string(),
        }),
      )
      .min(1),
    older: z.int(),
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
  return {
    at: time(viewer),
    heading: total === 1 ? 'one' : 'many',
    count: total,
    asks: false,
    isOver: false,
    letterId: '',
    jobs: shown.map((job) => rowOf(job, viewer)),
    older: total - shown.length,
  }
}

/** Asks once more before one of them is run again, or dismissed. */
export function adminReplayView(given: GivenUpJob, viewer: Viewer): Parameters<typeof adminJobsCard.render>[0] {
  const row = rowOf(given, viewer)
  const { isOver } = given
  const heading = isOver ? 'gone' : 'confirm'
  return { at: time(viewer), heading, count: 1, asks: true, isOver, letterId: row.letterId, jobs: [row], older: 0 }
}

const rowOf = ({ letterId, job, request, problem, at }: GivenUpJob, viewer: Viewer) => ({
  letterId,
  job,
  reference: request ? referenceOf(request) : '',
  displayName: cut(request?.details.displayName ?? '', longest.name),
  gaveUpAt: moment(at.toISOString(), viewer, 'full'),
  problem: cut(problem, longest.text),
})
