import { setTimeout as pause } from 'node:timers/promises'
import {
  type MailboxProgress,
  type MailboxStep,
  type MailboxStepInput,
  mailboxDetails,
  type Person,
  type SiteKind,
  type SiteProgress,
  type SiteStep,
  type SiteStepInput,
  type StepResult,
  siteSteps,
  type Tenant,
  TenantError,
} from '../../core/index.ts'
import type { Remain, Removals } from '../../microsoft365/index.ts'

/** The beginning of the name of everything that a trial creates, by which a later run finds it. */
export const mark = 'quartermaster-check-'

/** The name of all that the trial of this moment creates: `quartermaster-check-20261123-082400`. */
export const markedName = (at: Date): string => {
  const [day = '', time = ''] = at.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T')
  return `${mark}${day}-${time}`
}

/** The names of what a trial creates: group and site, the site's security group, and mailbox. */
export const markedPattern = `(?:SPO-)?${mark}\\d{8}-\\d{6}(?:-mailbox)?`
const isMarked = new RegExp(`^${markedPattern}$`)

/** Another run may be using what is younger. Milliseconds. */
const inUse = 3600_000

/** What earlier trials have left: its name is marked, and not of the last hour. */
const isLeft = (name: string, at: Date): boolean => {
  const [, start = ''] = /(\d{8}-\d{6})/.exec(name) ?? []
  return isMarked.test(name) && `${mark}${start}` < markedName(new Date(at.getTime() - inUse))
}
const isOf = (trial: string, name: string): boolean => isMarked.test(name) && name.includes(trial)

/** What a trial creates, and for whom. A recording has the same, so that a replay asks the same questions. */
export interface TrialInput {
  readonly name: string
  readonly siteKind: SiteKind
  readonly siteRequestId: string
  readonly mailboxRequestId: string
  /** Owner of the site. */
  readonly person: Person
  /** Domain of the mailbox. */
  readonly domain: string
}

/** One step of a trial that has ended. */
export interface TrialStep {
  readonly of: 'site' | 'mailbox' | 'cleanup'
  readonly name: string
  readonly milliseconds: number
  readonly problem?: string
}

interface TrialParts {
  readonly tenant: Pick<Tenant, 'siteSteps' | 'mailboxSteps' | 'mailboxStepsOf'>
  /** Finds the group of a site by its request, as other services do. */
  readonly findGroup: (requestId: string) => Promise<unknown>
  readonly removals: Removals
  readonly tell: (step: TrialStep) => void
  /** Ends the trial. The cleanup still runs. */
  readonly signal: AbortSignal
  /** How long a step may take. Seconds. */
  readonly patienceSeconds: number
}

/** Creates a marked site and a marked mailbox, measures each step, and removes both, also after a failure. */
export async function runTrial(input: TrialInput, parts: TrialParts): Promise<TrialStep[]> {
  const steps: TrialStep[] = []
  const tell = (step: TrialStep) => {
    steps.push(step)
    parts.tell(step)
  }
  const made: Omit<Remain, 'name'>[] = []
  const all = { ...parts, tell }
  await removeAll(all, 'remove-earlier', [], (name) => isLeft(name, new Date()))
  try {
    if (parts.signal.aborted) return steps
    await trySite(input, all, made)
    if (!parts.signal.aborted) await tryMailbox(input, all, made)
  } finally {
    await removeAll(all, 'remove', made, (name) => isOf(input.name, name))
  }
  return steps
}

async function trySite(input: TrialInput, parts: TrialParts, made: Omit<Remain, 'name'>[]): Promise<void> {
  const { tenant, signal } = parts
  let progress: SiteProgress = {}
  const stepInput = (): SiteStepInput => ({
    ...{ requestId: input.siteRequestId, kind: input.siteKind, displayName: input.name, description: '' },
    ...{ alias: input.name, owners: [], requester: input.person, labelId: '', progress, signal },
  })
  const note = () => {
    const { groupId, siteId, url, securityGroupId } = progress
    made.length = 0
    if (groupId) made.push({ of: 'group', id: groupId })
    else if (siteId ?? url) made.push({ of: 'site', id: siteId ?? url ?? '' })
    if (securityGroupId) made.push({ of: 'group', id: securityGroupId })
  }
  for (const name of siteSteps.filter((one): one is Exclude<SiteStep, 'apply-label'> => one !== 'apply-label')) {
    const isDone = await timed('site', name, parts, async () => {
      const result = await tenant.siteSteps[name](stepInput())
      progress = { ...progress, ...result.made }
      note()
      return result
    })
    if (!isDone) return
  }
  await timed('site', 'find-group', parts, async () => {
    const found = await parts.findGroup(input.siteRequestId)
    return found === undefined ? { done: false, retryAfterSeconds: 2 } : { done: true, made: {} }
  })
}

