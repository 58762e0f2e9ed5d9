import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { completionScript, type Shell, shells } from '../../src/client/command-line/completion.ts'
import { commands } from '../../src/client/commands/index.ts'
import { newHome, runQuartermaster } from '../support/command-line.ts'
import { whereInstalled } from '../support/where-installed.ts'

const home = newHome()
const folder = mkdtempSync(join(tmpdir(), 'completion-'))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
const pathOf = (shell: Shell): string => join(folder, `completion.${shell}`)

/** The input of each shell, and its suggestions. The last part is the one that is typed. */
const cases: readonly (readonly [words: readonly string[], offered: readonly string[], missing: readonly string[]])[] =
  [
    [[''], ['login', 'site', 'mailbox', 'request', 'webhook', 'completion'], ['create', 'nudge']],
    [['request', ''], ['list', 'show', 'nudge', 'retry', 'reassign', 'timeline', 'cancel'], ['login']],
    [['request', 'na'], [], ['nudge']],
    [['request', 'nu'], ['nudge'], ['show']],
    [['mailbox', 'create', '--wh'], ['--whiteboard'], ['--name']],
    [['site', 'create', '--al'], ['--alias'], ['--whiteboard']],
    [['request', 'list', '--status', 'p'], ['pendingApproval', 'provisioning'], ['--kind']],
    [['request', 'list', '--verbose', '--kind', 'room'], ['roomMailbox'], ['--status']],
    [['site', 'create', '--template', ''], [], ['--alias', 'create']],
    [['completion', 'power'], ['powershell'], ['bash']],
  ]

describe('the completion script', () => {
  beforeAll(async () => {
    for (const shell of shells) {
      const { exit, printed, errorText } = await runQuartermaster(['completion', shell], { home })
      expect([exit, errorText, printed]).toEqual([0, '', completionScript(shell, commands)])
      writeFileSync(pathOf(shell), printed)
    }
  })

  /** Programs that complete a line. Each prints one suggestion per line. */
  const complete: Partial<Record<Shell, (words: readonly string[]) => string>> = {
    bash: (words) =>
      execFileSync('bash', [
        ...[
          '--norc',
          '-c',
          `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quartermaster; printf '%s\\n' "\${COMPREPLY[@]}"`,
        ],
        ...[pathOf('bash'), 'quartermaster', ...words],
      ]).toString(),
    zsh: (words) => {
      // Stubs of the shell's completion functions. The shell itself filters by the typed text.
      const stubs = `compdef() { : }; compset() { : }; _files() { : }; _describe() { print -l -- "\${(@P)2}" }`
      const script = `${stubs}; . "$0"; words=("$@"); CURRENT=$#; _quartermaster`
      const all = execFileSync('zsh', ['-f', '-c', script, pathOf('zsh'), 'quartermaster', ...words]).toString()
      return all
        .split('\n')
        .filter((line) => line.startsWith(words.at(-1) ?? ''))
        .join('\n')
    },
    fish: (words) =>
      execFileSync('fish', [
        '--no-config',
        '-c',
        `source $argv[1]; complete -C "$argv[2]"`,
        pathOf('fish'),
        ['quartermaster', ...words].join(' '),
      ]).toString(),
    powershell: (words) => {
      const line = ['quartermaster', ...words].join(' ')
      const script = `. ([scriptblock]::Create((Get-Content -Raw '${pathOf('powershell')}'))); (TabExpansion2 '${line}' ${line.length}).CompletionMatches | Where-Object ResultType -eq ParameterValue | ForEach-Object CompletionText`
      return execFileSync('pwsh', ['-NoProfile', '-Command', script]).toString()
    },
  }
  const programs: Readonly<Record<Shell, string>> = { bash: 'bash', zsh: 'zsh', fish: 'fish', powershell: 'pwsh' }

  describe.each(shells)('for %s', (shell) => {
    whereInstalled(programs[shell], `completion in ${shell}`, () =>
      it('suggests exactly the possible continuations', () => {
        for (const [words, offered, missing] of cases) {
          const found = (complete[shell]?.(words) ?? '').split('\n').map((line) => line.split(/[\t:]/)[0]?.trim() ?? '')
          const about = words.join(' ')
          expect([about, found]).toEqual([about, expect.arrayContaining([...offered])])
          for (const one of missing) expect([about, found]).toEqual([about, expect.not.arrayContaining([one])])
        }
      }),
    )

    it('knows every command, flag and choice', () => {
      const script = completionScript(shell, commands)
      for (const { name, options } of commands) {
        for (const word of name.split(' ')) expect(script).toContain(word)
        for (const [flag, { choices = [] }] of Object.entries(options))
          for (const one of [flag, ...choices]) expect([name, script.includes(one)]).toEqual([name, true])
      }
    })
  })

  whereInstalled('zsh', 'typed text in bash and zsh', () =>
    it('executes nothing that a person has typed, in bash and zsh', () => {
      const typed = ['site', 'create', '--alias', `$(touch ${join(folder, 'ran')})`, '`touch ran`', '']
      for (const shell of ['bash', 'zsh'] as const) complete[shell]?.(typed)
      expect(() => execFileSync('ls', [join(folder, 'ran')], { stdio: 'ignore' })).toThrow()
    }),
  )

  it('has no two keys of a PowerShell table that differ only by case', () => {
    const keys = [...completionScript('powershell', commands).matchAll(/^ {4}('.*?') = /gm)].map(([, key = '']) => key)
    const tables = keys.indexOf("'login --collab-scope'")
    for (const table of [keys.slice(0, tables), keys.slice(tables)])
      expect(new Set(table.map((key) => key.toLowerCase())).size).toBe(table.length)
  })

  it('lists the supported shells for any other shell', async () => {
    const { exit, errorText } = await runQuartermaster(['completion', 'tcsh'], { home })
    expect([exit, errorText]).toEqual([2, expect.stringContaining('bash, zsh, fish, powershell')])
  })
})
