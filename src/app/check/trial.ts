import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  adminsOf,
  asPerson,
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
  sentenceOf,
  siteSteps,
  type Tenant,
  TenantError,
} from '../../core/index.ts'
import type { Remain, Removals } from '../../microsoft365/index.ts'
import type { OpenInstallation } from './installation.ts'

/** The start of all names that a trial creates. A later run finds leftovers by it. */
export const mark = 'quartermaster-check-'

/** Returns the name for the trial of this moment: `quartermaster-check-20261123-082400`. */
export const markedName = (at: Date): string => {
  const [day = '', time = ''] = at.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T')
  return `${mark}${day}-${time}`
}

/** Matches the names that a trial creates: group and site, the site's security group, and mailbox. */
export const markedPattern = `(?:SPO-)?${mark}\\d{8}-\\d{6}(?:-mailbox)?`
const isMarked = new RegExp(`^${markedPattern}$`)

/** How long another run may use its resources. Milliseconds. */
const inUse = 3600_000

/** Whether a name is a leftover of an earlier trial: marked, and older than an hour. */
const isLeft = (name: string, at: Date): boolean => {
  const [, start = ''] = /(\d{8}-\d{6})/.exec(name) ?? []
  return isMarked.test(name) && `${mark}${start}` < markedName(new Date(at.getTime() - inUse))
}
const isOf = (trial: string, name: string): boolean => isMarked.test(name) && name.includes(trial)

/** The input of a trial. A recording contains it, so that a replay makes the same calls. */
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
  /** Finds the group of a site by its request id, as other services do. */
  readonly findGroup: (requestId: string) => Promise<unknown>
  readonly removals: Removals
  readonly show: (step: TrialStep) => void
  /** Ends the trial. The cleanup still runs. */
  readonly signal: AbortSignal
  /** How long a step may take. Seconds. */
  readonly patienceSeconds: number
}

/** Creates a marked site and a marked mailbox, measures each step, and removes both, also after a failure. */
export async function runTrial(input: TrialInput, parts: TrialParts): Promise<TrialStep[]> {
  const steps: TrialStep[] = []
  const show = (step: TrialStep) => {
    steps.push(step)
    parts.show(step)
  }
  const created: Omit<Remain, 'name'>[] = []
  const all = { ...parts, show }
  await removeAll(all, 'remove-earlier', [], (name) => isLeft(name, new Date()))
  try {
    if (parts.signal.aborted) return steps
    await trySite(input, all, created)
    if (!parts.signal.aborted) await tryMailbox(input, all, created)
  } finally {
    await removeAll(all, 'remove', created, (name) => isOf(input.name, name))
  }
  return steps
}

async function trySite(input: TrialInput, parts: TrialParts, created: Omit<Remain, 'name'>[]): Promise<void> {
  const { tenant, signal } = parts
  let progress: SiteProgress = {}
  const stepInput = (): SiteStepInput => ({
    ...{ requestId: input.siteRequestId, kind: input.siteKind, displayName: input.name, description: '' },
    ...{ alias: input.name, owners: [], requester: input.person, labelId: '', progress, signal },
  })
  const note = () => {
    const { groupId, siteId, url, securityGroupId } = progress
    created.length = 0
    if (groupId) created.push({ of: 'group', id: groupId })
    else if (siteId ?? url) created.push({ of: 'site', id: siteId ?? url ?? '' })
    if (securityGroupId) created.push({ of: 'group', id: securityGroupId })
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

async function tryMailbox(input: TrialInput, parts: TrialParts, created: Omit<Remain, 'name'>[]): Promise<void> {
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
      if (id && !created.some((one) => one.id === id)) created.push({ of: 'mailbox', id })
      return result
    })
    if (!isDone) return
  }
}

type AnyResult = StepResult<SiteProgress> | StepResult<MailboxProgress>

/** Runs a step until it is done, and shows its duration. Returns false if it failed or was interrupted. */
async function timed(
  of: 'site' | 'mailbox',
  name: SiteStep | MailboxStep | 'find-group',
  { show, signal, patienceSeconds }: TrialParts,
  run: () => Promise<AnyResult>,
): Promise<boolean> {
  const started = performance.now()
  const end = (problem?: string): boolean => {
    const milliseconds = Math.round(performance.now() - started)
    show({ of, name, milliseconds, ...(problem !== undefined && { problem }) })
    return problem === undefined
  }
  for (;;) {
    let wait = 2
    let last = 'The step timed out.'
    try {
      const result = await run()
      if (result.done) {
        const faults = (result.checks ?? []).filter(({ ok, notVisibleYet }) => !ok && notVisibleYet !== true)
        return end(faults.length === 0 ? undefined : faults.map((one) => `${one.name}: ${one.detail}`).join('; '))
      }
      wait = result.retryAfterSeconds
      last = result.why ? sentenceOf(result.why.reason) : last
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

/** How often the cleanup tries to remove new resources that are not visible yet, and the wait between attempts. */
const removalTries = 4
const removalWaitSeconds = 3

/**
 * Removes the resources of the trial, then resources that the tenant lists under such names. Continues after a failure. The
 * signal of the trial does not stop it, but a second interruption ends the process.
 */
async function removeAll(
  { removals, show }: Pick<TrialParts, 'removals' | 'show'>,
  step: 'remove' | 'remove-earlier',
  created: readonly Omit<Remain, 'name'>[],
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
    await removeEach(created)
    const listed = (await attempted(removals.find(mark))) ?? []
    await removeEach(listed.filter(({ name }) => isWanted(name)))
    if (problems.length > 0 ? problems.every(isFinal) : unknown === 0 || attempt > 2) break
    // A replica may not know a new resource for some seconds. A resource may also be removed together with another one.
    await pause(removalWaitSeconds * 1000)
  }
  const [problem] = problems
  if (step === 'remove-earlier' && removed.size === 0 && problem === undefined) return
  const milliseconds = Math.round(performance.now() - started)
  const message = problem instanceof Error ? problem.message : String(problem)
  show({ of: 'cleanup', name: step, milliseconds, ...(problem !== undefined && { problem: message }) })
}

const isFinal = (error: unknown): boolean => error instanceof TenantError && !error.retryable

/** How long a step of a trial may take. Seconds. */
const patienceSeconds = 900

interface Trial {
  readonly input: TrialInput
  readonly steps: readonly TrialStep[]
}

/** Creates and removes a marked site and a marked mailbox. The first admin owns the site. */
export async function tryWriting(
  { context, microsoft365 }: OpenInstallation,
  siteKind: SiteKind,
  { show, signal }: { readonly show: (step: TrialStep) => void; readonly signal: AbortSignal },
): Promise<Trial> {
  const { directory, tenant } = context.ports
  const [owner] = await adminsOf({ directory }, context.settings)
  if (!owner)
    throw new Error(
      'ADMINS has no person who can own the site. Add the object id of a person, or of a group with members.',
    )
  const { default: domain } = await directory.mailDomains()
  const input: TrialInput = {
    ...{ name: markedName(new Date()), siteKind, person: asPerson(owner), domain },
    ...{ siteRequestId: randomUUID(), mailboxRequestId: randomUUID() },
  }
  const steps = await runTrial(input, {
    ...{ tenant, removals: microsoft365.removals, show, signal, patienceSeconds },
    findGroup: (requestId) => directory.findProvisionedGroup(requestId),
  })
  return { input, steps }
}
