import '../../src/private-umask.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { table } from './figures.ts'
import { acceptsPart, burstPart, completionPart, floodPart, ms, nameOf, ratio, readsPart, soakPart } from './parts.ts'
import { openPlaces, variablesOf } from './places.ts'
import { compareWithRecord, comparison, record } from './record.ts'
import { head, machine, type PartReport, type Row, writeReport } from './report.ts'
import { scalePart } from './scale.ts'
import { startService, thisVersion } from './service.ts'
import { startsPart } from './starts.ts'
import { measureTurns } from './turns.ts'
import { versionParts } from './versions.ts'

/** The parts that can be measured, by their names on the command line. */
const parts: Readonly<Record<string, (folder: string) => Promise<PartReport>>> = {
  starts: (folder) => inPlaces(folder, (places) => startsPart(folder, places)),
  turns: (folder) => inPlaces(folder, turnsPart),
  flood: floodPart,
  accepts: (folder) => inPlaces(folder, acceptsPart),
  completion: (folder) => inPlaces(folder, completionPart),
  burst: (folder) => inPlaces(folder, burstPart),
  reads: (folder) => inPlaces(folder, readsPart),
  scale: (folder) => inPlaces(folder, scalePart),
  'soak-embedded': (folder) => inPlaces(folder, (places) => soakPart(places, 'embedded')),
  'soak-server': (folder) => inPlaces(folder, (places) => soakPart(places, 'server')),
}
/** Parts that run only when they are named: each soak takes some half an hour, the scale some eight minutes. */
const onRequest = ['scale', 'soak-embedded', 'soak-server']

/**
 * `npm run bench`: prints figures of this machine, each with a floor or a limit, and writes them to
 * `docs/performance.md`. `npm run bench -- reads turns` measures only these parts and leaves the others unchanged. Prints
 * the change since the last recorded run; with `--compare` it writes nothing. A worse figure never changes the exit code:
 * machines and their load differ.
 *
 * `npm run bench -- --before <folder> turns` compares the checkout in the folder with this one instead, and records
 * nothing. The folder needs its packages (`npm ci`).
 */
async function main(args: readonly string[]): Promise<void> {
  const before = args.indexOf('--before')
  if (before >= 0) return compareVersions(args[before + 1], args.toSpliced(before, 2))
  const onlyCompares = args.includes('--compare')
  const wanted = args.filter((one) => one !== '--compare')
  mustBeIn(parts, wanted)
  console.log(`${machine()}. All parts take about ten minutes and 8 GB of disk. Run them on an idle machine.`)
  const rows: string[][] = []
  const worse: string[] = []
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length > 0 ? !wanted.includes(name) : onRequest.includes(name)) continue
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'))
    const begin = performance.now()
    try {
      const report = await measure(folder)
      const change = compareWithRecord(name, report.rows)
      if (!onlyCompares) {
        writeReport(name, report)
        record(name, report.rows)
      }
      rows.push(...report.rows.map((row, index) => [...row, ...(change.cells[index] ?? [])]))
      worse.push(...change.worse)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    console.log(`${name}: took ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  }
  console.log(table([...head, ...comparison], rows))
  const verdict =
    worse.length > 0
      ? `More than 20 % worse than in the last run:\n${worse.join('\n')}`
      : 'Nothing is more than 20 % worse than in the last run.'
  console.log(`\n${verdict}`)
}

function mustBeIn(known: object, wanted: readonly string[]): void {
  const unknown = wanted.filter((name) => !(name in known))
  if (unknown.length > 0)
    throw new Error(`Unknown part: ${unknown.join(', ')}. The parts are ${Object.keys(known).join(', ')}.`)
}

async function compareVersions(before: string | undefined, wanted: readonly string[]): Promise<void> {
  if (before === undefined) throw new Error('Name the folder of the earlier version after --before.')
  mustBeIn(versionParts, wanted)
  const versions = [resolve(before), thisVersion] as const
  console.log(`${machine()}. Before: ${versions[0]}. After: ${versions[1]}. Run it on an idle machine.`)
  for (const [name, compare] of Object.entries(versionParts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'))
    try {
      const rows = await inPlaces(folder, (places) => compare(versions, places, folder))
      console.log(table(['figure', 'before', 'after', 'after ÷ before'], rows))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function inPlaces<T>(folder: string, measure: (places: ReturnType<typeof openPlaces>) => Promise<T>): Promise<T> {
  const places = openPlaces(folder)
  return measure(places).finally(() => places.close())
}

const bareEcho = 'bare botbuilder echo'
const storingBot = 'botbuilder that stores each message and sends the same card'

async function turnsPart(places: ReturnType<typeof openPlaces>): Promise<PartReport> {
  const rows: Row[] = []
  const panels: PartReport['charts'][string]['chart']['panels'][number][] = []
  for (const engine of ['embedded', 'server'] as const) {
    const place = await places.place(engine)
    const service = await startService(place.dataDir, variablesOf(place))
    const floor = await places.place(engine)
    const { ours, echo, storing } = await measureTurns(service, floor).finally(() => service.stop())
    for (const name of ['p50', 'p95'] as const) {
      const figure = `turn \`help\`, ${name}, ${nameOf[engine]}`
      for (const [other, title] of [
        [echo, bareEcho],
        [storing, storingBot],
      ] as const)
        rows.push([figure, ms(ours[name]), ms(other[name]), ratio(ours[name], other[name]), title])
    }
    const series = [
      { name: 'Quartermaster', values: [ours.p50, ours.p95] },
      { name: storingBot, values: [storing.p50, storing.p95] },
      { name: bareEcho, values: [echo.p50, echo.p95] },
    ]
    panels.push({ title: nameOf[engine], x: ['p50', 'p95'], series })
  }
  const chart = { title: 'A turn in chat', unit: 'milliseconds', kind: 'bars', columns: 2, panels } as const
  const alt =
    'Milliseconds of a turn, p50 and p95, next to two bare botbuilder bots: one echoes, the other one also stores'
  return { rows, charts: { turns: { chart, alt } } }
}

await main(process.argv.slice(2))
