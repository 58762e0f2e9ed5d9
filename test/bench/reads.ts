import { openDatabase } from '../../src/store/index.ts'
import { people } from '../support/teams-user.ts'
import { startBareConnector, turn } from './chat.ts'
import { timed } from './figures.ts'
import { fillHistory, idsThroughout, newest } from './history.ts'
import { type Engine, type Place, type Places, variablesOf } from './places.ts'
import { makeSamples, readSamples } from './samples.ts'
import { type RunningService, startService, tokenOf } from './service.ts'

/** The reads, by their names in the table and in the chart. */
export const readNames = [
  'one request, by REST',
  'own list, first page',
  'own list, later page',
  'own list, one status',
  'all, first page',
  'all, later page',
  'all failed',
  'a kind without requests',
  'chat: status REQ-n',
  'chat: my requests',
  'chat: approvals',
  'chat: admin queue',
] as const
export type ReadName = (typeof readNames)[number]

/** Milliseconds of each call, by the number of stored requests. */
export type ReadTimes = ReadonlyMap<ReadName, ReadonlyMap<number, readonly number[]>>

const warmUp = 30

/**
 * Measures the same reads of stores that differ only in the length of their past. All stores are open at the same time
 * and take turns with each call, so that each one runs under the same load of the machine.
 */
export async function measureReads(
  places: Places,
  { engine, sizes, rounds = 250 }: { engine: Engine; sizes: readonly number[]; rounds?: number },
): Promise<ReadTimes> {
  const times = new Map(readNames.map((name) => [name, new Map(sizes.map((size): [number, number[]] => [size, []]))]))
  const connector = await startBareConnector()
  const services: RunningService[] = []
  try {
    const stores: { size: number; reads: Record<ReadName, (round: number) => Promise<void>> }[] = []
    for (const store of await fillStores(places, engine, sizes)) {
      const service = await startService(store.place.dataDir, variablesOf(store.place))
      services.push(service)
      stores.push({ size: store.size, reads: await readsOf(service, store, connector.url) })
    }
    for (let round = -warmUp; round < rounds; round += 1) {
      if (round === 0) globalThis.gc?.()
      for (const name of readNames) {
        for (const { size, reads } of rotated(stores, round)) {
          const milliseconds = await timed(() => reads[name](round + warmUp))
          if (round >= 0) times.get(name)?.get(size)?.push(milliseconds)
        }
      }
    }
  } finally {
    for (const service of services) await service.stop()
    await connector.close()
  }
  return times
}

interface FilledStore {
  readonly size: number
  readonly place: Place
  readonly ids: readonly string[]
}

async function fillStores(places: Places, engine: Engine, sizes: readonly number[]): Promise<FilledStore[]> {
  const first = await places.place(engine)
  const service = await startService(first.dataDir, variablesOf(first))
  const sampleIds = await makeSamples(service).finally(() => service.stop())
  const samples = await readSamples(first, sampleIds)
  const filled: FilledStore[] = []
  for (const [index, size] of sizes.entries()) {
    const place = index === 0 ? first : await places.place(engine)
    // The first start creates the tables and the templates.
    if (index > 0) await (await startService(place.dataDir, variablesOf(place))).stop()
    const database = await openDatabase(place)
    await fillHistory(database, samples, size)
    filled.push({ size, place, ids: await idsThroughout(database, 1000, size) })
    await database.close()
  }
  return filled
}

/** Returns the API's cursor for a page that ends with this number. */
const cursorOf = (number: number): string => Buffer.from(`v1:${number}`).toString('base64url')

async function readsOf(service: RunningService, { size, ids }: FilledStore, serviceUrl: string) {
  const [kim, sam] = [await tokenOf(service, people.kim.id), await tokenOf(service, people.sam.id)]
  const oldest = newest - size
  const get = (token: string, path: string) => read(`${service.url}/requests/v1/${path}`, token)
  const says = (text: string, who: 'kim' | 'dana' | 'sam') => turn(service.url, { serviceUrl, text, who })
  // The distance from the end is long enough for a full page: Kim has one in fifty requests there.
  const far = (distance: number) => cursorOf(oldest + Math.min(distance, size / 2))
  return {
    'one request, by REST': (round) => get(sam, ids[round % ids.length] ?? ''),
    'own list, first page': () => get(kim, ''),
    'own list, later page': () => get(kim, `?cursor=${size > 1000 ? far(1500) : cursorOf(oldest + 300)}`),
    'own list, one status': () => get(kim, '?status=rejected'),
    'all, first page': () => get(sam, ''),
    'all, later page': () => get(sam, `?cursor=${far(100)}`),
    'all failed': () => get(sam, '?status=failed'),
    'a kind without requests': () => get(sam, '?kind=communicationSite'),
    'chat: status REQ-n': (round) => says(`status REQ-${newest - 1 - ((round * 997) % size)}`, 'sam'),
    'chat: my requests': () => says('my requests', 'kim'),
    'chat: approvals': () => says('approvals', 'dana'),
    'chat: admin queue': () => says('admin queue', 'sam'),
  } satisfies Record<ReadName, (round: number) => Promise<void>>
}

async function read(url: string, token: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`)
}

/** Starts with another store each time, so that no store always follows the same one. */
function rotated<T>(all: readonly T[], by: number): T[] {
  const start = ((by % all.length) + all.length) % all.length
  return [...all.slice(start), ...all.slice(0, start)]
}
