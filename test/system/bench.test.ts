import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { drawChart } from '../bench/chart.ts'
import { acceptsPart, burstPart, completionPart, floodPart, readsPart } from '../bench/parts.ts'
import type { Places } from '../bench/places.ts'
import { readNames } from '../bench/reads.ts'
import { compareWithRecord, record } from '../bench/record.ts'
import { writeReport } from '../bench/report.ts'
import { scaleMeasures } from '../bench/scale.ts'
import { startService, thisVersion } from '../bench/service.ts'
import { startsPart } from '../bench/starts.ts'
import { measureTurns } from '../bench/turns.ts'
import { inTurns, rowOf, versionParts } from '../bench/versions.ts'
import { newDatabaseUrl } from '../support/database.ts'

const newFolder = () => mkdtempSync(join(inject('runFolder'), 'bench-'))
const places: Places = {
  place: async () => ({ dataDir: newFolder(), databaseUrl: await newDatabaseUrl() }),
  close: async () => undefined,
}
/** Returns the numbers in a cell such as `4.20 ms, 5.10 ms`. Each must be above 0. */
const numbersIn = (cell: string): number[] => cell.split(',').map((each) => Number.parseFloat(each))

describe('the bench at its smallest scale', () => {
  it('measures every read of stores of two sizes', async () => {
    const { rows, charts } = await readsPart(places, [{ engine: 'server', sizes: [100, 1000], rounds: 2 }])
    expect(rows).toHaveLength(readNames.length)
    for (const [, ours, floor, ratios] of rows)
      for (const number of [ours, floor, ratios].flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
    expect(charts['reads-server']?.chart.panels).toHaveLength(readNames.length)
  })

  it('measures accepted requests and both floors', async () => {
    const options = { rounds: 1, callers: [2], calls: () => 4, warmUp: 2, cold: { calls: 1, idle: 10 } }
    const { rows } = await acceptsPart(places, [{ engine: 'server', options }])
    expect(rows).toHaveLength(5)
    for (const [, ours, floor] of rows)
      for (const number of [ours, floor].flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
  })

  it('measures the time from a completion to a card, both ways', async () => {
    const options = { count: 5, warmUp: 2, startMilliseconds: 3000 }
    const { rows } = await completionPart(places, [{ engine: 'server', options }])
    expect(rows).toHaveLength(4)
    for (const [, ours] of rows) expect(Number.parseFloat(ours)).toBeGreaterThan(0)
  })

  it('measures the time from an end to its link for several requests of one person', async () => {
    const { rows } = await burstPart(places, [2], 3000)
    expect(rows).toHaveLength(2)
    for (const [, ours] of rows) expect(Number.parseFloat(ours)).toBeGreaterThan(0)
  })

  it('measures the start and the memory of sources, bundle and floor', async () => {
    const { rows } = await startsPart(newFolder(), places, { rounds: 1 })
    expect(rows).toHaveLength(12)
    for (const [, ours, floor, ratios] of rows)
      for (const number of [ours, floor, ratios].flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
  })

  it('measures turns of the service and of two bare bots', async () => {
    const { dataDir, databaseUrl = '' } = await places.place('server')
    const service = await startService(dataDir, { DATABASE_URL: databaseUrl })
    const scale = { warmUp: 2, measured: 3 }
    const figures = await measureTurns(service, await places.place('server'), scale).finally(() => service.stop())
    for (const { p50, p95 } of Object.values(figures)) {
      expect(p50).toBeGreaterThan(0)
      expect(p95).toBeGreaterThanOrEqual(p50)
    }
  })

  it('measures other people during a flood of previews, and counts calls at the simulator', async () => {
    const scale = { floods: 1, previews: 3, people: 20, quiet: 2, warmUp: 1 }
    const { rows, charts } = await floodPart(newFolder(), scale)
    expect(rows).toHaveLength(8)
    for (const [, ours, floor] of rows)
      for (const number of [ours, floor].flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
    expect(charts['flood']?.chart.panels).toHaveLength(2)
  })

  it.each([
    ['templates', 9],
    ['chats', 6],
    ['people', 7],
    ['batches', 3],
    ['replicas', 2],
  ] as const)('measures a large installation next to a small one: %s', async (name, count) => {
    const rows = await scaleMeasures[name](places, {
      ...{ rounds: 1, templates: 6, chats: 5, people: 2000, batches: { senders: 2, rows: 2, quiet: 1 } },
      replicas: { replicas: 2, rounds: 1, calls: 2, callers: 2 },
    })
    expect(rows).toHaveLength(count)
    for (const [, ours, floor, ratios] of rows)
      for (const number of [ours, floor, ratios].flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
  })

  it.each([
    ['starts', 8],
    ['turns', 4],
    ['accepts', 10],
  ] as const)('compares two versions: %s', async (name, count) => {
    const rows = await versionParts[name]([thisVersion, thisVersion], places, newFolder(), {
      ...{ starts: 1, turns: { warmUp: 2, measured: 3 } },
      accepts: { rounds: 1, warmUp: 2, calls: { 1: 2, 2: 4 }, pause: 0 },
    })
    expect(rows).toHaveLength(count)
    for (const [, ...cells] of rows) for (const number of cells.flatMap(numbersIn)) expect(number).toBeGreaterThan(0)
  })

  it('runs two versions in turns, and divides the later one by the earlier one', async () => {
    const order: string[] = []
    const results = await inTurns(['before', 'after'], 3, async (one, index, round) => {
      order.push(one)
      return 10 * index + round
    })
    expect(order).toEqual(['before', 'after', 'after', 'before', 'before', 'after'])
    expect(results).toEqual([
      [0, 1, 2],
      [10, 11, 12],
    ])
    expect(rowOf('a figure', [[8, 1, 4], [2]], String)).toEqual(['a figure', '4', '2', '0.50×'])
  })

  it('compares each ratio with that of the last run, and names those that are more than 20 % worse', () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'performance'))
    const rows = (turn: string, bare: string, checking: string) =>
      [
        ['a turn', '3 ms', '1 ms', turn, 'a floor'],
        ['accept', '90/s', '100/s', bare, 'a floor'],
        ['accept', '90/s', '200/s', checking, 'another floor'],
      ] as const
    expect(compareWithRecord('turns', rows('3.00×', '0.90×', '0.45×'), folder).worse).toEqual([])
    record('turns', rows('3.00×', '0.90×', '0.45×'), folder)
    record('other', [], folder)
    const { cells, worse } = compareWithRecord('turns', rows('3.90×', '0.60×', '0.60×'), folder)
    expect(cells).toEqual([
      ['3.00×', '+30 %'],
      ['0.90×', '-33 %'],
      ['0.45×', '+33 %'],
    ])
    expect(worse).toEqual([
      expect.stringMatching(/^a turn: the ratio was 3\.00× on .*, and is 3\.90× now\.$/),
      expect.stringMatching(/^accept: the ratio was 0\.90× on .*, and is 0\.60× now\.$/),
    ])
  })

  it('writes its figures and charts into the page, and leaves the rest unchanged', () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'performance'))
    const page = join(folder, 'performance.md')
    writeFileSync(page, 'Before.\n<!-- bench:turns -->\nold\n<!-- /bench:turns -->\nAfter.\n')
    const series = [{ name: 'ours <b>', values: [1, 2] }]
    const chart = {
      title: 'A & B',
      unit: 'ms',
      kind: 'lines',
      columns: 1,
      panels: [{ title: 'x', x: ['1', '2'], series }],
    } as const
    const report = {
      rows: [['a turn', '1 ms', '2 ms', '0.50×', 'a floor']] as const,
      charts: { turns: { chart, alt: 'A chart' } },
    }
    writeReport('turns', report, folder)
    writeReport('turns', report, folder)
    const text = readFileSync(page, 'utf8')
    expect(text).toMatch(/^Before\.\n<!-- bench:turns -->\n[\s\S]*\n<!-- \/bench:turns -->\nAfter\.\n$/)
    expect(text).not.toContain('old')
    expect(text.match(/\| a turn \| 1 ms \| 2 ms \| 0\.50× \| a floor \|/g)).toHaveLength(1)
    expect(readdirSync(join(folder, 'performance')).sort()).toEqual(['turns-dark.svg', 'turns-light.svg'])
    expect(drawChart(chart, 'dark')).toContain('ours &lt;b>')
    expect(() => writeReport('nothing', report, folder)).toThrow(/no markers for nothing/)
  })
})
