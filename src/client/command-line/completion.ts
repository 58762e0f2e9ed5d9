import type { Command, OptionSpec, OptionSpecs } from './define-command.ts'
import { commonOptions, helpOf } from './program.ts'
import { texts } from './terminal.ts'

/** The shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** A text that can be typed next, with its description. */
interface Suggestion {
  readonly word: string
  readonly help: string
}
/** The value after a flag: no value, one of several values, a file, or any text. */
type Takes = 'nothing' | 'file' | 'text' | readonly string[]
interface FlagOf extends Suggestion {
  /** `-f` */
  readonly short: string | undefined
  readonly takes: Takes
}
/** The possible continuations of a command line: after `''`, `site`, `site create`. */
interface Place {
  readonly at: string
  readonly words: readonly Suggestion[]
  readonly flags: readonly FlagOf[]
}

/**
 * Writes the completion script of a shell. The script knows all commands, flags and choices: it starts no program and
 * evaluates nothing that was typed.
 */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const places = placesOf(commands)
  return `${writers[shell](places).join('\n')}\n`
}

const fileFlags: readonly string[] = ['csv', 'file']

function placesOf(commands: readonly Command[]): Place[] {
  const starts = new Set(
    commands.flatMap(({ name }) => name.split(' ').map((_, end, all) => all.slice(0, end).join(' '))),
  )
  const groups = [...starts].map((at): Place => {
    const inside = commands.filter(({ name }) => at === '' || name.startsWith(`${at} `))
    const words = new Map<string, Suggestion>()
    for (const { name } of inside) {
      const [word = ''] = name.slice(at === '' ? 0 : at.length + 1).split(' ')
      const whole = at === '' ? word : `${at} ${word}`
      const help = name === whole ? summaryOf(name) : `${word} …`
      words.set(word, { word, help })
    }
    return { at, words: [...words.values()], flags: [] }
  })
  const leaves = commands.map((command): Place => {
    const { name: at, operandChoices, options } = command
    const flags = Object.entries<OptionSpec>({ ...options, ...commonOptions } satisfies OptionSpecs).map(
      ([name, { choices, ...spec }]): FlagOf => ({
        word: `--${name}`,
        short: spec.short === undefined ? undefined : `-${spec.short}`,
        help: helpOf(name.replace(/^no-/, ''), spec, command),
        takes: choices ?? (spec.type === 'flag' ? 'nothing' : fileFlags.includes(name) ? 'file' : 'text'),
      }),
    )
    const help = { word: '--help', short: '-h', help: texts.help.help, takes: 'nothing' } as const
    return { at, words: operandChoices.map((word) => ({ word, help: '' })), flags: [...flags, help] }
  })
  return [...groups, ...leaves]
}

const summaryOf = (name: string): string => texts.commands[name as keyof typeof texts.commands].summary

const typedForms = ({ word, short }: FlagOf): string[] => (short === undefined ? [word] : [word, short])
/** Returns all flags with a value, as `<place> <flag>`, with the value. */
const valued = (places: readonly Place[]) =>
  places.flatMap(({ at, flags }) =>
    flags
      .filter(({ takes }) => takes !== 'nothing')
      .map((flag) => ({ keys: typedForms(flag).map((form) => `${at} ${form}`), takes: flag.takes })),
  )