async function tryMailbox(input: TrialInput, parts: TrialParts, made: Omit<Remain, 'name'>[]): Promise<void> {
  const { tenant, signal } = parts
  // The group of the site has a mail address of the site's name.
  const name = `${input.name}-mailbox`
  const details = mailboxDetails.parse({ name, displayName: name })
  const wanted = { kind: 'sharedMailbox', details, aliasAddress: '', customAttributes: new Map() } as const
  let progress: MailboxProgress = {}
  const startedAt = new Date()
  const stepInput = (): MailboxStepInput => ({
    ...wanted,
    ...{ requestId: input.mailboxRequestId, address: `${name}@${input.domain}`, access: [] },
    ...{ startedAt, progress, signal },
  })
  for (const step of tenant.mailboxStepsOf(wanted)) {
    const isDone = await timed('mailbox', step, parts, async () => {
      const result = await tenant.mailboxSteps[step](stepInput())
      progress = { ...progress, ...result.made }
      const { mailboxId: id } = progress
      if (id && !made.some((one) => one.id === id)) made.push({ of: 'mailbox', id })
      return result
    })
    if (!isDone) return
  }
}

type AnyResult = StepResult<SiteProgress> | StepResult<MailboxProgress>

/** Runs a step until it is done, and tells how long that took. Returns false if it failed or was interrupted. */
async function timed(
  of: 'site' | 'mailbox',
  name: SiteStep | MailboxStep | 'find-group',
  { tell, signal, patienceSeconds }: TrialParts,
  run: () => Promise<AnyResult>,
): Promise<boolean> {
  const started = performance.now()
  const end = (problem?: string): boolean => {
    const milliseconds = Math.round(performance.now() - started)
    tell({ of, name, milliseconds, ...(problem !== undefined && { problem }) })
    return problem === undefined
  }
  for (;;) {
    let wait = 2
    let last = 'The step has not ended in time.'
    try {
      const result = await run()
      if (result.done) {
        const faults = (result.checks ?? []).filter(({ ok, notVisibleYet }) => !ok && notVisibleYet !== true)
        return end(faults.length === 0 ? undefined : faults.map((one) => `${one.name}: ${one.detail}`).join('; '))
      }
      wait = result.retryAfterSeconds
      last = result.why?.detail ?? last
    } catch (error) {
      if (!(error instanceof TenantError)) throw error
      if (signal.aborted) return end('Interrupted.')
      if (!error.retryable) return end(error.message)
      wait = error.retryAfterSeconds ?? 5
      last = error.message
    }
    if (performance.now() - started + wait * 1000 > patienceSeconds * 1000) return end(last)
    await pause(wait * 1000, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return end('Interrupted.')
  }
}

/** How often the cleanup tries to remove what is too new to be found, and how long it waits between. */
const removalTries = 4
const removalWaitSeconds = 3

/**
 * Removes what the trial has created, then what the tenant lists by such names. One failure does not keep the others from
 * being removed. The signal of the trial does not end it: a second interruption ends the process.
 */
async function removeAll(
  { removals, tell }: Pick<TrialParts, 'removals' | 'tell'>,
  step: 'remove' | 'remove-earlier',
  made: readonly Omit<Remain, 'name'>[],
  isWanted: (name: string) => boolean,
): Promise<void> {
  const started = performance.now()
  const removed = new Set<string>()
  let problems: unknown[] = []
  const attempted = <T>(call: Promise<T>): Promise<T | undefined> =>
    call.catch((error: unknown) => {
      problems.push(error)
      return undefined
    })
  for (let attempt = 1; attempt <= removalTries; attempt += 1) {
    problems = []
    let unknown = 0
    const removeEach = async (some: readonly Omit<Remain, 'name'>[]) => {
      for (const one of some) {
        const key = `${one.of} ${one.id}`
        if (removed.has(key)) continue
        const isRemoved = await attempted(removals.remove(one))
        if (isRemoved) removed.add(key)
        else if (isRemoved === false) unknown += 1
      }
    }
    await removeEach(made)
    const listed = (await attempted(removals.find(mark))) ?? []
    await removeEach(listed.filter(({ name }) => isWanted(name)))
    if (problems.length > 0 ? problems.every(isFinal) : unknown === 0 || attempt > 2) break
    // A created resource may be unknown to a replica for some seconds, or is gone with another one.
    await pause(removalWaitSeconds * 1000)
  }
  const [problem] = problems
  if (step === 'remove-earlier' && removed.size === 0 && problem === undefined) return
  const milliseconds = Math.round(performance.now() - started)
  const message = problem instanceof Error ? problem.message : String(problem)
  tell({ of: 'cleanup', name: step, milliseconds, ...(problem !== undefined && { problem: message }) })
}

const isFinal = (error: unknown): boolean => error instanceof TenantError && !error.retryable
