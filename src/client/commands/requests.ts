import { findRequest, isId, mailboxKinds, siteKinds } from '../command-line/body.ts'
import { defineCommand, type Scope } from '../command-line/define-command.ts'
import { detailLines } from '../command-line/details.ts'
import { findPerson } from '../command-line/people.ts'
import { addressOf, momentOf, requestLines, states, statusLabel, table, watch } from '../command-line/show.ts'
import { clean, type ExitCode, exitCodes, fill, NotFoundError, texts, UsageError } from '../command-line/terminal.ts'
import type { Client, ProvisioningRequest, ResourceKind } from '../index.ts'

const kinds: readonly ResourceKind[] = [...siteKinds, ...mailboxKinds]
const usualLimit = 20

export const listRequests = defineCommand({
  name: 'request list',
  options: {
    status: { type: 'text', value: '<state>', choices: states },
    kind: { type: 'text', value: '<kind>', choices: kinds },
    'waiting-for-me': { type: 'flag' },
    limit: { type: 'number', value: '<number>' },
  },
  async run(scope, { status, kind, limit = usualLimit, 'waiting-for-me': waits }) {
    const { terminal, signal } = scope
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError(texts.usage.limit, 'request list')
    const client = await scope.client()
    const filter = {
      status,
      kind,
      waitingFor: waits ? ('me' as const) : undefined,
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
      statusLabel(terminal, one),
      texts.kinds[one.kind] ?? clean(one.kind),
      clean(one.details.displayName),
      addressOf(one) ?? '',
    ])
    const { reference, state, kind: ofKind, name, made } = texts.list.heads
    const lines = found.length === 0 ? [texts.list.none] : table([reference, state, ofKind, name, made], rows, terminal)
    terminal.result({ value: found, more: isMore }, lines)
    if (isMore && !terminal.json) terminal.note(fill(texts.list.more, { limit }))
    return exitCodes.done
  },
})

export const showRequest = defineCommand({
  name: 'request show',
  options: {},
  operands: ['request'],
  async run(scope, _, [operand = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const request = await client.getRequest(await findRequest(client, operand, signal), { signal })
    const details = terminal.json ? [] : await detailLines(scope, request)
    terminal.result(request, requestLines(terminal, request, details))
    return exitCodes.done
  },
})

export const showTimeline = defineCommand({
  name: 'request timeline',
  options: {},
  operands: ['request'],
  async run(scope, _, [operand = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const entries = await client.timeline(await findRequest(client, operand, signal), { signal })
    const { at, who, action, comment } = texts.timeline.heads
    const rows = entries.map((entry) => [
      momentOf(entry.at, 'seconds'),
      'kind' in entry.actor ? texts.timeline.system : clean(entry.actor.displayName),
      clean(entry.action),
      entry.comment === undefined ? '' : `“${clean(entry.comment)}”`,
    ])
    terminal.result({ value: entries }, table([at, who, action, comment], rows, terminal))
    return exitCodes.done
  },
})

export const watchRequest = defineCommand({
  name: 'request watch',
  options: { timeout: { type: 'number', value: '<seconds>' } },
  operands: ['request'],
  async run(scope, { timeout }, [operand = '']) {
    if (timeout !== undefined && timeout < 0) throw new UsageError(texts.usage.timeout, 'request watch')
    return watch(scope, await findRequest(await scope.client(), operand, scope.signal), timeout)
  },
})

const commentOption = { comment: { type: 'text', value: '<text>', short: 'm' } } as const
const stageOption = { stage: { type: 'number', value: '<number>' } } as const

type Change = (client: Client, requestId: string) => Promise<ProvisioningRequest>

async function change(scope: Scope, operand: string, doIt: Change): Promise<ExitCode> {
  const client = await scope.client()
  const request = await doIt(client, await findRequest(client, operand, scope.signal))
  scope.terminal.result(request, requestLines(scope.terminal, request))
  return exitCodes.done
}

export const approveRequest = defineCommand({
  name: 'request approve',
  options: { ...commentOption, ...stageOption },
  operands: ['request'],
  run: (scope, values, [operand = '']) =>
    change(scope, operand, (client, id) => client.approve(id, { ...values, signal: scope.signal })),
})

export const rejectRequest = defineCommand({
  name: 'request reject',
  options: { ...commentOption, ...stageOption },
  operands: ['request'],
  async run(scope, { comment, ...values }, [operand = '']) {
    if (comment === undefined) throw new UsageError(texts.usage.commentNeeded, 'request reject')
    return change(scope, operand, (client, id) => client.reject(id, { ...values, comment, signal: scope.signal }))
  },
})

export const cancelRequest = defineCommand({
  name: 'request cancel',
  options: commentOption,
  operands: ['request'],
  run: (scope, values, [operand = '']) =>
    change(scope, operand, (client, id) => client.cancel(id, { ...values, signal: scope.signal })),
})

export const retryRequest = defineCommand({
  name: 'request retry',
  options: commentOption,
  operands: ['request'],
  run: (scope, values, [operand = '']) =>
    change(scope, operand, (client, id) => client.retry(id, { ...values, signal: scope.signal })),
})

export const nudgeRequest = defineCommand({
  name: 'request nudge',
  options: {},
  operands: ['request'],
  async run(scope, _, [operand = '']) {
    const { terminal, signal } = scope
    const exit = await change(scope, operand, (client, id) => client.nudge(id, { signal }))
    if (!terminal.json) terminal.note(texts.nudge.done)
    return exit
  },
})

export const changeAddress = defineCommand({
  name: 'request address',
  options: {},
  operands: ['request', 'address'],
  run: (scope, _, [operand = '', address = '']) =>
    change(scope, operand, (client, id) => client.changeAddress(id, { address, signal: scope.signal })),
})

export const reassignRequest = defineCommand({
  name: 'request reassign',
  options: { from: { type: 'text', value: '<person>' }, ...commentOption },
  operands: ['request', 'person'],
  run: (scope, { from, comment }, [operand = '', person = '']) =>
    change(scope, operand, async (client, id) => {
      const [to, replaced] = await Promise.all([personId(scope, person), from && personId(scope, from)])
      const how = {
        ...(replaced && { from: replaced }),
        ...(comment !== undefined && { comment }),
        signal: scope.signal,
      }
      return client.reassign(id, { to, ...how })
    }),
})

/** The user id of a person by sign-in name or id. Throws {@link UsageError}. */
async function personId(scope: Scope, typed: string): Promise<string> {
  if (isId(typed)) return typed.toLowerCase()
  if (!typed.includes('@')) throw new UsageError(fill(texts.csv.noPerson, { typed: clean(typed) }), 'request reassign')
  return findPerson(scope, typed.trim().toLowerCase())
}

/**
 * Looks up the provisioned group in the directory (API document, "Look up the provisioned group"): once, or with the
 * recommended polls.
 */
export const findGroup = defineCommand({
  name: 'request group',
  options: { wait: { type: 'flag' } },
  operands: ['request'],
  async run(scope, { wait }, [operand = '']) {
    const { terminal, signal } = scope
    const client = await scope.client('groups')
    const requestId = await findRequest(client, operand, signal)
    const group = wait
      ? await client.waitForProvisionedGroup(requestId, { signal, firstSeconds: 0 })
      : await client.findProvisionedGroup(requestId, { signal })
    if (!group) throw new NotFoundError(texts.group.none)
    terminal.result(group, [
      clean(group.displayName),
      ...(group.url === undefined ? [] : [fill(texts.show.made, { made: clean(group.url) })]),
      terminal.style('dim', clean(group.id)),
    ])
    return exitCodes.done
  },
})
