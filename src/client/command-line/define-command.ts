import type { Client } from '../index.ts'
import type { DirectoryPart, Overrides, SavedService, Sessions, Settings, Variables } from './settings.ts'
import type { ExitCode, Terminal } from './terminal.ts'

/** The value of a flag. A `list` may be repeated; a `flag` has no value. */
export interface OptionSpec {
  readonly type: 'text' | 'number' | 'flag' | 'list'
  /** The placeholder in the help: `<id>`. */
  readonly value?: string
  readonly short?: string
  readonly choices?: readonly string[]
}
export type OptionSpecs = Readonly<Record<string, OptionSpec>>

type ValueOf<S extends OptionSpec> = S['type'] extends 'flag'
  ? boolean
  : S['type'] extends 'list'
    ? readonly string[]
    : S['type'] extends 'number'
      ? number
      : S extends { readonly choices: readonly (infer C)[] }
        ? C
        : string
type ValuesOf<O extends OptionSpecs> = { readonly [N in keyof O]?: ValueOf<O[N]> }

export interface Scope {
  readonly settings: Settings
  /** Settings of this call, and settings that are saved for the service. */
  readonly overrides: Overrides
  readonly known: SavedService
  readonly variables: Variables
  readonly fetch: typeof fetch
  readonly sessions: Sessions
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** Returns a client for the signed-in person. `reads`: the part of the directory that it reads; `users` by default. */
  client(reads?: DirectoryPart): Promise<Client>
}

/** A command. Its texts are under its name in `strings/en.json`. */
export interface Command {
  readonly name: string
  readonly options: OptionSpecs
  /** Names of the operands; all are required. */
  readonly operands: readonly string[]
  /** The values of the only operand, if they are known. */
  readonly operandChoices: readonly string[]
  run(scope: Scope, values: Readonly<Record<string, unknown>>, operands: readonly string[]): Promise<ExitCode>
}

interface CommandSpec<O extends OptionSpecs> {
  readonly name: string
  readonly options: O
  readonly operands?: readonly string[]
  readonly operandChoices?: readonly string[]
  run(scope: Scope, values: ValuesOf<O>, operands: readonly string[]): Promise<ExitCode>
}

export function defineCommand<const O extends OptionSpecs>(spec: CommandSpec<O>): Command {
  return {
    name: spec.name,
    options: spec.options,
    operands: spec.operands ?? [],
    operandChoices: spec.operandChoices ?? [],
    // The values were read by these options.
    run: (scope, values, operands) => spec.run(scope, values as ValuesOf<O>, operands),
  }
}

/** Returns the registry of all commands. Throws for two commands with one name. */
export function commandRegistry(...commands: readonly Command[]): readonly Command[] {
  const names = new Set<string>()
  for (const { name } of commands) {
    if (names.has(name)) throw new Error(`two commands have the name ${name}`)
    names.add(name)
  }
  return commands
}
