import { defineCommand, UsageError } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { mailboxKinds, siteKinds } from '../command-line/find.ts'
import { madeOf, stateOf, table } from '../command-line/show.ts'
import { clean } from '../command-line/terminal.ts'
import { fill, words } from '../command-line/words.ts'
import type { ProvisioningRequest, RequestState, ResourceKind } from '../index.ts'

const states = Object.keys(words.states) as readonly RequestState[]
const kinds: readonly ResourceKind[] = [...siteKinds, ...mailboxKinds]
const usualLimit = 20

export const listRequests = defineCommand({
  words: 'request list',
  options: {
    status: { type: 'text', value: '<state>', choices: states },
    kind: { type: 'text', value: '<kind>', choices: kinds },
    'waiting-for-me': { type: 'flag' },
    limit: { type: 'number', value: '<number>' },
  },
  async run(scope, { status, kind, limit = usualLimit, 'waiting-for-me': waits }) {
    const { terminal, signal } = scope
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError(words.usage.limit, 'request list')
    const client = await scope.client()
    const filter = {
      ...(status && { status }),
      ...(kind && { kind }),
      ...(waits && { waitingFor: 'me' as const }),
      limit: Math.min(limit, 100),
    }
    const found: ProvisioningRequest[] = []
    let isMore = false
    for await (const request of client.allRequests(filter, { signal })) {
      isMore = found.length === limit
      if (isMore) break
      found.push(request)
    }
    const rows = found.map((one) => [
      clean(one.reference),
      stateOf(terminal, one),
      words.kinds[one.kind] ?? clean(one.kind),
      clean(one.details.displayName),
      madeOf(one) ?? '',
    ])
    const { reference, state, kind: ofKind, name, made } = words.list.heads
    const lines = found.length === 0 ? [words.list.none] : table([reference, state, ofKind, name, made], rows, terminal)
    terminal.result({ value: found, more: isMore }, lines)
    if (isMore && !terminal.json) terminal.note(fill(words.list.more, { limit }))
    return exitCodes.done
  },
})