/** Quotes a text as one argument of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const inFish = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const inPowerShell = (text: string): string => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`

const writers: Readonly<Record<Shell, (places: readonly Place[]) => string[]>> = {
  bash: (places) => [
    '# Completion of quartermaster for bash.',
    '_quartermaster() {',
    `  local word command='' current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" words=''`,
    // Bash splits `--flag=value` into `--flag`, `=` and the value.
    `  if [[ $current == '=' ]]; then current=''`,
    `  elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi`,
    '  COMPREPLY=()',
    `  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do`,
    `    case "\${command:+$command }$word" in`,
    ...commandCases(places).map(
      (keys) => `      ${keys.map(quoted).join(' | ')}) command="\${command:+$command }$word" ;;`,
    ),
    '    esac',
    '  done',
    '  case "$command $previous" in',
    ...valueCases(places, {
      values: (list) => `COMPREPLY=($(compgen -W ${quoted(list.join(' '))} -- "$current")); return`,
      file: 'compopt -o default; return',
      text: 'return',
    }),
    '  esac',
    '  case "$command" in',
    ...places.map(
      ({ at, words, flags }) =>
        `    ${quoted(at)}) words=${quoted([...words, ...flags].map(({ word }) => word).join(' '))} ;;`,
    ),
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -F _quartermaster quartermaster',
  ],
  zsh: (places) => [
    '#compdef quartermaster',
    '# Completion of quartermaster for zsh.',
    '_quartermaster() {',
    `  local word command='' previous="\${words[CURRENT - 1]}"`,
    '  local -a found values',
    `  if [[ \${words[CURRENT]} == --*=* ]]; then previous="\${words[CURRENT]%%=*}"; compset -P '*='; fi`,
    `  for word in "\${(@)words[2,CURRENT - 1]}"; do`,
    `    case "\${command:+$command }$word" in`,
    ...commandCases(places).map(
      (keys) => `      (${keys.map(quoted).join('|')}) command="\${command:+$command }$word" ;;`,
    ),
    '    esac',
    '  done',
    '  case "$command $previous" in',
    ...valueCases(places, {
      values: (list) => `values=(${list.map(quoted).join(' ')}); _describe value values; return`,
      file: '_files; return',
      text: 'return',
    }),
    '  esac',
    '  case "$command" in',
    ...places.map(
      ({ at, words, flags }) =>
        `    ${quoted(at)}) found=(${[...words, ...flags]
          .map(({ word, help }) =>
            quoted(help === '' ? word : `${word}:${help.replaceAll('\\', '\\\\').replaceAll(':', '\\:')}`),
          )
          .join(' ')}) ;;`,
    ),
    '  esac',
    '  _describe quartermaster found',
    '}',
    // The first form is for a file in $fpath, the second one for eval.
    `if [[ \${funcstack[1]} == _quartermaster ]]; then _quartermaster "$@"; else compdef _quartermaster quartermaster; fi`,
  ],
  fish: (places) => [
    '# Completion of quartermaster for fish.',
    'function __quartermaster_at',
    '  set -l command',
    '  for word in (commandline -opc)[2..-1]',
    '    switch (string trim -- "$command $word")',
    `      case ${commandCases(places).flat().map(inFish).join(' ')}`,
    '        set -a command $word',
    '    end',
    '  end',
    '  test "$command" = "$argv"',
    'end',
    'complete -c quartermaster -f',
    ...places.flatMap(({ at, words, flags }) => {
      const start = `complete -c quartermaster -n ${inFish(`__quartermaster_at ${at}`.trim())}`
      return [
        ...words.map(({ word, help }) => `${start} -a ${inFish(word)}${help && ` -d ${inFish(help)}`}`),
        ...flags.map(({ word, short, help, takes }) => {
          const value = { nothing: '', file: ' -r -F', text: ' -x' }[String(takes)]
          const values = value ?? ` -x -a ${inFish(String(typeof takes === 'string' ? '' : takes.join(' ')))}`
          return `${start} -l ${word.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}${values} -d ${inFish(help)}`
        }),
      ]
    }),
  ],
  powershell: (places) => [
    '# Completion of quartermaster for PowerShell.',
    "Register-ArgumentCompleter -Native -CommandName @('quartermaster', 'quartermaster.cmd', 'quartermaster.ps1') -ScriptBlock {",
    '  param($wordToComplete, $commandAst, $cursorPosition)',
    '  $places = @{',
    ...places.map(({ at, words, flags }) => {
      const all = [...words, ...flags].map(
        ({ word, help }) => `@(${inPowerShell(word)}, ${inPowerShell(help || word)})`,
      )
      return `    ${inPowerShell(at)} = @(${all.map((one) => `,${one}`).join('; ')})`
    }),
    '  }',
    '  $values = @{',
    ...valued(places).flatMap(({ keys, takes }) => {
      const list = typeof takes === 'string' ? [] : takes
      return keys.map((key) => `    ${inPowerShell(key)} = @(${list.map(inPowerShell).join(', ')})`)
    }),
    '  }',
    "  $command = ''",
    "  $previous = ''",
    '  foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {',
    '    if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete) { break }',
    '    $previous = $element.ToString()',
    '    $next = "$command $previous".Trim()',
    '    if ($places.ContainsKey($next)) { $command = $next }',
    '  }',
    '  $key = "$command $previous"',
    '  if ($values.ContainsKey($key)) { $found = @(foreach ($value in $values[$key]) { ,@($value, $value) }) }',
    '  else { $found = $places[$command] }',
    '  foreach ($one in $found) {',
    '    if (-not $one[0].StartsWith($wordToComplete)) { continue }',
    "    [System.Management.Automation.CompletionResult]::new($one[0], $one[0], 'ParameterValue', $one[1])",
    '  }',
    '}',
  ],
}

/** Returns the cases for complete commands and for the starts of commands, one case for each length. */
function commandCases(places: readonly Place[]): string[][] {
  const known = places.map(({ at }) => at).filter((at) => at !== '')
  return [known.filter((at) => !at.includes(' ')), known.filter((at) => at.includes(' '))].filter(
    (some) => some.length > 0,
  )
}

interface ValueForms {
  readonly values: (list: readonly string[]) => string
  readonly file: string
  readonly text: string
}
/** Returns the cases of a POSIX shell for the value after a flag. */
function valueCases(places: readonly Place[], { values, file, text }: ValueForms): string[] {
  const byForm = new Map<string, string[]>()
  for (const { keys, takes } of valued(places)) {
    const form = takes === 'file' ? file : typeof takes === 'string' ? text : values(takes)
    byForm.set(form, [...(byForm.get(form) ?? []), ...keys])
  }
  return [...byForm].map(([form, keys]) => `    ${keys.map(quoted).join('|')}) ${form} ;;`)
}
