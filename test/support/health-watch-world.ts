import {
  asWritten,
  createCheckResults,
  createHealthWatcher,
  type HealthWatch,
  type JobOrder,
  type NoticeKey,
  type Ports,
  type Probe,
  ProvisioningError,
  type ServiceHealth,
  type Settings,
  type SignInFacts,
} from '../../src/core/index.ts'
import { priya, tenantId } from './card-world.ts'
import { soundInstallation } from './core.ts'
import { loud } from './loud.ts'

const times = { checkEvery: 20, confirmAfter: 20, wellAfter: 60 }
const away = () => new ProvisioningError('unavailable', asWritten('It is away.'), { cause: new Error('away') })

/** The facts that each process has for itself. */
export function healthyFacts() {
  return {
    certificateDays: 200,
    aheadSeconds: 0,
    refusal: undefined as SignInFacts['refusal'],
    permission: { name: 'Sites.Read.All' } as Probe,
    catalogueApp: 'notSet' as 'notSet' | 'nothing',
  }
}

/** A shared store that can be unavailable, a tenant that can fail, and the cards of an admin. */
export function watchWorld(stored?: HealthWatch) {
  let now = Date.parse('2026-11-20T10:00:00Z')
  const state = { isAway: false, isBroken: false, isDirectoryAway: false, takesNoOrders: false }
  const lookups: string[] = []
  let watch = stored
  const ends = new Map<string, number>()
  const sent = new Set<NoticeKey>()
  const cards: NoticeKey[] = []
  /** The ids of the people in orders. */
  const notified: string[] = []
  const here = <T>(answer: () => T): Promise<T> => (state.isAway ? Promise.reject(away()) : Promise.resolve(answer()))
  const send = (notice: NoticeKey) => {
    if (!sent.has(notice)) cards.push(notice)
    sent.add(notice)
  }
  const parts = {
    clock: { now: () => new Date(now) },
    work: {
      transaction: async (work: () => Promise<unknown>) => {
        const before = watch
        try {
          return await here(work)
        } catch (error) {
          watch = before
          throw error
        }
      },
    },
    healthWatch: {
      find: () => here(() => watch),
      lock: () => here(() => watch),
      put: (_: string, next: HealthWatch) =>
        here(() => {
          watch = next
        }),
    },
    directory: {
      person: async (id: string) => {
        lookups.push(id)
        if (state.isDirectoryAway) throw new Error('The directory is away.')
        return priya
      },
      isGuest: async () => false,
    },
    jobs: {
      // Orders are carried out immediately, and once.
      enqueue: (orders: readonly JobOrder[]) =>
        here(() => {
          if (state.takesNoOrders) throw new Error('The queue takes no orders.')
          for (const { name, payload } of orders) {
            if (name === 'tell') notified.push(payload.personId)
            if (name === 'tell' || name === 'tell-admins') send(payload.notice)
          }
        }),
    },
    tenant: {
      health: async (): Promise<ServiceHealth[]> => [
        { name: 'graph', milliseconds: 5, ...(state.isBroken && { problem: asWritten('It fails.') }) },
      ],
    },
    ownHealth: {
      read: async () => ({
        ...{
          databaseMilliseconds: state.isAway ? null : 1,
          queue: { waiting: 0, oldestSeconds: 0 },
          version: '1',
        },
        ...{ watchedAt: new Date(now), startedAt: new Date(now) },
      }),
    },
    deadLetters: { list: async () => [] },
    endpoints: { troubled: () => here(() => []) },
    sightings: { delay: () => here(() => ({ seen: 0, p50Seconds: 0, p95Seconds: 0 })) },
    stats: { lastEnded: () => here(() => []) },
    serviceCalls: { lately: async () => [] },
    processes: {
      list: () =>
        here(() => [...ends].map(([processId, end]) => ({ ...seen, processId, silentSeconds: sinceOf(end) }))),
    },
  }
  const sinceOf = (end: number) => Math.max(0, now - end) / 1000
  const seen = { name: 'host / 1', version: '1', startedAt: new Date(now), works: true, seenAt: new Date(now) }
  const settings = { tenantId, admins: [priya.id] } as Partial<Settings> as Settings
  /** Starts a process. `stop`: it stops unexpectedly, so its heartbeats end. */
  const begin = (facts = healthyFacts()) => {
    const own = {
      connection: {
        signIn: () => ({ tokens: [], refusal: facts.refusal }),
        certificate: () => ({ endsAt: new Date(now + facts.certificateDays * 86_400_000), problem: undefined }),
        clock: () => ({ aheadSeconds: facts.aheadSeconds }),
      },
      installation: {
        ...soundInstallation,
        permissions: async () => [facts.permission],
        catalogueApp: async () => facts.catalogueApp,
      },
      checkResults: createCheckResults(),
    }
    const id = `process-${ends.size}`
    ends.set(id, Number.POSITIVE_INFINITY)
    const ports = loud('ports', { ...parts, ...own }) as Ports
    return { ...createHealthWatcher({ ports, settings }, id, times), facts, stop: () => void ends.set(id, now) }
  }
  return {
    ...{ state, cards, notified, lookups, begin },
    pass: (seconds: number) => {
      now += seconds * 1000
    },
  }
}

/** Returns what each card reports: `red`, `more`, `less` or `well`. */
export const kinds = (cards: readonly NoticeKey[]): string[] => cards.map((card) => card.split(':')[1] ?? '')
