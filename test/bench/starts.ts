import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { productionSettings } from '../support/production.ts'
import { quantile } from './figures.ts'
import { megabytes, ms, ratio } from './parts.ts'
import type { Places } from './places.ts'
import type { PartReport, Row } from './report.ts'
import { buildBundle, deployedEnvironment, residentBytes, startFlags, startService } from './service.ts'

/** One start: the time until `/readyz` answers 200, and the memory of the process then. */
interface Start {
  readonly milliseconds: number
  readonly bytes: number
}

/** The programs that start: the floor, `npm start` and `npm run build`. */
const forms = ['floor', 'sources', 'bundle'] as const
type Form = (typeof forms)[number]
/** The flags of `npm start`, which the deploy files have too. */
const flags: Readonly<Record<Form, readonly string[]>> = { floor: [], sources: startFlags(), bundle: startFlags() }
const environment: Readonly<Record<Form, Record<string, string>>> = {
  floor: {},
  sources: {},
  bundle: deployedEnvironment,
}

const situations = [
  { name: 'local mode, empty store', floor: 'botbuilder, restify and PGlite, empty folder' },
  { name: 'local mode, existing store', floor: 'botbuilder, restify and PGlite' },
  { name: 'production, PostgreSQL server', floor: 'botbuilder, restify and one connection' },
] as const

/** Measures both forms of the service and the floor, in turn. The median of all rounds counts. */
export async function startsPart(folder: string, places: Places, { rounds = 3 } = {}): Promise<PartReport> {
  const floor = fileURLToPath(new URL('./bare-start.ts', import.meta.url))
  const programs = { floor, sources: 'main.ts', bundle: buildBundle(folder) }
  const servers = new Map<Form, Record<string, string>>()
  for (const form of forms) servers.set(form, await serverSettings(folder, places))
  const starts = situations.map(() => new Map<Form, Start[]>(forms.map((form) => [form, []])))
  for (let round = 0; round < rounds; round += 1) {
    for (const form of forms) {
      const dataDir = join(folder, `${form}-${round}`)
      mkdirSync(dataDir)
      // The second start finds the store of the first. The server is empty only in the first round.
      for (const [index, settings] of [{}, {}, servers.get(form)].entries())
        starts[index]
          ?.get(form)
          ?.push(await startOnce(dataDir, programs[form], flags[form], { ...settings, ...environment[form] }))
    }
  }
  const rows = situations.flatMap(({ name, floor }, index) => {
    const middle = (form: Form, of: (start: Start) => number): number =>
      quantile((starts[index]?.get(form) ?? []).map(of), 0.5)
    const row = (
      what: string,
      form: 'sources' | 'bundle',
      of: (start: Start) => number,
      show: (value: number) => string,
    ): Row => {
      const [ours, bare] = [middle(form, of), middle('floor', of)]
      return [`${what}, ${form}, ${name}`, show(ours), show(bare), ratio(ours, bare), floor]
    }
    return (['sources', 'bundle'] as const).flatMap((form) => [
      row('start to ready', form, ({ milliseconds }) => milliseconds, ms),
      row('memory when ready', form, ({ bytes }) => bytes, megabytes),
    ])
  })
  return { rows, charts: {} }
}

/** Returns the settings of production with a new store on the server. */
export async function serverSettings(folder: string, places: Places): Promise<Record<string, string>> {
  const { databaseUrl = '' } = await places.place('server')
  return productionSettings(mkdtempSync(join(folder, 'files-')), databaseUrl)
}

/** Starts a program, reads its figures and stops it. */
export async function startOnce(
  dataDir: string,
  program: string,
  flagsOfNode: readonly string[],
  settings: Record<string, string>,
): Promise<Start> {
  const service = await startService(dataDir, settings, program, flagsOfNode)
  const bytes = await residentBytes(service.url, settings['METRICS_TOKEN']).finally(() => service.stop())
  return { milliseconds: service.milliseconds, bytes }
}
