import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { productionSettings } from '../support/production.ts'
import { people } from '../support/teams-user.ts'
import { startBareConnector, turn } from './chat.ts'
import { perSecond, quantile, timed } from './figures.ts'
import { megabytes, ms, nameOf, perSecondOf, ratio } from './parts.ts'
import { type Engine, type Places, variablesOf } from './places.ts'
import {
  buildBundle,
  deployedEnvironment,
  employees,
  type RunningService,
  requestSite,
  residentBytes,
  startFlags,
  startService,
  startTenant,
  tokenOf,
} from './service.ts'
import { startOnce } from './starts.ts'

/** One figure of two versions, and the ratio of the later one to the earlier one. */
export type VersionRow = readonly [figure: string, before: string, after: string, ratio: string]
type Pair<T> = readonly [before: T, after: T]
/** The folders of two checkouts with their packages: the earlier version and the later one. */
export type Versions = Pair<string>

/** The scale of a measurement. The median of the rounds counts. */
const usual = {
  starts: 5,
  turns: { warmUp: 300, measured: 1000 },
  accepts: { rounds: 5, warmUp: 300, calls: { 1: 150, 32: 640 } as Readonly<Record<number, number>>, pause: 3000 },
}

/** The comparisons by their names on the command line. */
export const versionParts = { starts: compareStarts, turns: compareTurns, accepts: compareAccepts } as const

/**
 * Compares starts on existing stores, and the memory of the process when it is ready. Each version starts with the flags
 * of its own `npm start`, and keeps compiled code where it does so itself.
 */
async function compareStarts(versions: Versions, places: Places, folder: string, { starts } = usual) {
  const rows: VersionRow[] = []
  for (const form of ['sources', 'bundle'] as const) {
    const programs = versions.map((root, index) =>
      form === 'sources' ? join(root, 'src/main.ts') : buildBundle(join(folder, `version-${index}`), root),
    )
    for (const engine of engines) {
      const settings = await inTurns(versions, 1, (_, index) => startSettings(folder, places, engine, [form, index]))
      const figures = await inTurns(versions, starts + 1, (root, index) => {
        const { dataDir, ...variables } = settings[index]?.[0] ?? { dataDir: folder }
        const environment = { ...(form === 'bundle' && deployedEnvironment), ...variables, NODE_COMPILE_CACHE: '' }
        return startOnce(dataDir, programs[index] ?? '', startFlags(root), environment)
      })
      // The first start creates the store.
      const median = (of: (start: Awaited<ReturnType<typeof startOnce>>) => number) =>
        both(figures, ([, ...later]) => quantile(later.map(of), 0.5))
      const mode = engine === 'server' ? 'production, PostgreSQL server' : 'local mode, existing store'
      rows.push(
        rowOf(
          `start to ready, ${form}, ${mode}`,
          median(({ milliseconds }) => milliseconds),
          ms,
        ),
      )
      rows.push(
        rowOf(
          `memory when ready, ${form}, ${mode}`,
          median(({ bytes }) => bytes),
          megabytes,
        ),
      )
    }
  }
  return rows
}

async function startSettings(folder: string, places: Places, engine: Engine, names: readonly unknown[]) {
  const dataDir = join(folder, ['start', engine, ...names].join('-'))
  mkdirSync(dataDir)
  if (engine === 'embedded') return { dataDir }
  const files = `${dataDir}-files`
  mkdirSync(files)
  const { databaseUrl = '' } = await places.place('server')
  return { dataDir, ...productionSettings(files, databaseUrl) }
}

