import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { backUpStore, restoreStore } from '../../src/store/database/backup.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { createStores, migrate } from '../../src/store/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { at, projectSite } from '../support/card-world.ts'
import { newStoreOptions } from '../support/database.ts'
import { requestOf } from '../support/rest.ts'

const newFolder = () => mkdtempSync(join(inject('runFolder'), 'backup-'))
const holding = { requests: 2, templates: 1, newestChange: '2026-11-20T09:30:00.000Z' }

describe('a backup of the embedded store', () => {
  let dataDir: string
  let file: string
  const reasons = async (from: string) => {
    const database = await openDatabase({ dataDir: from })
    const { rows } = await database.query<{ reason: string }>(
      `select body ->> 'reason' as reason from requests order by number`,
    )
    await database.close()
    return rows.map(({ reason }) => reason)
  }

  beforeAll(async () => {
    dataDir = (await newStoreOptions('embedded')).dataDir
    const database = await openDatabase({ dataDir })
    await migrate(database)
    const stores = createStores(database)
    await stores.templates.put(requestOf().tenantId, { ...projectSite, version: 1 }, 0)
    for (const [index, reason] of ['“Süd” 漢字 🚀', 'and another'].entries()) {
      const requestId = `aaaaaaaa-0000-4000-8000-00000000000${index}`
      await stores.requests.insert(requestOf({ requestId, number: 1000 + index, reason, updatedAt: at('09:30') }))
    }
    await database.close()
    file = join(newFolder(), 'backup.tar.gz')
    expect(await backUpStore(dataDir, file)).toEqual(holding)
  })

  it('is one file that only its owner can read, and leaves no other file', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(file, '..'))).toEqual(['backup.tar.gz'])
  })

  it('restores everything into an empty folder', async () => {
    const target = join(newFolder(), 'data')
    expect(await restoreStore(target, file, { replace: false })).toEqual({ ...holding, kept: undefined })
    expect(await reasons(target)).toEqual(['“Süd” 漢字 🚀', 'and another'])
    expect(readdirSync(target).sort()).toEqual(['postgres', 'postgres.lock'])
    // The state that a process leaves when it dies between the two renames.
    renameSync(join(target, 'postgres'), join(target, 'postgres.restored'))
    expect(await reasons(target)).toHaveLength(2)
  })

  it('replaces another store only on request, and keeps the other store', async () => {
    const target = (await newStoreOptions('embedded')).dataDir
    const database = await openDatabase({ dataDir: target })
    await database.query('create table old (note text)')
    await database.close()
    await expect(restoreStore(target, file, { replace: false })).rejects.toThrow(
      /already contains a store\. Add --replace/,
    )
    const { kept } = await restoreStore(target, file, { replace: true })
    expect(await reasons(target)).toHaveLength(2)
    const before = newFolder()
    renameSync(kept ?? '', join(before, 'postgres'))
    const old = await openDatabase({ dataDir: before })
    expect((await old.query('select * from old')).rows).toEqual([])
    await old.close()
  })

  it('is restored although an earlier restore was killed', async () => {
    const target = newFolder()
    await restoreStore(target, file, { replace: false })
    // Killed before its second rename, and then between the second and the third.
    cpSync(join(target, 'postgres'), join(target, 'postgres.restored'), { recursive: true })
    await restoreStore(target, file, { replace: true })
    renameSync(join(target, 'postgres'), join(target, 'postgres.restored'))
    await expect(restoreStore(target, file, { replace: false })).rejects.toThrow('already contains a store')
    await restoreStore(target, file, { replace: true })
    expect(await reasons(target)).toHaveLength(2)
    expect(readdirSync(target)).not.toContain('postgres.restored')
  })

  it('never becomes the store later, if its restore was killed before it replaced the old store', async () => {
    const target = (await newStoreOptions('embedded')).dataDir
    const ask = async (sql: string) => {
      const database = await openDatabase({ dataDir: target })
      const { rows } = await database.query(sql)
      await database.close()
      return rows
    }
    await ask('create table old (note text)')
    cpSync(join(dataDir, 'postgres'), join(target, 'postgres.restored'), { recursive: true })
    // The service goes on with the old store, until somebody moves it away to start afresh.
    expect(await ask('select * from old')).toEqual([])
    renameSync(join(target, 'postgres'), join(target, 'moved'))
    expect(await ask(`select to_regclass('requests') as requests`)).toEqual([{ requests: null }])
  })

  it('is neither created nor restored while the service runs', async () => {
    const database = await openDatabase({ dataDir })
    const other = join(newFolder(), 'other.tar.gz')
    await expect(backUpStore(dataDir, other)).rejects.toThrow(/The service uses .* Stop it first/)
    await expect(restoreStore(dataDir, file, { replace: true })).rejects.toThrow(/The service uses /)
    await database.close()
    expect(existsSync(other)).toBe(false)
  })

  it('never replaces a file, and needs a store', async () => {
    const before = readFileSync(file)
    await expect(backUpStore(dataDir, file)).rejects.toThrow('exists already')
    expect(readFileSync(file).equals(before)).toBe(true)
    await expect(backUpStore(newFolder(), join(newFolder(), 'a'))).rejects.toThrow('There is no store in')
  })

  it('is written to a disk without hard links, where it never replaces a file either', async () => {
    const folder = newFolder()
    const copy = join(folder, 'copy.tar.gz')
    const refusing = (code: string, before?: () => void) => () => {
      before?.()
      throw Object.assign(new Error(`${code}: link`), { code })
    }
    // Another process creates the name while the backup is written.
    const created = refusing('ENOTSUP', () => writeFileSync(copy, 'mine'))
    await expect(backUpStore(dataDir, copy, undefined, created)).rejects.toThrow('EEXIST')
    expect([readdirSync(folder), readFileSync(copy, 'utf8')]).toEqual([['copy.tar.gz'], 'mine'])
    rmSync(copy)
    expect(await backUpStore(dataDir, copy, undefined, refusing('EPERM'))).toEqual(holding)
    expect([readdirSync(folder), statSync(copy).mode & 0o777]).toEqual([['copy.tar.gz'], 0o600])
    expect(await restoreStore(join(folder, 'data'), copy, { replace: false })).toMatchObject(holding)
  })

  it('is refused for the old store after a move to a server, unless DATABASE_URL is emptied', () => {
    const target = join(newFolder(), 'data')
    const cwd = newFolder()
    const copy = join(cwd, 'copy.tar.gz')
    // The settings after a move: DATABASE_URL is new, and DATA_DIR is left over.
    const settingsFor = (folder: string) =>
      writeFileSync(join(cwd, '.env'), `DATABASE_URL=postgres://127.0.0.1:1/moved\nDATA_DIR=${folder}\n`)
    const command = (name: string, args: readonly string[], variables: Record<string, string> = {}) => {
      const options = { env: { ...bareEnvironment, ...variables }, cwd, encoding: 'utf8' as const }
      return spawnSync(process.execPath, [resolve(`src/app/commands/${name}.ts`), ...args], options)
    }
    settingsFor(dataDir)
    const backup = command('backup', [copy])
    expect([backup.status, backup.stderr]).toEqual([
      1,
      expect.stringMatching(/^The store is a server .*pg_dump\..* put DATABASE_URL= before the command\.\n$/),
    ])
    expect(existsSync(copy)).toBe(false)
    settingsFor(target)
    const restore = command('restore', [file])
    expect([restore.status, restore.stderr]).toEqual([
      1,
      expect.stringMatching(/^The store is a server .*pg_restore\./),
    ])
    expect(existsSync(target)).toBe(false)

    settingsFor(dataDir)
    expect(command('backup', [copy], { DATABASE_URL: '' })).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(copy)).toBe(true)
  })

  it.each([
    ['cut in the middle', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['with one changed bit', (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 5000 ? byte ^ 1 : byte)))],
    ['with other content', () => Buffer.from('a shopping list')],
    ['with other content, compressed', () => gzipSync('a shopping list')],
    ['without its end', (bytes: Buffer) => gzipSync(gunzipSync(bytes).subarray(0, -2000))],
  ])('%s is refused, and the store is unchanged', async (_, damage) => {
    const target = newFolder()
    mkdirSync(join(target, 'postgres'))
    writeFileSync(join(target, 'postgres', 'PG_VERSION'), 'mine')
    const damaged = join(newFolder(), 'damaged.tar.gz')
    writeFileSync(damaged, damage(readFileSync(file)))
    await expect(restoreStore(target, damaged, { replace: true })).rejects.toThrow(/is not a backup of the store/)
    expect(readFileSync(join(target, 'postgres', 'PG_VERSION'), 'utf8')).toBe('mine')
    expect(readdirSync(target)).toEqual(['postgres'])
  })
})
