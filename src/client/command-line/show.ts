import {
  type Batch,
  type Client,
  isOver,
  type MailboxRequest,
  type Preview,
  ProblemError,
  type ProvisioningRequest,
  type RequestState,
  type SiteRequest,
  StillUnderWayError,
} from '../index.ts'
import type { Body, Fault } from './body.ts'
import type { Scope } from './define-command.ts'
import { asFlag, type FieldNames } from './fields.ts'
import { clean, type ExitCode, exitCodes, fill, type Output, type Style, type Terminal, texts } from './terminal.ts'

type Step = ProvisioningRequest['steps'][number]

/** The colour of each status. The command line uses the same names of statuses as the API. */
const colours: Readonly<Record<RequestState, Style>> = {
  pendingApproval: 'yellow',
  queued: 'bold',
  provisioning: 'bold',
  succeeded: 'green',
  failed: 'red',
  rejected: 'red',
  expired: 'red',
  cancelled: 'dim',
}
export const states = Object.keys(colours) as readonly RequestState[]
const marks: Readonly<Record<Step['status'], string>> = { pending: '·', running: '…', done: '✓', failed: '✗' }

export const statusLabel = (terminal: Terminal, { status }: Pick<ProvisioningRequest, 'status'>): string =>
  terminal.style(colours[status] ?? 'bold', clean(status))

/** Returns reference and name: `REQ-1042 Apollo`. */
const titleOf = ({ reference, details }: ProvisioningRequest): string =>
  `${clean(reference)} ${clean(details.displayName)}`

/** `✓ create the site` */
const stepLine = (terminal: Terminal, step: Step): string => {
  const mark = step.status === 'done' ? terminal.style('green', marks.done) : marks[step.status]
  return `${step.status === 'failed' ? terminal.style('red', marks.failed) : mark} ${stepLabel(step)}`
}
const stepLabel = ({ name }: Pick<Step, 'name'>): string => texts.steps[name] ?? clean(name)

/** Describes a request, one line for each fact. `details`: lines about the requested resource. */
export function requestLines(
  terminal: Terminal,
  request: ProvisioningRequest,
  details: readonly string[] = [],
): string[] {
  const { requester, submittedAt, kind, steps, approvals } = request
  const lines = [
    `${terminal.style('bold', titleOf(request))}  ${statusLabel(terminal, request)}`,
    fill(texts.show.asked, {
      kind: texts.kinds[kind] ?? clean(kind),
      who: clean(requester.displayName),
      when: momentOf(submittedAt),
    }),
    ...details,
  ]
  for (const stage of approvals) lines.push(approvalLine(stage))
  if (steps.some(({ status }) => status !== 'pending'))
    lines.push(...steps.map((step) => `  ${stepLine(terminal, step)}`))
  return [
    ...lines,
    ...warningLines(request),
    ...addressLines(request),
    ...endLines(terminal, request),
    terminal.style('dim', clean(request.requestId)),
  ]
}

/** Returns a line for each accepted field without effect. Only mailboxes have warnings; older services send none. */
export const warningLines = (
  answer: { readonly warnings?: readonly { readonly detail: string }[] } | object,
): string[] =>
  ('warnings' in answer ? (answer.warnings ?? []) : []).map(({ detail }) =>
    fill(texts.preview.warning, { detail: clean(detail) }),
  )

/** Returns the lines about an address that another resource has taken. Older services send no `addressConflict`. */
function addressLines({ addressConflict: conflict, reference }: ProvisioningRequest): string[] {
  if (!conflict) return []
  const [taken, suggestion] = [clean(conflict.taken), clean(conflict.suggestion)]
  const free = { reference: clean(reference), suggestion }
  return [fill(texts.show.addressTaken, { taken }), ...(suggestion ? [fill(texts.show.addressFree, free)] : [])]
}

/** Returns the last lines of a request: the reason of a failure, or the address. */
function endLines(terminal: Terminal, request: ProvisioningRequest): string[] {
  const made = addressOf(request)
  return [
    ...(request.problem ? [terminal.style('red', clean(request.problem.detail))] : []),
    ...(made === undefined ? [] : [fill(texts.show.made, { made })]),
  ]
}

function approvalLine({ stage, approvers, decisions }: ProvisioningRequest['approvals'][number]): string {
  const names = approvers.map(({ displayName }) => clean(displayName)).join(', ')
  const decided = decisions.map(({ by, decision, comment, override }) => {
    const line = fill(texts.show[override ? (`${decision}Over` as const) : decision], { who: clean(by.displayName) })
    return comment ? `${line} “${clean(comment)}”` : line
  })
  return decided.length > 0
    ? fill(texts.show.stageDecided, { stage, decisions: decided.join('; ') })
    : fill(texts.show.stageWaits, { stage, names: names || texts.show.nobody })
}