/** Compares turns, `help` with its card, from the activity to its 200. */
async function compareTurns(versions: Versions, places: Places, _folder: string, { turns } = usual) {
  const rows: VersionRow[] = []
  const connector = await startBareConnector()
  const ids = employees(25)
  try {
    for (const engine of engines)
      await withServices(versions, places, engine, {}, async (services) => {
        const spoken = (round: number) => ({ text: 'help', personId: ids.at(round % ids.length) ?? '' })
        const times = await inTurns(services, turns.warmUp + turns.measured, ({ url }, _, round) =>
          timed(() => turn(url, { serviceUrl: connector.url, ...spoken(round) })),
        )
        for (const share of [0.5, 0.95]) {
          const figure = `turn \`help\`, p${share * 100}, ${nameOf[engine]}`
          rows.push(
            rowOf(
              figure,
              both(times, (all) => quantile(all.slice(turns.warmUp), share)),
              ms,
            ),
          )
        }
      })
  } finally {
    await connector.close()
  }
  return rows
}

/** Compares requests that are answered 202: how many each second, and how long the slowest hundredth takes. */
async function compareAccepts(versions: Versions, places: Places, folder: string, { accepts } = usual) {
  const rows: VersionRow[] = []
  const { rounds, warmUp, calls, pause } = accepts
  const tenant = await startTenant(mkdtempSync(join(folder, 'tenant-')))
  const token = await tokenOf({ simulatorUrl: tenant.url }, people.kim.id)
  try {
    for (const engine of engines)
      await withServices(versions, places, engine, tenant.urls, async (services) => {
        for (const { url } of services) await perSecond(warmUp, 4, () => requestSite(url, token))
        for (const [callers, count] of Object.entries(calls)) {
          const figures = await inTurns(services, rounds, async ({ url }) => {
            const times: number[] = []
            const call = async () => void times.push(await timed(() => requestSite(url, token)))
            const rate = await perSecond(count, Number(callers), call)
            await setTimeout(pause)
            return { rate, p99: quantile(times, 0.99) }
          })
          const median = (of: (round: { rate: number; p99: number }) => number) =>
            both(figures, (all) => quantile(all.map(of), 0.5))
          const figure = `accept, ${callers === '1' ? 'one caller' : `${callers} callers`}, ${nameOf[engine]}`
          rows.push(
            rowOf(
              figure,
              median(({ rate }) => rate),
              perSecondOf,
            ),
          )
          rows.push(
            rowOf(
              `${figure}, p99`,
              median(({ p99 }) => p99),
              ms,
            ),
          )
        }
        const bytes = await Promise.all(services.map(({ url }) => residentBytes(url)))
        rows.push(rowOf(`memory after these requests, ${nameOf[engine]}`, [bytes[0] ?? 0, bytes[1] ?? 0], megabytes))
      })
  } finally {
    await tenant.kill()
  }
  return rows
}

const engines = ['embedded', 'server'] as const

/** Runs each of two things in turns, so that both run under the same load of the machine. Returns their results. */
async function inTurns<T, R>(
  pair: Pair<T>,
  rounds: number,
  once: (one: T, index: number, round: number) => Promise<R>,
): Promise<Pair<R[]>> {
  const results: Pair<R[]> = [[], []]
  for (let round = 0; round < rounds; round += 1)
    for (const [index, one] of pair.entries()) results[index]?.push(await once(one, index, round))
  return results
}

const both = <T, R>([before, after]: Pair<T>, of: (one: T) => R): Pair<R> => [of(before), of(after)]

const rowOf = (figure: string, [before, after]: Pair<number>, show: (value: number) => string): VersionRow => [
  ...([figure, show(before), show(after), ratio(after, before)] as const),
]

/** Runs both versions at the same time, each with a store of its own, while the work lasts. */
async function withServices(
  versions: Versions,
  places: Places,
  engine: Engine,
  urls: Record<string, string>,
  work: (services: Pair<RunningService>) => Promise<void>,
): Promise<void> {
  const start = async (root: string): Promise<RunningService> => {
    const place = await places.place(engine)
    return startService(place.dataDir, { ...variablesOf(place), ...urls }, join(root, 'src/main.ts'), startFlags(root))
  }
  const before = await start(versions[0])
  try {
    const after = await start(versions[1])
    await work([before, after]).finally(() => after.stop())
  } finally {
    await before.stop()
  }
}
