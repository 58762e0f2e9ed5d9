import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureAccepts } from './accepts.ts'
import { quantile, table } from './figures.ts'
import { type RunningService, startService } from './service.ts'
import { measureTurns } from './turns.ts'

const starts = 3

/** `npm run bench`: figures of this machine, each beside a bare floor measured in the same run. */
async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'))
  let service: RunningService | undefined
  try {
    const { empty, existing, dataDir } = await measureStarts(folder)
    service = await startService(dataDir)
    const { ours, echo } = await measureTurns(service)
    const accepts = await measureAccepts(service, folder)
    print([
      ['turn `help`, p50', ms(ours.p50), ms(echo.p50), ratio(ours.p50, echo.p50), 'bare botbuilder echo'],
      ['turn `help`, p95', ms(ours.p95), ms(echo.p95), ratio(ours.p95, echo.p95), 'bare botbuilder echo'],
      ...accepts.map(({ callers, accepts, inserts }) => [
        `accept, ${callers === 1 ? 'one caller' : `${callers} callers`}`,
        rate(accepts),
        rate(inserts),
        ratio(accepts, inserts),
        'bare INSERT, same kind of store',
      ]),
      ['start to ready, empty store', ms(empty), '', '', ''],
      ['start to ready, existing store', ms(existing), '', '', ''],
    ])
  } finally {
    await service?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The middle of three starts over an empty folder, and of three over one that is there. */
async function measureStarts(folder: string): Promise<{ empty: number; existing: number; dataDir: string }> {
  const [empty, existing]: [number[], number[]] = [[], []]
  let dataDir = folder
  for (let count = 0; count < starts; count += 1) {
    dataDir = join(folder, `service-${count}`)
    mkdirSync(dataDir)
    empty.push(await startAndStop(dataDir))
    existing.push(await startAndStop(dataDir))
  }
  return { empty: quantile(empty, 0.5), existing: quantile(existing, 0.5), dataDir }
}

async function startAndStop(dataDir: string): Promise<number> {
  const service = await startService(dataDir)
  await service.stop()
  return service.milliseconds
}

const ms = (value: number): string => `${value.toFixed(value < 100 ? 2 : 0)} ms`
const rate = (value: number): string => `${value.toFixed(0)}/s`
const ratio = (value: number, floor: number): string => `${(value / floor).toFixed(2)}×`

function print(rows: readonly (readonly string[])[]): void {
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}`)
  console.log(table(['figure', 'ours', 'floor', 'ratio', 'what the floor is'], rows))
}

await main()
