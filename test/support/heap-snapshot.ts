import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** The parts of V8's heap snapshot that are read here: `nodes` is a table of numbers with `node_fields` columns. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly [readonly string[]] }
  }
  readonly nodes: readonly number[]
}

/** The types of nodes that programs make. Compiled code and its statistics grow by themselves until all code is warm. */
const dataTypes = new Set(['object', 'closure', 'string', 'concatenated string', 'sliced string', 'native'])

/**
 * The flags for a process whose heap is measured: it writes a snapshot into the folder on SIGUSR2. It keeps the code that
 * it has compiled: otherwise V8 drops functions that rest, with their texts, and makes the next ones.
 */
export const snapshotFlags = (folder: string): string[] => [
  ...['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`, '--no-flush-bytecode'],
]

/**
 * Returns the number of objects, functions and strings of a process that survive a collection of garbage. Numbers vary less
 * than bytes, because lists grow in steps. The process has {@link snapshotFlags}; `settled` ends after its next answer,
 * because it writes the snapshot before it answers.
 */
export async function countData(pid: number, folder: string, settled: () => Promise<unknown>): Promise<number> {
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'))
  process.kill(pid, 'SIGUSR2')
  const name = await until(() => files()[0], 'the heap snapshot', 60)
  await settled()
  const file = join(folder, name)
  const { snapshot, nodes } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot
  rmSync(file)
  const { node_fields: fields, node_types: types } = snapshot.meta
  const isData = types[0].map((type) => dataTypes.has(type))
  let count = 0
  for (let at = fields.indexOf('type'); at < nodes.length; at += fields.length) if (isData[nodes[at] ?? 0]) count += 1
  return count
}
