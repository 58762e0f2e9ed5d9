import { z } from 'zod'
import {
  type Attention,
  type GivenUpJob,
  type GivenUpJobs,
  type Remedy,
  referenceOf,
  type Stuck,
} from '../../core/index.ts'
import { rowOf, waitingRow } from '../requests/admin-queue.ts'
import { format, keysOf, restText, strings } from '../shared/messages.ts'
import { paged, pageOf } from '../shared/paging.ts'
import { reasonText } from '../shared/reasons.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, moment, sentence, shortName, time, type Viewer } from '../shared/texts.ts'

export const adminStuckCard = defineCard({
  name: 'admin-stuck',
  data: z.strictObject({
    at: z.string(),
    heading: z.string(),
    requests: z.array(
      waitingRow.omit({ types: true, by: true, age: true }).extend({
        open: z.string(),
        asks: z.string(),
        /** Advice in addition to its reason. */
        advice: z.string(),
        /** The commands that fix it. */
        buttons: z.array(z.strictObject({ title: z.string(), types: z.string() })),
      }),
    ),
    /** The command that cancels one of them, or `''`. */
    cancels: z.string(),
    isDirectorySilent: z.boolean(),
    /** The number of failed jobs as text, or `''`. */
    jobs: z.string(),
    ...paged,
    /** How many more there are beyond those that were read, or `''`. */
    older: z.string(),
  }),
})

/** A page of stuck requests with the commands that fix them, and the number of failed jobs. `from`: the first row of the page. */
export function adminStuckView(
  { count, entries, isDirectorySilent = false, deadLetters = 0 }: Stuck,
  viewer: Viewer,
  from = 0,
): ViewOf<typeof adminStuckCard> {
  const { shown, page } = pageOf(entries, from)
  const texts = strings.stuck
  const [first] = shown
  return {
    at: time(viewer),
    heading: format(texts.heading, { count }),
    requests: shown.map((entry) => {
      const { why, remedies = ['look'] } = entry.attention ?? {}
      const { types: _, by: __, age, ...row } = rowOf(entry, viewer, longest.text)
      const { reference } = row
      const name = shortName(entry.request.requester)
      return {
        ...row,
        open: format(strings.list.open, { reference }),
        asks: format(texts.asks, { name, age }),
        advice: adviceOf(why, remedies[0]),
        buttons: remedies.map((remedy) => buttonOf(remedy, reference)),
      }
    }),
    cancels: first ? format(texts.type, { reference: referenceOf(first.request) }) : '',
    isDirectorySilent,
    jobs: restText(strings.jobs.heading, deadLetters),
    ...page,
    older: restText(texts.older, count - entries.length),
  }
}

function adviceOf(why: Attention['why'] | undefined, remedy: Remedy | undefined): string {
  if (remedy === 'look') return strings.stuck.look
  return why === 'retrying' || why === 'late' ? strings.stuck[why] : ''
}

const titles = {
  retry: 'retryReference',
  look: 'lookReference',
  reassign: 'askElse',
  override: 'decideIt',
} as const satisfies Record<Remedy, keyof typeof strings.button>

const buttonOf = (remedy: Remedy, reference: string) => ({
  title: format(strings.button[titles[remedy]], { reference }),
  types: format(strings.queue.types[remedy], { reference }),
})

export const adminJobsCard = defineCard({
  name: 'admin-jobs',
  data: z.strictObject({
    at: z.string(),
    heading: z.string(),
    /** Whether the card asks to confirm a retry. */
    asks: z.boolean(),
    /** Whether its batch was stopped, so that the job can only be dismissed. */
    isOver: z.boolean(),
    letterId: z.string(),
    jobs: z
      .array(
        z.strictObject({
          letterId: z.uuid(),
          job: z.enum(keysOf(strings.jobs.job)),
          /** The job's request, or `''`. */
          about: z.string(),
          gaveUpAt: z.string(),
          problem: z.string(),
        }),
      )
      .min(1),
    /** How many more there are, or `''`. */
    older: z.string(),
  }),
})

/** How many jobs with their reasons fit on a card. */
export const maxJobs = 5

/** The failed jobs, their problems, and buttons to retry them. There must be at least one. */
export function adminJobsView({ total, jobs }: GivenUpJobs, viewer: Viewer): ViewOf<typeof adminJobsCard> {
  const shown = jobs.slice(0, maxJobs)
  return {
    at: time(viewer),
    heading: format(strings.jobs.heading, { count: total }),
    asks: false,
    isOver: false,
    letterId: '',
    jobs: shown.map((job) => jobRow(job, viewer)),
    older: restText(strings.jobs.older, total - shown.length),
  }
}

/** Shows a failed job to confirm before it is retried or dismissed. */
export function adminReplayView(job: GivenUpJob, viewer: Viewer): ViewOf<typeof adminJobsCard> {
  const row = jobRow(job, viewer)
  const { isOver } = job
  const heading = isOver ? strings.jobs.gone : strings.jobs.confirm
  return { at: time(viewer), heading, asks: true, isOver, letterId: row.letterId, jobs: [row], older: '' }
}

const jobRow = ({ letterId, job, request, problem, at }: GivenUpJob, viewer: Viewer) => ({
  letterId,
  job,
  about: request
    ? format(strings.jobs.about, {
        reference: referenceOf(request),
        name: shortName(request.details),
      })
    : '',
  gaveUpAt: moment(at.toISOString(), viewer, 'full'),
  problem: cut(sentence(reasonText(problem)), longest.text),
})
