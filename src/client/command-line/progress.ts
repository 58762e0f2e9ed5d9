import { type Batch, isOver, type ProvisioningRequest, StillUnderWayError } from '../index.ts'
import type { Scope } from './define-command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { endLines, endOf, requestLines, stateOf, stepLine, stepWords, titleOf } from './show.ts'
import type { Output, Terminal } from './terminal.ts'
import { fill, words } from './words.ts'

/**
 * Follows a request to its end: one line that is drawn over on a terminal, a line for each thing that happens elsewhere, a JSON
 * value for each change with `--json`. Gives how it ended.
 */
export async function watch(
  scope: Pick<Scope, 'terminal' | 'signal' | 'client'>,
  requestId: string,
  timeoutSeconds?: number,
): Promise<ExitCode> {
  const { terminal, signal } = scope
  const client = await scope.client()
  const progress = progressOf(scope)
  try {
    const request = await client.waitForRequest(requestId, {
      signal,
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      onChange: (changed) => progress.show(changed),
    })
    progress.end()
    if (!terminal.json)
      for (const line of progress.whole ? endLines(terminal, request) : requestLines(terminal, request))
        terminal.line(line)
    return endOf(request)
  } catch (error) {
    progress.end()
    if (!(error instanceof StillUnderWayError)) throw error
    if (!terminal.json) terminal.note(fill(words.watch.stillUnderWay, { reference: error.request.reference }))
    return exitCodes.stillUnderWay
  }
}

interface Progress {
  /** What was shown is still there to be read. */
  readonly whole: boolean
  show(request: ProvisioningRequest): void
  end(): void
}

function progressOf({ terminal }: Pick<Scope, 'terminal'>): Progress {
  if (terminal.json) return { whole: true, show: (request) => terminal.result(request, []), end: () => undefined }
  return terminal.isLive ? liveLine(terminal) : plainLines(terminal)
}

/** `REQ-1042 Apollo  ✓✓…· adding the owners` on one line, never longer than the terminal is wide. */
function liveLine(terminal: Scope['terminal']): Progress {
  const { output } = terminal.streams
  // Styles would count as width.
  const plain: Scope['terminal'] = { ...terminal, style: (_, text) => text }
  return {
    whole: false,
    show(request) {
      const ticks = request.steps.map((step) => [...stepLine(plain, step)][0]).join('')
      const running = request.steps.find(({ status }) => status === 'running')
      const now = running ? stepWords(running) : stateOf(plain, request)
      drawOver(output, `${titleOf(request)}  ${ticks} ${now}`, terminal.columns)
    },
    end: () => drawOver(output),
  }
}

/** What is new since the last time: the state, and each step that is done or has failed. */
function plainLines(terminal: Scope['terminal']): Progress {
  const said = new Set<string>()
  const once = (key: string, line: () => string) => {
    if (said.has(key)) return
    said.add(key)
    terminal.line(line())
  }
  let status = ''
  const showState = (request: ProvisioningRequest) => {
    if (request.status !== status) terminal.line(`${titleOf(request)}  ${stateOf(terminal, request)}`)
    status = request.status
  }
  return {
    whole: true,
    show(request) {
      if (!isOver(request)) showState(request)
      for (const step of request.steps)
        if (step.status === 'done' || step.status === 'failed')
          once(`${step.name} ${step.status} ${step.attempts}`, () => `  ${stepLine(terminal, step)}`)
      showState(request)
    },
    end: () => undefined,
  }
}

/** Draws a text over the line that was drawn before, never longer than the terminal is wide. No text erases the line. */
function drawOver(output: Output, text = '', columns = 0): void {
  output.write(`\r\u001b[2K${[...text].slice(0, Math.max(0, columns - 1)).join('')}`)
}

/** How far a list is. On a terminal a line that is drawn over; elsewhere a line for each tenth. */
export interface ProgressBar {
  show(batch: Batch): void
  end(): void
}
const cells = 24

/** `before`: how many of `total` were done by batches before this one. */
export function progressBar(terminal: Terminal, total: number, before: number): ProgressBar {
  const { errors } = terminal.streams
  const isLive = terminal.isLive && errors.isTTY === true
  let said = ''
  return {
    show(batch) {
      const { succeeded = 0 } = batch.requests
      const done = before + batch.rows.refused + doneOf(batch)
      const full = Math.floor((done / total) * cells)
      const bar = `${'█'.repeat(full)}${'░'.repeat(cells - full)}`
      const counts = fill(words.csv.progress, { made: before + succeeded, total, refused: batch.rows.refused })
      const waits = batch.waitsFor === null ? '' : ` · ${waitWords(batch.waitsFor.code)}`
      if (isLive) drawOver(errors, `${bar} ${counts}${waits}`, terminal.columns)
      const tenth = `${Math.floor((done * 10) / total)}${waits}`
      if (!isLive && !terminal.json && tenth !== said) terminal.note(`${counts}${waits}`)
      said = tenth
    },
    end: () => (isLive ? drawOver(errors) : undefined),
  }
}

/** Requests that nothing more happens to by itself. */
const doneOf = ({ requests }: Batch): number =>
  Object.entries(requests).reduce((sum, [state, count]) => (open.includes(state) ? sum : sum + count), 0)
const open: readonly string[] = ['pendingApproval', 'queued', 'provisioning']

const waitWords = (code: string): string =>
  words.csv.waits[code as keyof typeof words.csv.waits] ?? words.csv.waits.unavailable
