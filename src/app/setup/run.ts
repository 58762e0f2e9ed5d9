import { createTerminal, type Terminal } from '../../client/command-line/terminal.ts'
import { isCancelled } from './administrator.ts'
import { type Options, parseOptions } from './command-line.ts'
import { withOwnCommands } from './own-commands.ts'
import { explained, SetupProblem } from './problem.ts'
import { type Progress, type SetupEnvironment, Stopped, setUp } from './session.ts'
import texts from './strings.json' with { type: 'json' }

const exits = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const

/** Runs setup, and returns the exit code of the process. */
export async function runSetup(environment: SetupEnvironment): Promise<number> {
  const { args, variables, streams, signal } = environment
  const colours = !variables['NO_COLOR'] && variables['TERM'] !== 'dumb'
  const terminal = createTerminal(streams, { json: false, colours })
  let options: Options
  try {
    const parsed = parseOptions(args, (text) => void streams.output.write(text))
    if (typeof parsed === 'number') return parsed
    options = parsed
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    terminal.note(error.message)
    terminal.note(error.remedy)
    return exits.usage
  }
  const own = withOwnCommands(terminal, options)
  const progress: Progress = { about: undefined }
  try {
    await setUp(environment, options, own, progress)
    return exits.done
  } catch (error) {
    if (error instanceof Stopped) {
      own.note(error.message)
      return exits.failed
    }
    if (signal.aborted || isCancelled(error)) {
      own.note(`\n${texts.run.interrupted}`)
      return exits.interrupted
    }
    for (const line of linesOf(explained(error, progress.about), own)) own.note(line)
    return exits.failed
  }
}

function linesOf({ message, remedy, detail }: SetupProblem, { style }: Terminal): string[] {
  const details = detail === '' ? [] : detail.split('\n').map((line) => style('dim', `  ${line}`))
  return ['', `${style('red', '✗')} ${style('bold', message)}`, ...details, remedy, texts.run.resume]
}
