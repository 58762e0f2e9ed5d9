import type { AuditEntry, Ports, Request } from '../../src/core/index.ts'

/** What one transaction wrote of one request. */
export interface Written {
  readonly before: Request | undefined
  readonly after: Request
  readonly said: readonly AuditEntry[]
}

const unexpected = (what: string) => (): never => {
  throw new Error(`nobody expected ${what}`)
}

/**
 * A store in memory, quick enough for tens of thousands of changes, that keeps what each transaction wrote. A transaction
 * that throws leaves nothing behind. One at a time: whoever asks for a lock has it.
 */
export function storeInMemory(): Pick<
  Ports,
  'work' | 'requests' | 'audit' | 'reservations' | 'deliveries' | 'sentCards' | 'jobs'
> & { readonly written: Written[]; put(request: Request): void } {
  const requests = new Map<string, Request>()
  const names = new Map<string, string>()
  const written: Written[] = []
  let changed: Map<string, { before: Request | undefined; after: Request }> | undefined
  let said: AuditEntry[] = []
  const open = () => changed ?? unexpected('a change outside of a transaction')()
  const write = (request: Request) => {
    const before = open().get(request.requestId)?.before ?? requests.get(request.requestId)
    open().set(request.requestId, { before, after: request })
  }
  const now = (id: string) => changed?.get(id)?.after ?? requests.get(id)
  return {
    written,
    put: (request) => void requests.set(request.requestId, request),
    work: {
      async transaction(work) {
        if (changed) return work()
        changed = new Map()
        said = []
        try {
          const result = await work()
          for (const [id, { before, after }] of changed) {
            written.push({ before, after, said: said.filter(({ requestId }) => requestId === id) })
            requests.set(id, after)
          }
          if (changed.size === 0 && said.length > 0) throw new Error('the timeline tells of a change that was none')
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
      lock: async (id) => now(id),
      update: async (request) => {
        if (now(request.requestId)?.version !== request.version - 1) throw new Error('somebody else wrote first')
        write(request)
      },
      findByNumber: unexpected('findByNumber'),
      list: unexpected('list'),
      standing: unexpected('standing'),
      count: unexpected('count'),
      overdue: unexpected('overdue'),
      countOpen: async () => 0,
      countByState: unexpected('countByState'),
    },
    audit: {
      append: async (entries) => {
        open()
        said.push(...entries)
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
      forgetOld: unexpected('forgetOld'),
    },
    sentCards: {
      ofRequest: async () => [],
      find: async () => undefined,
      claim: async () => true,
      put: async () => undefined,
      remove: async () => undefined,
    },
    jobs: { enqueue: async () => undefined },
  }
}