/** Returns the address of the resource, if it exists. */
export function addressOf({ resource }: ProvisioningRequest): string | undefined {
  if (!resource) return undefined
  return clean('url' in resource ? resource.url : resource.address)
}

/** `2026-11-20 19:48 UTC`: the same in every time zone, and sortable. */
export const momentOf = (at: string, to: 'minutes' | 'seconds' = 'minutes'): string => {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return clean(at)
  return `${date
    .toISOString()
    .slice(0, to === 'minutes' ? 16 : 19)
    .replace('T', ' ')} UTC`
}

const exitCodeOf = ({ status }: Pick<ProvisioningRequest, 'status'>): ExitCode =>
  ['failed', 'rejected', 'expired', 'cancelled'].includes(status) ? exitCodes.cameToNothing : exitCodes.done

/** Formats a table. Columns are as wide as their content. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[], terminal: Terminal): string[] {
  const widths = heads.map((head, index) => Math.max(...[head, ...rows.map((row) => row[index] ?? '')].map(widthOf)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd()
  return [terminal.style('dim', line(heads)), ...rows.map(line)]
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes have no width
const widthOf = (text: string): number => [...text.replace(/\u001b\[\d+m/g, '')].length

/** Returns the preview of a body; undefined if the service has no previews. */
export async function previewOf(scope: Scope, body: Body): Promise<Preview | undefined> {
  try {
    // The service validates the body.
    return await (await scope.client()).preview(body as SiteRequest | MailboxRequest, { signal: scope.signal })
  } catch (error) {
    if (error instanceof ProblemError && ['no-such-address', 'method-not-allowed'].includes(error.code))
      return undefined
    throw error
  }
}

/** Describes a preview: kind and names, approvers, values of the template, warnings, faults. */
export function previewLines(
  { kind, names, approvals, defaults, warnings, errors, similar }: Preview,
  nameOf: FieldNames = asFlag,
): string[] {
  const address = names?.url ?? names?.address
  return [
    fill(texts.preview.kind, { kind: texts.kinds[kind] ?? clean(kind), name: clean(names?.displayName ?? '') }),
    ...(address === undefined
      ? []
      : [`  ${fill(names?.free ? texts.preview.address : texts.preview.taken, { address: clean(address) })}`]),
    ...defaults.map(
      ({ field, value }) => `  ${fill(texts.preview.byTemplate, { field: clean(field), value: clean(String(value)) })}`,
    ),
    ...approvals.map(({ stage, approvers }) => {
      const names = approvers.map(({ displayName }) => clean(displayName)).join(', ')
      return `  ${fill(texts.preview.approval, { stage, names: names || texts.show.nobody })}`
    }),
    ...(approvals.length === 0 && !errors.some(({ code }) => code === 'no-approver')
      ? [`  ${texts.preview.noApproval}`]
      : []),
    ...similar.value.map(({ displayName }) => `  ${fill(texts.preview.similar, { name: clean(displayName) })}`),
    ...warnings.map(({ detail }) => `  ${fill(texts.preview.warning, { detail: clean(detail) })}`),
    ...faultLines(errors, nameOf),
  ]
}

/** Returns a line for each fault, with a suggestion. */
export const faultLines = (errors: readonly Fault[], nameOf: FieldNames = asFlag): string[] =>
  errors.map(({ pointer, detail, suggestion }) => {
    const field = clean(nameOf(pointer))
    const line = `  ${field === '' ? '' : `${field}: `}${clean(detail)}`
    // The service's sentence may name the suggestion itself.
    if (suggestion === undefined || detail.includes(suggestion)) return line
    return `${line} ${fill(texts.refused.suggestion, { value: clean(suggestion) })}`
  })

/** The time limit of the last call, which gets the request's reference for the final message. Milliseconds. */
const referenceMilliseconds = 2000

/**
 * Follows a request to its end: one line that is redrawn on a terminal, otherwise a line for each event, or with
 * `--json` a JSON value for each change. Returns the exit code. Ctrl-C stops the
 * command; the request continues.
 */
export async function watch(
  scope: Pick<Scope, 'terminal' | 'signal' | 'client'>,
  requestId: string,
  timeoutSeconds?: number,
): Promise<ExitCode> {
  const { terminal, signal } = scope
  const client = await scope.client()
  const progress = progressOf(scope)
  let reference: string | undefined
  try {
    const request = await client.waitForRequest(requestId, {
      signal,
      timeoutSeconds,
      onChange: (changed) => {
        reference = changed.reference
        progress.show(changed)
      },
    })
    progress.end()
    if (!terminal.json)
      for (const line of progress.keepsLines ? endLines(terminal, request) : requestLines(terminal, request))
        terminal.line(line)
    return exitCodeOf(request)
  } catch (error) {
    progress.end()
    const isInterrupted = signal.aborted
    if (!isInterrupted && !(error instanceof StillUnderWayError)) throw error
    if (!terminal.json) {
      reference ??= await referenceOf(client, requestId)
      terminal.note(fill(texts.watch[isInterrupted ? 'interrupted' : 'stillUnderWay'], { reference: clean(reference) }))
    }
    return isInterrupted ? exitCodes.interrupted : exitCodes.stillUnderWay
  }
}

