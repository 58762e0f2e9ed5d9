import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { findRequest, NotFoundError } from '../command-line/find.ts'
import { clean } from '../command-line/terminal.ts'
import { fill, words } from '../command-line/words.ts'

/** The provisioned group in the directory (API document, "Look up the provisioned group"): one look, or the waiting it recommends. */
export const findGroup = defineCommand({
  words: 'request group',
  options: { wait: { type: 'flag' } },
  operands: ['request'],
  async run(scope, { wait }, [said = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const requestId = await findRequest(client, said, signal)
    const group = wait
      ? await client.waitForProvisionedGroup(requestId, { signal, firstSeconds: 0 })
      : await client.findProvisionedGroup(requestId, { signal })
    if (!group) throw new NotFoundError(words.group.none)
    terminal.result(group, [
      clean(group.displayName),
      ...(group.url === undefined ? [] : [fill(words.show.made, { made: clean(group.url) })]),
      terminal.style('dim', clean(group.id)),
    ])
    return exitCodes.done
  },
})
