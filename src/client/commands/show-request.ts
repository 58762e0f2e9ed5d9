import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { findRequest } from '../command-line/find.ts'
import { requestLines } from '../command-line/show.ts'

export const showRequest = defineCommand({
  words: 'request show',
  options: {},
  operands: ['request'],
  async run(scope, _, [said = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const request = await client.getRequest(await findRequest(client, said, signal), { signal })
    terminal.result(request, requestLines(terminal, request))
    return exitCodes.done
  },
})
