import type { AuditEntry, Delegation, Ports, Request } from '../../src/core/index.ts'

/** The changes of one transaction to one request. */
export interface Written {
  readonly before: Request | undefined
  readonly after: Request
  readonly recorded: readonly AuditEntry[]
}

const unexpected = (what: string) => (): never => {
  throw new Error(`nobody expected ${what}`)
}

/**
 * Creates a store in memory, fast enough for tens of thousands of changes, that records the changes of each
 * transaction. A transaction that throws leaves no change. Transactions run one at a time, so each lock is free.
 */
export function storeInMemory(): Pick<
  Ports,
  'work' | 'requests' | 'audit' | 'reservations' | 'deliveries' | 'sentCards' | 'jobs' | 'conversations' | 'delegations'
> & {
  readonly written: Written[]
  /** Audit entries of refused attempts. */
  readonly refused: AuditEntry[]
  put(request: Request): void
  /** Ids of people without an open chat with the bot. */
  readonly lost: Set<string>
} {
  const requests = new Map<string, Request>()
  const names = new Map<string, string>()
  const written: Written[] = []
  const refused: AuditEntry[] = []
  const lost = new Set<string>()
  const away = new Map<string, Delegation>()
  const current = (at: string) => [...away.values()].filter(({ until }) => until > at)
  let changed: Map<string, { before: Request | undefined; after: Request }> | undefined
  let recorded: AuditEntry[] = []
  const open = () => changed ?? unexpected('a change outside of a transaction')()
  const write = (request: Request) => {
    const before = open().get(request.requestId)?.before ?? requests.get(request.requestId)
    open().set(request.requestId, { before, after: request })
  }
  const now = (id: string) => changed?.get(id)?.after ?? requests.get(id)
  return {
    written,
    refused,
    lost,
    put: (request) => void requests.set(request.requestId, request),
    work: {
      // Only submissions lock and end with a statement.
      hold: unexpected('a lock'),
      endingWith: unexpected('a last statement'),
      async transaction(work) {
        if (changed) return work()
        changed = new Map()
        recorded = []
        try {
          const result = await work()
          for (const [id, { before, after }] of changed) {
            written.push({ before, after, recorded: recorded.filter(({ requestId }) => requestId === id) })
            requests.set(id, after)
          }
          const tried = recorded.filter(({ action }) => action === 'refused')
          refused.push(...tried)
          if (changed.size === 0 && recorded.length > tried.length)
            throw new Error('the timeline tells of a change that was none')
          return result
        } finally {
          changed = undefined
        }
      },
    },
    requests: {
      insert: async (request) => {
        write(request)
        return request
      },
      find: async (id) => now(id),
      lastCreated: async () => undefined,
      lock: async (id) => now(id),
      update: async (request) => {
        if (now(request.requestId)?.version !== request.version - 1) throw new Error('somebody else wrote first')
        write(request)
      },
      findByNumber: unexpected('findByNumber'),
      list: async () => [...requests.values()].slice(-1),
      statuses: unexpected('statuses'),
      versions: unexpected('versions'),
      count: unexpected('count'),
      overdue: unexpected('overdue'),
      waitingBut: unexpected('waitingBut'),
      countOpen: async () => 0,
      sentSince: unexpected('sentSince'),
      countOfTemplate: async () => 0,
      countByState: unexpected('countByState'),
    },
    audit: {
      append: async (entries) => {
        open()
        // Entries without a request have their own chain.
        recorded.push(...entries.filter(({ requestId, tenantId }) => requestId !== tenantId))
      },
      timeline: async () => [],
      prove: unexpected('prove'),
      erase: unexpected('erase'),
    },
    reservations: {
      reserve: async (_, some, requestId) => {
        for (const name of some) names.set(name, requestId)
        return []
      },
      holder: async (_, name) => names.get(name),
      release: async () => undefined,
    },
    deliveries: {
      insert: async () => undefined,
      find: unexpected('find'),
      lock: unexpected('lock'),
      update: unexpected('update'),
      list: unexpected('list'),
      tally: unexpected('tally'),
      countFailed: unexpected('countFailed'),
      forgetOld: unexpected('forgetOld'),
    },
    sentCards: {
      ofRequest: async () => [],
      find: async () => undefined,
      claim: async () => true,
      takeOver: unexpected('takeOver'),
      release: unexpected('release'),
      put: async () => undefined,
      bundle: async (cards) => cards.map(({ requestId }) => requestId),
      noteShown: async () => undefined,
      forgetActivity: async () => undefined,
      remove: async () => undefined,
      ofBundle: async () => [],
      dropBundle: async () => [],
      ofPerson: async () => [],
      unsentLinks: async () => [],
      roomInBundles: async () => 0,
    },
    jobs: { enqueue: async () => undefined, dueAt: async () => new Map() },
    conversations: {
      put: async () => false,
      add: async () => false,
      lastReference: async () => undefined,
      close: async () => false,
      ofPerson: async (tenantId, personId) =>
        lost.has(personId)
          ? undefined
          : { tenantId, personId, conversationId: personId, reference: {}, locale: 'en', timeZone: 'UTC' },
    },
    delegations: {
      put: async (added) => {
        const former = away.get(added.person.id)
        away.set(added.person.id, added)
        return former
      },
      end: async (_, personId) => {
        const own = away.get(personId)
        away.delete(personId)
        return own
      },
      takeEnded: async () => [],
      running: async (_, at) => ({ delegations: current(at), from: 0, total: current(at).length }),
      forgetOld: async () => undefined,
      ofPerson: async (_, personId, at) => current(at).find(({ person }) => person.id === personId),
      toPerson: async (_, personId, at) => current(at).filter(({ delegate }) => delegate.id === personId),
      reaching: async (_, personIds, at) => {
        const reached = new Map<string, Delegation>()
        const follow = (id: string): void => {
          const one = current(at).find(({ person }) => person.id === id)
          if (!one || reached.has(id)) return
          reached.set(id, one)
          follow(one.delegate.id)
        }
        personIds.forEach(follow)
        return [...reached.values()]
      },
    },
  }
}
