import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/store/index.ts'
import { people } from '../support/teams-user.ts'
import { perSecond, quantile } from './figures.ts'
import { askForSite, type RunningService, tokenOf } from './service.ts'

const rounds = 3
const countOf = { 1: 200, 16: 600 } as const
const callers = [1, 16] as const
type Callers = (typeof callers)[number]

/** Calls for each second: requests accepted (202), and bare rows inserted. */
export interface AcceptFigures {
  readonly callers: Callers
  readonly accepts: number
  readonly inserts: number
}

/**
 * How many requests for sites are accepted over HTTP, beside a bare `INSERT` of one row into a store of the same kind, with
 * the same promise that what is answered is on the disk. In turns; of three rounds the middle one counts.
 */
export async function measureAccepts(service: RunningService, folder: string): Promise<AcceptFigures[]> {
  const token = await tokenOf(service, people.kim.id)
  const dataDir = join(folder, 'floor')
  mkdirSync(dataDir)
  const floor = await openDatabase({ dataDir })
  const insert = () =>
    floor.query('insert into bench (id, body) values ($1, $2)', [randomUUID(), JSON.stringify({ name: 'Bench' })])
  try {
    await floor.query('create table bench (id uuid primary key, body jsonb not null)')
    await perSecond(50, 1, () => askForSite(service.url, token))
    await perSecond(50, 1, insert)
    const figures: AcceptFigures[] = []
    for (const number of callers) {
      const [accepts, inserts]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round += 1) {
        globalThis.gc?.()
        accepts.push(await perSecond(countOf[number], number, () => askForSite(service.url, token)))
        inserts.push(await perSecond(countOf[number], number, insert))
      }
      figures.push({ callers: number, accepts: quantile(accepts, 0.5), inserts: quantile(inserts, 0.5) })
    }
    return figures
  } finally {
    await floor.close()
  }
}
