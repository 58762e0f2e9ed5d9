import { isOver, type ProvisioningRequest, StillUnderWayError } from '../index.ts'
import type { Scope } from './define-command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { endLines, endOf, requestLines, stateOf, stepLine, stepWords, titleOf } from './show.ts'
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
  const erase = () => output.write('\r\u001b[2K')
  // Styles would count as width.
  const plain: Scope['terminal'] = { ...terminal, style: (_, text) => text }
  return {
    whole: false,
    show(request) {
      const ticks = request.steps.map((step) => [...stepLine(plain, step)][0]).join('')
      const running = request.steps.find(({ status }) => status === 'running')
      const now = running ? stepWords(running) : stateOf(plain, request)
      const line = [...`${titleOf(request)}  ${ticks} ${now}`].slice(0, terminal.columns - 1).join('')
      erase()
      output.write(line)
    },
    end: () => void erase(),
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
