import { completionScript, shells } from '../command-line/completion.ts'
import { type Command, defineCommand } from '../command-line/define-command.ts'
import { exitCodes, fill, texts, UsageError } from '../command-line/terminal.ts'

/** Prints the completion script of a shell, with all commands. */
export const completionOf = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    options: {},
    operands: ['shell'],
    operandChoices: shells,
    async run({ terminal }, _, [operand = '']) {
      const shell = shells.find((one) => one === operand.toLowerCase())
      if (!shell) {
        const values = { option: '<shell>', value: operand, choices: shells.join(', ') }
        throw new UsageError(fill(texts.usage.noChoice, values), 'completion')
      }
      const script = completionScript(shell, commands())
      terminal.result({ shell, script }, [script.trimEnd()])
      return exitCodes.done
    },
  })
