import { createSecretKey, randomUUID } from 'node:crypto'
import {
  type AuditEntry,
  type ChainedEntry,
  chain,
  headOf,
  newEntryOf,
  type SealedHead,
  type StoredChain,
  sealOf,
  system,
  verify,
} from '../../src/core/index.ts'
import { requestOf } from './card-requests.ts'
import { dana, kim, tenantId } from './card-world.ts'

/** A valid chain, with the request of its last entry. */
export interface Written extends StoredChain {
  readonly entries: readonly ChainedEntry[]
  readonly head: SealedHead
}

export const auditKey = Buffer.alloc(32, 7)
export const sealingKey = createSecretKey(auditKey)

/** Returns the findings of the proof, by kind and place. */
export const found = (stored: StoredChain): string[] => {
  const { head, requestId } = stored
  const isSealed = head !== null && head.seal === sealOf(sealingKey, requestId, head)
  return verify(stored, isSealed).map(({ kind, entry }) => (entry === null ? kind : `${kind} ${entry}`))
}

/** Creates a chain with a number of entries, by changes of one or two entries each. */
export function chainOf(count: number, random: () => number): Written {
  const requestId = randomUUID()
  const from = () => (['chat', 'rest', 'job'] as const)[Math.floor(random() * 3)] ?? 'job'
  let entries: ChainedEntry[] = []
  let version = 0
  let request = requestOf({ requestId, version, number: 0 })
  while (entries.length < count) {
    const before = version === 0 ? undefined : request
    version += 1
    request = requestOf({ requestId, version, number: 1042, status: 'rejected', reason: `${random()}` })
    const additions: AuditEntry[] = [
      {
        ...{ requestId, tenantId, at: new Date(1.8e12 + version * 1000).toISOString() },
        actor: random() < 0.5 ? system : random() < 0.5 ? person(kim) : person(dana),
        action: `action-${Math.floor(random() * 5)}`,
        ...(random() < 0.5 && { comment: `Comment ${random()}` }),
        ...(random() < 0.5 && { data: { z: random(), a: [version, null, { y: 1, b: 'ü\u2028' }] } }),
      },
    ]
    if (random() < 0.3)
      additions.push({
        ...additions[0],
        requestId,
        tenantId,
        at: new Date(1.8e12).toISOString(),
        actor: system,
        action: 'also',
      })
    const origin = { from: from(), ...(random() < 0.7 && { trace: randomUUID() }) }
    const state =
      random() < 0.8 || entries.length + additions.length >= count ? { version, before, after: request } : undefined
    entries = [...entries, ...chain(entries.at(-1), additions.map(newEntryOf), origin, state)]
  }
  const head = headOf(sealingKey, entries, true)
  if (!head) throw new Error('a chain has an entry')
  const { status } = request
  return { requestId, entries, head, request: { tenantId, version, status, body: asStored(request) } }
}

const person = ({ id, displayName, userPrincipalName }: typeof kim) => ({ id, displayName, userPrincipalName })
const asStored = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value))

/** Returns another value of the same kind. */
export function another(value: unknown, random: () => number): unknown {
  if (typeof value === 'number') return value + 1 + Math.floor(random() * 3)
  if (typeof value === 'string') {
    const place = Math.floor(random() * value.length)
    return `${value.slice(0, place)}${value.charAt(place) === 'a' ? 'b' : 'a'}${value.slice(place + 1)}`
  }
  if (value === null) return 'a'
  return { ...Object(value), comment: `Another ${random()}` }
}
