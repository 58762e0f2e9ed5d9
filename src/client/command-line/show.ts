import {
  type FieldFault,
  type MailboxRequest,
  type Preview,
  ProblemError,
  type ProvisioningRequest,
  type SiteRequest,
} from '../index.ts'
import type { Body } from './body.ts'
import type { Scope } from './define-command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { clean, type Style, type Terminal } from './terminal.ts'
import { fill, words } from './words.ts'

type Step = ProvisioningRequest['steps'][number]

const colours: Partial<Record<ProvisioningRequest['status'], Style>> = {
  succeeded: 'green',
  failed: 'red',
  rejected: 'red',
  expired: 'red',
  cancelled: 'dim',
  pendingApproval: 'yellow',
}
const marks: Readonly<Record<Step['status'], string>> = { pending: '·', running: '…', done: '✓', failed: '✗' }

export const stateOf = (terminal: Terminal, { status }: Pick<ProvisioningRequest, 'status'>): string =>
  terminal.style(colours[status] ?? 'bold', words.states[status] ?? clean(status))

/** What people call it and what it is: `REQ-1042 Apollo`. */
export const titleOf = ({ reference, details }: ProvisioningRequest): string =>
  `${clean(reference)} ${clean(details.displayName)}`

/** `✓ create the site` */
export const stepLine = (terminal: Terminal, step: Step): string => {
  const mark = step.status === 'done' ? terminal.style('green', marks.done) : marks[step.status]
  return `${step.status === 'failed' ? terminal.style('red', marks.failed) : mark} ${stepWords(step)}`
}
export const stepWords = ({ name }: Pick<Step, 'name'>): string => words.steps[name] ?? clean(name)

/** All that matters of a request, a line for each. */
export function requestLines(terminal: Terminal, request: ProvisioningRequest): string[] {
  const { requester, submittedAt, kind, steps, approvals } = request
  const lines = [
    `${terminal.style('bold', titleOf(request))}  ${stateOf(terminal, request)}`,
    fill(words.show.asked, {
      kind: words.kinds[kind] ?? clean(kind),
      who: clean(requester.displayName),
      when: momentOf(submittedAt),
    }),
  ]
  for (const stage of approvals) lines.push(approvalLine(stage))
  if (steps.some(({ status }) => status !== 'pending'))
    lines.push(...steps.map((step) => `  ${stepLine(terminal, step)}`))
  return [...lines, ...endLines(terminal, request), terminal.style('dim', clean(request.requestId))]
}

/** What has become of it: why it failed, where it is. */
export function endLines(terminal: Terminal, request: ProvisioningRequest): string[] {
  const made = madeOf(request)
  return [
    ...(request.problem ? [terminal.style('red', clean(request.problem.detail))] : []),
    ...(made === undefined ? [] : [fill(words.show.made, { made })]),
  ]
}

function approvalLine({ stage, approvers, decisions }: ProvisioningRequest['approvals'][number]): string {
  const names = approvers.map(({ displayName }) => clean(displayName)).join(', ')
  const decided = decisions.map(({ by, decision, comment, override }) => {
    const said = fill(words.show[override ? (`${decision}Over` as const) : decision], { who: clean(by.displayName) })
    return comment ? `${said} “${clean(comment)}”` : said
  })
  return decided.length > 0
    ? fill(words.show.stageDecided, { stage, decisions: decided.join('; ') })
    : fill(words.show.stageWaits, { stage, names: names || words.show.nobody })
}

/** The address of what was made, if it is there. */
export function madeOf({ resource }: ProvisioningRequest): string | undefined {
  if (!resource) return undefined
  return clean('url' in resource ? resource.url : resource.address)
}

/** `2026-11-20 19:48 UTC`: the same wherever it is read, and sortable. */
const momentOf = (at: string): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? clean(at) : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** How a request ended, for scripts. */
export const endOf = ({ status }: Pick<ProvisioningRequest, 'status'>): ExitCode =>
  ['failed', 'rejected', 'expired', 'cancelled'].includes(status) ? exitCodes.cameToNothing : exitCodes.done

/** Columns under their heads, as wide as what is in them; the last takes what is left. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[], terminal: Terminal): string[] {
  const widths = heads.map((head, index) => Math.max(...[head, ...rows.map((row) => row[index] ?? '')].map(widthOf)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd()
  return [terminal.style('dim', line(heads)), ...rows.map(line)]
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles take no room
const widthOf = (text: string): number => [...text.replace(/\u001b\[\d+m/g, '')].length

/** What the service would make of a body; undefined where a service has no previews. */
export async function previewOf(scope: Scope, body: Body): Promise<Preview | undefined> {
  try {
    // The service judges what it is.
    return await (await scope.client()).preview(body as SiteRequest | MailboxRequest, { signal: scope.signal })
  } catch (error) {
    if (error instanceof ProblemError && ['no-such-address', 'method-not-allowed'].includes(error.code))
      return undefined
    throw error
  }
}

/** What it would be: its kind and names, who decides, what the template put there, what may surprise, what is wrong. */
export function previewLines({ kind, names, approvals, defaults, warnings, errors, similar }: Preview): string[] {
  const address = names?.url ?? names?.address
  return [
    fill(words.preview.kind, { kind: words.kinds[kind] ?? clean(kind), name: clean(names?.displayName ?? '') }),
    ...(address === undefined
      ? []
      : [`  ${fill(names?.free ? words.preview.address : words.preview.taken, { address: clean(address) })}`]),
    ...defaults.map(
      ({ field, value }) => `  ${fill(words.preview.byTemplate, { field: clean(field), value: clean(String(value)) })}`,
    ),
    ...approvals.map(({ stage, approvers }) => {
      const names = approvers.map(({ displayName }) => clean(displayName)).join(', ')
      return `  ${fill(words.preview.approval, { stage, names: names || words.show.nobody })}`
    }),
    ...(approvals.length === 0 ? [`  ${words.preview.noApproval}`] : []),
    ...similar.value.map(({ displayName }) => `  ${fill(words.preview.similar, { name: clean(displayName) })}`),
    ...warnings.map(({ detail }) => `  ${fill(words.preview.warning, { detail: clean(detail) })}`),
    ...faultLines(errors),
  ]
}

/** What is wrong with each field, and what would do instead. */
export const faultLines = (errors: readonly FieldFault[]): string[] =>
  errors.map(({ pointer, detail, suggestion }) => {
    const line = `  ${clean(pointer)}: ${clean(detail)}`
    return suggestion === undefined ? line : `${line} ${fill(words.refused.suggestion, { value: clean(suggestion) })}`
  })
