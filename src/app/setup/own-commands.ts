import type { Terminal } from '../../client/command-line/terminal.ts'
import type { Options } from './command-line.ts'
import { settingsFileOf } from './step.ts'

type Which = Pick<Options, 'instance' | 'envFile'>

/** Returns the terminal with lines whose commands are for the installation of this run (see {@link ownCommands}). */
export function withOwnCommands(terminal: Terminal, options: Which): Terminal {
  const own = ownCommands(options)
  return { ...terminal, line: (text) => terminal.line(own(text)), note: (text) => terminal.note(own(text)) }
}

/**
 * Returns a function that adds the instance and the settings file to the command at the end of a text, after a colon.
 * Without them, a copied command would be for another installation: `: npm run setup` → `: npm run setup -- --instance
 * test`, `: npm start` → `: ENV_FILE=.env.test npm start`, on Windows by the syntax of PowerShell.
 */
export function ownCommands({ instance, envFile }: Which, platform = process.platform): (text: string) => string {
  const isWindows = platform === 'win32'
  const quoted = `'${envFile.replaceAll("'", isWindows ? "''" : `'\\''`)}'`
  const named = /^[\w./:+-]+$/.test(envFile) ? envFile : quoted
  const flags = [
    ...(instance === '' ? [] : ['--instance', instance]),
    ...(envFile === settingsFileOf(instance) ? [] : ['--env-file', named]),
  ].join(' ')
  const reading = isWindows ? `$env:ENV_FILE = ${quoted}; ` : `ENV_FILE=${named} `
  return (text) =>
    text
      .replace(/: npm run setup( -- )?/g, (command, more) =>
        flags === '' ? command : `: npm run setup -- ${flags}${more === undefined ? '' : ' '}`,
      )
      .replace(/: (npm (?:start|run check:tenant))/g, (command, plain) =>
        envFile === '.env' ? command : `: ${reading}${plain}`,
      )
}
