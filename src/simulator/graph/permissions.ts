import { type Call, type Operation, Refused } from '../tenant/index.ts'
import table from './permissions.json' with { type: 'json' }
import { graphError } from './wire.ts'

interface Accepted {
  readonly application: readonly string[]
  readonly delegated: readonly string[]
}
const callOf: Readonly<Record<string, string>> = table.operations
const accepted: Readonly<Record<string, Accepted>> = table.calls

/** Returns what Graph accepts for an operation of the simulator, without the marks of the least privileged. */
export function acceptedFor(operation: string): Accepted | undefined {
  const entry = accepted[callOf[operation] ?? '']
  const plain = (names: readonly string[]) => names.map((name) => name.replace('*', ''))
  return entry && { application: plain(entry.application), delegated: plain(entry.delegated) }
}

/** Refuses callers without one of the permissions that Microsoft's table lists for the operation. */
export function permitted(one: Operation): Operation {
  const entry = acceptedFor(one.name)
  if (!entry) throw new Error(`graph/permissions.json has no entry for ${one.name}.`)
  return {
    ...one,
    handle: (call) => {
      const names = call.caller.appOnly ? entry.application : entry.delegated
      if (call.caller.permissions.some((name) => names.includes(name))) return one.handle(call)
      throw new Refused(refusalOf(call, names))
    },
  }
}

/** The directory, sites and Teams each word the same refusal differently. */
function refusalOf(call: Call, names: readonly string[]) {
  if (call.path.includes('/teamwork/')) {
    const has = call.caller.permissions.filter((name) => name.includes('.')).join(', ')
    const message = `Missing role permissions on the request. API requires one of '${names.join(', ')}'. Roles on the request '${has}'.`
    return graphError(call, 403, 'Forbidden', message)
  }
  if (/\/sites(\/|$)/.test(call.path)) return graphError(call, 403, 'accessDenied', 'Access denied')
  return graphError(call, 403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
}
