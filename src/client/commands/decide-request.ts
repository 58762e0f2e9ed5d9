import { defineCommand, type Scope, UsageError } from '../command-line/define-command.ts'
import { type ExitCode, exitCodes } from '../command-line/exit-codes.ts'
import { findRequest } from '../command-line/find.ts'
import { requestLines } from '../command-line/show.ts'
import { words } from '../command-line/words.ts'
import type { Client, ProvisioningRequest } from '../index.ts'

const commentOption = { comment: { type: 'text', value: '<text>', short: 'm' } } as const
const stageOption = { stage: { type: 'number', value: '<number>' } } as const

type Change = (client: Client, requestId: string) => Promise<ProvisioningRequest>

async function change(scope: Scope, said: string, doIt: Change): Promise<ExitCode> {
  const client = await scope.client()
  const request = await doIt(client, await findRequest(client, said, scope.signal))
  scope.terminal.result(request, requestLines(scope.terminal, request))
  return exitCodes.done
}

export const approveRequest = defineCommand({
  words: 'request approve',
  options: { ...commentOption, ...stageOption },
  operands: ['request'],
  run: (scope, values, [said = '']) =>
    change(scope, said, (client, id) => client.approve(id, { ...values, signal: scope.signal })),
})

export const rejectRequest = defineCommand({
  words: 'request reject',
  options: { ...commentOption, ...stageOption },
  operands: ['request'],
  async run(scope, { comment, ...values }, [said = '']) {
    if (comment === undefined) throw new UsageError(words.usage.commentNeeded, 'request reject')
    return change(scope, said, (client, id) => client.reject(id, { ...values, comment, signal: scope.signal }))
  },
})

export const cancelRequest = defineCommand({
  words: 'request cancel',
  options: commentOption,
  operands: ['request'],
  run: (scope, values, [said = '']) =>
    change(scope, said, (client, id) => client.cancel(id, { ...values, signal: scope.signal })),
})
