import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
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
import { serverSettings, startOnce } from './starts.ts'

/** One figure of two versions, and the ratio of the later one to the earlier one. */
export type VersionRow = readonly [figure: string, before: string, after: string, ratio: string]
type Pair<T> = readonly [before: T, after: T]
/** The folders of two checkouts with their packages: the earlier version and the later one. */
export type Versions = Pair<string>

/** The scale of a measurement. `pause`: milliseconds after each round, for the jobs of its requests. */
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
      const settings = [await startSettings(folder, places, engine), await startSettings(folder, places, engine)]
      const figures = await inTurns(versions, starts + 1, (root, index) => {
        const { dataDir = folder, ...variables } = settings[index] ?? {}
        const environment = { ...(form === 'bundle' && deployedEnvironment), ...variables, NODE_COMPILE_CACHE: '' }
        return startOnce(dataDir, programs[index] ?? '', startFlags(root), environment)
      })
      // The first start creates the store.
      const later = both(figures, (all) => all.slice(1))
      const times = both(later, (all) => all.map(({ milliseconds }) => milliseconds))
      const memory = both(later, (all) => all.map(({ bytes }) => bytes))
      const what = `${form}, ${engine === 'server' ? 'production, PostgreSQL server' : 'local mode, existing store'}`
      rows.push(rowOf(`start to ready, ${what}`, times, ms), rowOf(`memory when ready, ${what}`, memory, megabytes))
    }
  }
  return rows
}

/** Returns the settings of a new store, with `dataDir`. */
async function startSettings(folder: string, places: Places, engine: Engine): Promise<Record<string, string>> {
  const dataDir = mkdtempSync(join(folder, 'data-'))
  return engine === 'embedded' ? { dataDir } : { dataDir, ...(await serverSettings(folder, places)) }
}

/** Compares turns, `help` with its card, from the activity to its 200. Both services run at the same time. */
async function compareTurns(versions: Versions, places: Places, _folder: string, { turns } = usual) {
  const rows: VersionRow[] = []
  const connector = await startBareConnector()
  const ids = employees(25)
  try {
    for (const engine of engines)
      await withServices(versions, places, engine, {}, async (services) => {
        const spoken = (round: number) => ({ text: 'help', personId: ids.at(round % ids.length) ?? '' })
        const replies = connector.replies()
        const times = await inTurns(services, turns.warmUp + turns.measured, ({ url }, _, round) => {
          if (round === turns.warmUp) globalThis.gc?.()
          return timed(() => turn(url, { serviceUrl: connector.url, ...spoken(round) }))
        })
        const [sent, wanted] = [connector.replies() - replies, 2 * (turns.warmUp + turns.measured)]
        if (sent !== wanted) throw new Error(`${sent} replies to ${wanted} turns`)
        const warm = both(times, (all) => all.slice(turns.warmUp))
        for (const share of [0.5, 0.95])
          rows.push(rowOf(`turn \`help\`, p${share * 100}, ${nameOf[engine]}`, warm, ms, share))
      })
  } finally {
    await connector.close()
  }
  return rows
}

/**
 * Compares requests that are answered 202: how many each second (the median of the rounds), and the time within which 99 %
 * are answered (of all rounds). Both services run at the same time, with one tenant.
 */
async function compareAccepts(versions: Versions, places: Places, folder: string, { accepts } = usual) {
  const rows: VersionRow[] = []
  const { rounds, warmUp, calls, pause } = accepts
  const tenant = await startTenant(mkdtempSync(join(folder, 'tenant-')))
  try {
    const token = await tokenOf({ simulatorUrl: tenant.url }, people.kim.id)
    for (const engine of engines)
      await withServices(versions, places, engine, tenant.urls, async (services) => {
        for (const { url } of services) await perSecond(warmUp, 4, () => requestSite(url, token))
        await setTimeout(pause)
        for (const [callers, count] of Object.entries(calls)) {
          const figures = await inTurns(services, rounds, async ({ url }) => {
            globalThis.gc?.()
            const times: number[] = []
            const call = async () => void times.push(await timed(() => requestSite(url, token)))
            const rate = await perSecond(count, Number(callers), call)
            await setTimeout(pause)
            return { rate, times }
          })
          const figure = `accept, ${callers === '1' ? 'one caller' : `${callers} callers`}, ${nameOf[engine]}`
          const rates = both(figures, (all) => all.map(({ rate }) => rate))
          const times = both(figures, (all) => all.flatMap((round) => round.times))
          rows.push(rowOf(figure, rates, perSecondOf), rowOf(`${figure}, p99`, times, ms, 0.99))
        }
        const memory = await inTurns(services, 1, ({ url }) => residentBytes(url))
        rows.push(rowOf(`memory after these requests, ${nameOf[engine]}`, memory, megabytes))
      })
  } finally {
    await tenant.kill()
  }
  return rows
}

const engines = ['embedded', 'server'] as const

/**
 * Runs each of two things in turns, so that both run under the same load of the machine. Each of them begins every other
 * round. Returns their results.
 */
export async function inTurns<T, R>(
  pair: Pair<T>,
  rounds: number,
  once: (one: T, index: number, round: number) => Promise<R>,
): Promise<Pair<R[]>> {
  const results: Pair<R[]> = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const turns = [...pair.entries()]
    for (const [index, one] of round % 2 === 0 ? turns : turns.toReversed())
      results[index]?.push(await once(one, index, round))
  }
  return results
}

const both = <T, R>([before, after]: Pair<T>, of: (one: T) => R): Pair<R> => [of(before), of(after)]

/** Compares the medians of both samples, or another quantile. */
export function rowOf(
  figure: string,
  samples: Pair<readonly number[]>,
  show: (value: number) => string,
  share = 0.5,
): VersionRow {
  const [before, after] = both(samples, (all) => quantile(all, share))
  return [figure, show(before), show(after), ratio(after, before)]
}

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
