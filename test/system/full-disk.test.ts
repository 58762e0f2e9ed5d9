import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'
import { openEmbedded } from '../../src/store/database/embedded.ts'
import { emptyStore } from '../support/database.ts'

/** Mounts a small disk; undefined if the user may not mount. */
function smallDisk(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(inject('runFolder'), 'disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]))
  return folder
}

function fill(file: string): void {
  for (const bytes of [1 << 20, 1 << 12]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
}

describe('an embedded store whose disk is full', () => {
  it('refuses writes that it cannot store, still reads, continues when there is space again, and has lost nothing', async ({
    skip,
  }) => {
    const disk = smallDisk(100)
    if (disk === undefined) return skip('nobody may mount a disk here')
    cpSync(await emptyStore(), join(disk, 'postgres'), { recursive: true })
    let database = await openDatabase({ dataDir: disk })
    onTestFinished(() => database.close())
    const kept: string[] = []
    const keep = async (name: string) => {
      // Random, because PostgreSQL compresses repeated data.
      const value = randomBytes(100_000).toString('hex')
      await database.query('insert into notes (name, value) values ($1, $2)', [name, value])
      kept.push(name)
    }
    const names = async () => {
      const sql = `select name from notes order by name`
      return (await database.query<{ name: string }>(sql)).rows.map(({ name }) => name)
    }
    await database.query('create table notes (name text primary key, value text not null)')
    await keep('kept 0')
    const filler = join(disk, 'filler')
    fill(filler)
    const refused: unknown[] = []
    for (let number = 1; refused.length < 20; number += 1)
      await keep(`kept ${number}`).catch((error: unknown) => refused.push(error))
    for (const error of refused) expect(error).toMatchObject({ code: 'unavailable' })
    expect(await names()).toEqual([...kept].sort())
    rmSync(filler)
    await keep('kept after')
    expect(await names()).toEqual([...kept].sort())
    await database.close()
    database = await openDatabase({ dataDir: disk })
    expect(await names()).toEqual([...kept].sort())
  })

  it('that cannot even write its log reports this to all callers from then on, without a hanging call', async ({
    skip,
  }) => {
    const disk = smallDisk(100)
    if (disk === undefined) return skip('nobody may mount a disk here')
    cpSync(await emptyStore(), join(disk, 'postgres'), { recursive: true })
    const lines: string[] = []
    const database = await openDatabase({ dataDir: disk, log: (line) => lines.push(line) })
    await database.query('create table notes (name text primary key)')
    await database.query(`insert into notes values ('first')`)
    fill(join(disk, 'filler'))
    // Grows only PostgreSQL's log, by a megabyte each time.
    const logged = () => database.query(`select pg_logical_emit_message(true, 'x', repeat('y', 1000000))`)
    const failed = async () => {
      for (;;) await logged()
    }
    // Callers that wait for their turn when the store ends. Each repeats after an answer, so some always wait.
    const waited: unknown[] = []
    const wait = async () => {
      for (;;) await database.query('select name from notes')
    }
    const waiting = [1, 2, 3].map(() => wait().catch((error: unknown) => waited.push(error)))
    await expect(failed()).rejects.toMatchObject({ code: 'unavailable' })
    await Promise.all(waiting)
    expect(waited).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }, { code: 'unavailable' }])
    const queries = Array.from({ length: 20 }, () => database.query('select name from notes'))
    for (const answer of await Promise.allSettled([...queries, database.ping()]))
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    expect(lines.join()).toContain('The embedded store has stopped')
  })

  it('does not end during its own maintenance, which continues when there is space again', async ({ skip }) => {
    const disk = smallDisk(100)
    if (disk === undefined) return skip('nobody may mount a disk here')
    cpSync(await emptyStore(), join(disk, 'postgres'), { recursive: true })
    const { pool, maintain, close } = await openEmbedded({ dataDir: disk })
    onTestFinished(close)
    await pool.query('create table notes (name text)')
    const filler = join(disk, 'filler')
    fill(filler)
    await expect(maintain()).rejects.toThrow('The disk is full')
    expect((await pool.query('select name from notes')).rows).toEqual([])
    rmSync(filler)
    await maintain()
    await pool.query(`insert into notes values ('after')`)
  })
})