/** The reference of a request, or its id if the service does not answer at once. Commands accept both. */
async function referenceOf(client: Client, requestId: string): Promise<string> {
  try {
    return (await client.getRequest(requestId, { signal: AbortSignal.timeout(referenceMilliseconds) })).reference
  } catch {
    return requestId
  }
}

interface Progress {
  /** Whether printed lines remain on the screen. If false, {@link watch} prints the whole request at the end. */
  readonly keepsLines: boolean
  show(request: ProvisioningRequest): void
  end(): void
}

function progressOf({ terminal }: Pick<Scope, 'terminal'>): Progress {
  if (terminal.json) return { keepsLines: true, show: (request) => terminal.result(request, []), end: () => undefined }
  return terminal.isLive ? liveLine(terminal) : plainLines(terminal)
}

/** `REQ-1042 Apollo  ✓✓…· adding the owners` on one line, never longer than the terminal is wide. */
function liveLine(terminal: Scope['terminal']): Progress {
  const { output } = terminal.streams
  // The escape codes of styles would count as width.
  const plain: Scope['terminal'] = { ...terminal, style: (_, text) => text }
  return {
    keepsLines: false,
    show(request) {
      const ticks = request.steps.map((step) => [...stepLine(plain, step)][0]).join('')
      const running = request.steps.find(({ status }) => status === 'running')
      const now = running ? stepLabel(running) : statusLabel(plain, request)
      drawOver(output, `${titleOf(request)}  ${ticks} ${now}`, terminal.columns)
    },
    end: () => drawOver(output),
  }
}

/** Prints changes: the status, and each step that is done or has failed. */
function plainLines(terminal: Scope['terminal']): Progress {
  const printed = new Set<string>()
  const printOnce = (key: string, line: () => string) => {
    if (printed.has(key)) return
    printed.add(key)
    terminal.line(line())
  }
  let status = ''
  const showState = (request: ProvisioningRequest) => {
    if (request.status !== status) terminal.line(`${titleOf(request)}  ${statusLabel(terminal, request)}`)
    status = request.status
  }
  return {
    keepsLines: true,
    show(request) {
      if (!isOver(request)) showState(request)
      for (const step of request.steps)
        if (step.status === 'done' || step.status === 'failed')
          printOnce(`${step.name} ${step.status} ${step.attempts}`, () => `  ${stepLine(terminal, step)}`)
      showState(request)
    },
    end: () => undefined,
  }
}

/** Draws a text over the previous line, cut to the width of the terminal. An empty text erases the line. */
function drawOver(output: Output, text = '', columns = 0): void {
  output.write(`\r\u001b[2K${[...text].slice(0, Math.max(0, columns - 1)).join('')}`)
}

/** The progress of a batch: on a terminal one line that is redrawn, otherwise a line after each tenth of the rows. */
export interface ProgressBar {
  show(batch: Batch): void
  end(): void
}
const cells = 24

/** Creates the progress bar. `before`: the results of rows in earlier batches; `total` includes these rows. */
export function progressBar(
  terminal: Terminal,
  total: number,
  before: { readonly succeeded: number; readonly refused: number; readonly done: number },
): ProgressBar {
  const { errors } = terminal.streams
  const isLive = terminal.isLive && errors.isTTY === true
  const offset = { ...before }
  let lastTenth = ''
  return {
    show(batch) {
      const done = Math.min(total, offset.done + batch.rows.refused + doneOf(batch))
      const full = Math.floor((done / total) * cells)
      const bar = `${'█'.repeat(full)}${'░'.repeat(cells - full)}`
      const succeeded = offset.succeeded + (batch.requests.succeeded ?? 0)
      const counts = fill(texts.csv.progress, { succeeded, total, refused: offset.refused + batch.rows.refused })
      const waits = batch.waitsFor === null ? '' : ` · ${waitLabel(batch.waitsFor.code)}`
      if (isLive) drawOver(errors, `${bar} ${counts}${waits}`, terminal.columns)
      const tenth = `${Math.floor((done * 10) / total)}${waits}`
      if (!isLive && !terminal.json && tenth !== lastTenth) terminal.note(`${counts}${waits}`)
      lastTenth = tenth
    },
    end: () => (isLive ? drawOver(errors) : undefined),
  }
}

/** Counts requests that have ended. */
const doneOf = ({ requests }: Batch): number =>
  Object.entries(requests).reduce((sum, [state, count]) => (open.includes(state) ? sum : sum + count), 0)
const open: readonly string[] = ['pendingApproval', 'queued', 'provisioning']

const waitLabel = (code: string): string =>
  texts.csv.waits[code as keyof typeof texts.csv.waits] ?? texts.csv.waits.unavailable
