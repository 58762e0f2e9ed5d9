/**
 * Every sentence that a part of the health report can be told by. The card says the same by `strings.health.says`, which a test
 * holds against this. What stands in braces is a fact of the part.
 */
export const healthSentences = {
  answers: 'Answers in {milliseconds}.',
  slow: 'Answers in {milliseconds}, which is slow.',
  silent:
    'Has not answered since {sinceAt}. Nothing new can be asked for or decided meanwhile. Nothing is lost, and all goes on by itself when it is back.',
  processesWork: 'At work: {count}, the first since {sinceAt}.',
  processesMixed: 'At work: {count}, of different versions: one is being exchanged for the other.',
  processSilent: 'A process ended without a goodbye at {silentAt}. Its jobs are taken over. At work: {count}.',
  processesSilent:
    'Processes that ended without a goodbye: {silent}, the last at {silentAt}. Their jobs are taken over. At work: {count}.',
  processesIdle: 'At work: {count}. Running, but taking no jobs: {idle}. A restart mends it.',
  processesStill: 'No process takes jobs. Nothing is made and no card is sent until one is restarted.',
  idle: 'Nothing waits.',
  onTime: 'Waiting or at work: {waiting}. None is late.',
  late: 'Waiting or at work: {waiting}. The oldest has been due for {oldestSeconds}.',
  noDeadLetters: 'No job was given up.',
  deadLetters: 'Jobs that were given up: {count}. Each waits for somebody to run it again or take it off the list.',
  watched: 'Looked for requests that stand still {watchedSecondsAgo} ago.',
  unwatched: 'Has not looked for requests that stand still for {watchedSecondsAgo}.',
  neverWatched: 'Does not look for requests that stand still.',
  refuses: 'Refuses us. Somebody may have taken a permission away from the app registration. {problem}',
  slowsDown: 'Asks us to slow down. Work goes on by itself, later. {problem}',
  timesOut: 'Does not answer in time. Work is tried again by itself. {problem}',
  unreachable: 'Cannot be reached. Work is tried again by itself. {problem}',
  fails: 'Fails. Work is tried again by itself. {problem}',
  noSignIn: 'Cannot be asked, since the service cannot sign in.',
  failedOften: 'Answers again in {milliseconds}, but {errorRate} of the calls in the last 15 minutes failed.',
  slowedOften: 'Answers in {milliseconds}, but asked us to slow down {throttled} times in the last 15 minutes.',
  signedIn: 'Signed in. The first token ends at {tokenEndsAt} and is renewed before that.',
  notSignedIn: 'Nothing had to be signed in for yet.',
  signInFails: 'The service cannot sign in. {problem}',
  certificateGood: 'Good for {daysLeft}.',
  certificateSoon:
    'Ends in {daysLeft}. Put a new one in the place of its file. It is read within a minute, or at once by the button.',
  certificateOver: 'Has ended, so nothing can be signed in for. Put a new one in the place of its file.',
  certificateUnread: 'The file cannot be used, so the one before stays in use, for {daysLeft}. {problem}',
  certificateOverUnread: 'Has ended, and the file that is there cannot be used. {problem}',
  certificateNotNeeded: 'Local mode signs in with a key of its own, which does not end.',
  webhooksGood: 'No receiver fails.',
  webhooksFail: 'Receivers that fail: {failing}. Switched off: {switchedOff}.',
  webhooksOwnFails:
    'Our own subscription fails, so links arrive later. Others that fail: {failing}, switched off: {switchedOff}.',
  directoryUnseen: 'No new group was found within the last day, so nothing can be said.',
  directoryUsual: 'New groups were found after {p50Seconds}, nearly all within {p95Seconds}.',
  directorySlow:
    'New groups were found after {p50Seconds}, some only after {p95Seconds}. Links of sites may come later.',
} as const
export type HealthSaying = keyof typeof healthSentences
export const healthSayings = Object.keys(healthSentences) as [HealthSaying, ...HealthSaying[]]

/** How whoever reads it wants the facts to be written. */
export interface HealthWriting {
  /** Milliseconds that an answer took. */
  quickness(milliseconds: number): string
  duration(seconds: number): string
  days(count: number): string
  /** Of all, 0 to 1. */
  share(of: number): string
  moment(at: string): string
  count(value: number): string
}

/** A sentence with the facts of its part. Once only: what stands in braces in an answer of a service stays as it is. */
export function healthInWords(sentence: string, part: object, writing: HealthWriting): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value: unknown = Object.entries(part).find(([key]) => key === name)?.[1]
    if (typeof value === 'string') return name.endsWith('At') ? writing.moment(value) : value
    return typeof value === 'number' ? numberInWords(name, value, writing) : whole
  })
}

function numberInWords(name: string, value: number, writing: HealthWriting): string {
  if (name === 'milliseconds') return writing.quickness(value)
  if (/seconds/i.test(name)) return writing.duration(value)
  if (name === 'daysLeft') return writing.days(value)
  return name.endsWith('Rate') ? writing.share(value) : writing.count(value)
}

const unit = (name: string, value: number): string =>
  new Intl.NumberFormat('en', { style: 'unit', unit: name, unitDisplay: 'long' }).format(value)

/** Plain English, with moments as ISO 8601: what the API says. */
export const plainHealthWriting: HealthWriting = {
  quickness: (milliseconds) => `${Math.round(milliseconds)} ms`,
  duration(seconds) {
    if (seconds < 120) return unit('second', Math.round(seconds))
    if (seconds < 7200) return unit('minute', Math.round(seconds / 60))
    return seconds < 172_800 ? unit('hour', Math.round(seconds / 3600)) : unit('day', Math.round(seconds / 86_400))
  },
  days: (count) => unit('day', count),
  share: (of) => new Intl.NumberFormat('en', { style: 'percent' }).format(of),
  moment: (at) => at,
  count: (value) => new Intl.NumberFormat('en').format(value),
}
