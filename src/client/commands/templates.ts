import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { table } from '../command-line/show.ts'
import { clean } from '../command-line/terminal.ts'
import { words } from '../command-line/words.ts'

export const templates = defineCommand({
  words: 'templates',
  options: {},
  async run(scope) {
    const { terminal, signal } = scope
    const found = [...(await (await scope.client()).templates({ signal }))].sort(
      (one, other) => one.order - other.order,
    )
    const rows = found.map((one) => {
      const approval = 'approvalRequired' in one ? one.approvalRequired : one.approval !== null
      const kind = words.kinds[one.kind] ?? clean(one.kind)
      return [one.id, clean(one.name), kind, approval ? words.templates.approval : '', clean(one.description)]
    })
    const { id, name, kind, approval, description } = words.templates.heads
    const none = [words.templates.none]
    const lines = found.length === 0 ? none : table([id, name, kind, approval, description], rows, terminal)
    terminal.result({ value: found }, lines)
    return exitCodes.done
  },
})
