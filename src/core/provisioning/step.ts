import {
  customAttributesOf,
  isForMailbox,
  type Problem,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
  type RequestStep,
  withPeopleOfToday,
} from '../requests/index.ts'
import {
  type Check,
  isFault,
  type MailboxStepInput,
  mailboxStep,
  type SiteStepInput,
  type StepResult,
  siteStep,
} from '../resources/index.ts'
import type { ProvisioningPorts } from './ports.ts'

/** A step that has ended: what it adds to the request, and what a ready check has found. */
export interface Done {
  readonly done: true
  readonly made: (current: Request) => Request
  readonly checks?: readonly Check[]
}
/** A step that has to wait, for so many seconds, and what it keeps meanwhile. */
export interface Waiting {
  readonly done: false
  readonly retryAfterSeconds: number
  readonly made?: (current: Request) => Request
  /** Why the tenant makes it wait, for admins. */
  readonly why?: { readonly code: string; readonly detail: string }
}

/**
 * Takes one step of a request in the tenant, with the names that its people have today. Throws `PeopleUnavailable` before
 * anything is done when somebody may not have what the step gives them.
 */
export async function takeStep(
  ports: ProvisioningPorts,
  stored: Request,
  name: RequestStep['name'],
  signal: AbortSignal,
): Promise<Done | Waiting> {
  const request = await withPeopleOfToday(ports, stored, name)
  if (isForMailbox(request)) {
    const result = await ports.tenant.mailboxSteps[mailboxStep.parse(name)](mailboxInput(request, signal))
    return adding(result, (current, made) =>
      isForMailbox(current) ? { ...current, progress: { ...current.progress, ...made } } : current,
    )
  }
  const result = await ports.tenant.siteSteps[siteStep.parse(name)](siteInput(request, signal))
  return adding(result, (current, made) =>
    isForMailbox(current) ? current : { ...current, progress: { ...current.progress, ...made } },
  )
}

/** What a step's result adds to the request, whatever the request has become meanwhile. */
function adding<P>(result: StepResult<P>, add: (current: Request, made: Partial<P>) => Request): Done | Waiting {
  if (result.done) {
    const { made, checks } = result
    return { done: true, made: (current) => add(current, made), ...(checks && { checks }) }
  }
  const { retryAfterSeconds, made, why } = result
  const kept = made && { made: (current: Request) => add(current, made) }
  return { done: false, retryAfterSeconds, ...kept, ...(why && { why }) }
}

function siteInput(request: RequestForSite, signal: AbortSignal): SiteStepInput {
  const { requestId, kind, alias, owners, requester, progress, details } = request
  const { displayName, description, labelId } = details
  return { requestId, kind, displayName, description, alias, owners, requester, labelId, progress, signal }
}

function mailboxInput(request: RequestForMailbox, signal: AbortSignal): MailboxStepInput {
  const { requestId, kind, details, people, address, aliasAddress, template, startedAt, submittedAt, progress } =
    request
  const access = people.flatMap((person) => {
    const level = details.permissions[person.id] ?? 'None'
    return level === 'None' ? [] : [{ person, level }]
  })
  return {
    requestId,
    kind,
    address,
    aliasAddress,
    details,
    access,
    customAttributes: customAttributesOf(template, details),
    startedAt: new Date(startedAt ?? submittedAt),
    progress,
    signal,
  }
}

/** The request with its resource, once all steps are done. */
export function withResource(request: Request): Request {
  const missing = () => new Error(`${request.requestId} has run all its steps without its resource`)
  if (isForMailbox(request)) {
    const { mailboxId } = request.progress
    if (!mailboxId) throw missing()
    return { ...request, resource: { address: request.address, mailboxId } }
  }
  const { url, siteId, groupId, securityGroupId } = request.progress
  if (!url || !siteId || !securityGroupId) throw missing()
  return { ...request, resource: { url, siteId, groupId: groupId ?? null, securityGroupId } }
}

/** What a ready check found wrong, as the request's problem; undefined when all is as it was asked for. */
export function checkFault(step: RequestStep['name'], checks: readonly Check[]): Problem | undefined {
  const wrong = checks.filter(isFault)
  if (wrong.length === 0) return undefined
  const found = wrong.map(({ name, detail }) => (detail ? `${name} (${detail})` : name)).join('; ')
  return { code: 'ready-check', detail: `It was made, but this is not as it was asked for: ${found}.`, step }
}
