import type { Terminal } from '../../client/command-line/terminal.ts'
import type { Options } from './command-line.ts'
import { settingsFileOf } from './step.ts'

/** Returns the terminal with lines whose commands are for the installation of this run (see {@link ownCommands}). */
export function withOwnCommands(terminal: Terminal, options: Pick<Options, 'instance' | 'envFile'>): Terminal {
  const own = ownCommands(options)
  return { ...terminal, line: (text) => terminal.line(own(text)), note: (text) => terminal.note(own(text)) }
}

/**
 * Returns a function that adds the instance and the settings file to the commands in a text. Without them, a copied
 * command would be for another installation: `npm run setup` → `npm run setup -- --instance test`, `npm start` →
 * `ENV_FILE=.env.test npm start`.
 */
export function ownCommands({ instance, envFile }: Pick<Options, 'instance' | 'envFile'>): (text: string) => string {
  const named = /^[\w./@:+-]+$/.test(envFile) ? envFile : `'${envFile.replaceAll("'", `'\\''`)}'`
  const flags = [
    ...(instance === '' ? [] : ['--instance', instance]),
    ...(envFile === settingsFileOf(instance) ? [] : ['--env-file', named]),
  ].join(' ')
  const reading = envFile === '.env' ? '' : `ENV_FILE=${named} `
  return (text) =>
    text
      .replace(/npm run setup( -- )?/g, (command, more) =>
        flags === '' ? command : `npm run setup -- ${flags}${more === undefined ? '' : ' '}`,
      )
      .replace(/npm (?:start|run check:tenant)/g, (command) => `${reading}${command}`)
}
