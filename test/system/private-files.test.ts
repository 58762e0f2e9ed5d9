import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { foreignWriters, makePrivate } from '../../src/store/database/data-folder.ts'
import { openEmbedded } from '../../src/store/database/embedded.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { selfSigned } from '../support/certificates.ts'
import { emptyStore } from '../support/database.ts'

const newFolder = () => mkdtempSync(join(inject('runFolder'), 'private-'))
const modeOf = (path: string): string => (lstatSync(path).mode & 0o777).toString(8)

/** Every file and folder that group or others have a right to, with its mode; the folder itself too. */
function openTo(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return [folder, ...below]
    .filter((path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => `${path.slice(folder.length)} ${modeOf(path)}`)
}

/** Opens everything in a folder to everybody, as stores of earlier versions were and more. */
function openAll(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o666)
  chmodSync(folder, 0o755)
}

/** An entry point under the umask that most machines have, in a folder without a `.env`. */
function run(entry: string, words: string[], variables: Record<string, string>) {
  const env = { ...bareEnvironment, ...variables }
  const script = 'umask 022; exec "$@"'
  return spawn('/bin/sh', ['-c', script, 'sh', process.execPath, resolve(entry), ...words], { env, cwd: newFolder() })
}

async function ended(child: ReturnType<typeof run>): Promise<{ code: number | null; said: string }> {
  const [out, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, said: out + complaints }
}

/** Runs until it prints such a line, and ends in order after the work. */
async function whileRunning(child: ReturnType<typeof run>, up: RegExp, work: () => void): Promise<string> {
  const complaints = text(child.stderr)
  onTestFinished(() => void child.kill('SIGKILL'))
  let isUp = false
  for await (const line of createInterface(child.stdout)) {
    if (isUp || !up.test(line)) continue
    isUp = true
    work()
    child.kill('SIGTERM')
  }
  const said = await complaints
  expect(isUp, said).toBe(true)
  return said
}

describe('the files of the service', { timeout: 90_000 }, () => {
  let dataDir: string
  const foreign = join(newFolder(), 'foreign')

  beforeAll(async () => {
    dataDir = join(newFolder(), 'data')
    cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
    mkdirSync(join(dataDir, 'backups'))
    writeFileSync(join(dataDir, 'backups', 'yesterday.tar.gz'), 'a backup of an earlier version')
    writeFileSync(foreign, 'of somebody else')
    openAll(dataDir)
    chmodSync(foreign, 0o644)
    symlinkSync(foreign, join(dataDir, 'link'))
  })

  it('are for its user alone while it runs and after it: store, simulator, chat windows, old files', async () => {
    const own = { DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0' }
    let open: string[] = ['nothing was looked at']
    let names: string[] = []
    const said = await whileRunning(run('src/main.ts', [], own), /^Quartermaster answers/, () => {
      open = openTo(dataDir)
      names = readdirSync(dataDir)
    })
    expect(open).toEqual([])
    expect(openTo(dataDir)).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['audit.key', 'playground', 'postgres', 'simulator.sqlite-wal']))
    // The log says what was found.
    expect(said).toMatch(/The permissions of \d+ files in DATA_DIR were restricted to this user; other users/)
  })

  it('leave what a symbolic link leads to as it is', () => {
    expect(modeOf(foreign)).toBe('644')
  })

  it('are private when a backup is written into the folder and brought back', async () => {
    const file = join(dataDir, 'today.tar.gz')
    openAll(join(dataDir, 'backups'))
    const written = await ended(run('src/app/commands/backup.ts', [file], { DATA_DIR: dataDir }))
    expect(written, written.said).toMatchObject({ code: 0 })
    expect(openTo(dataDir)).toEqual([])
    openAll(join(dataDir, 'postgres'))
    const restored = await ended(run('src/app/commands/restore.ts', [file, '--replace'], { DATA_DIR: dataDir }))
    expect(restored, restored.said).toMatchObject({ code: 0 })
    expect(readdirSync(dataDir).some((name) => name.startsWith('postgres.before-'))).toBe(true)
    expect(openTo(dataDir)).toEqual([])
  })

  it('are private where the simulator runs alone', async () => {
    const alone = newFolder()
    // As an earlier version left it.
    writeFileSync(join(alone, 'simulator.sqlite'), '')
    openAll(alone)
    let open: string[] = ['nothing was looked at']
    await whileRunning(
      run('src/simulator/main.ts', [], { DATA_DIR: alone, SIMULATOR_PORT: '0' }),
      /^EXCHANGE_URL/,
      () => {
        open = openTo(alone)
        expect(readdirSync(alone)).toContain('simulator.sqlite-wal')
      },
    )
    expect(open).toEqual([])
  })

  it('leave a folder of all users open to them, where the simulator runs alone', async () => {
    const shared = newFolder()
    chmodSync(shared, 0o1777)
    await whileRunning(
      run('src/simulator/main.ts', [], { DATA_DIR: shared, SIMULATOR_PORT: '0' }),
      /^EXCHANGE_URL/,
      () => undefined,
    )
    expect(openTo(shared)).toEqual([' 777'])
  })

  it('are private whatever the umask is, log files that PostgreSQL begins later too', async () => {
    const folder = newFolder()
    const umask = process.umask(0)
    onTestFinished(() => void process.umask(umask))
    const store = await openEmbedded({ dataDir: folder })
    const logs = () => readdirSync(join(folder, 'postgres/pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name))
    const before = logs()
    await store.pool.query(`create table facts as select repeat(md5(g::text), 30) from generate_series(1, 60000) g`)
    await store.maintain()
    expect(logs().filter((name) => !before.includes(name))).not.toEqual([])
    expect(openTo(folder)).toEqual([])
    await store.close()
    expect(openTo(folder)).toEqual([])
  })
})

describe('a data folder in production', () => {
  const certificateFile = join(newFolder(), 'client.pem')
  const { key, certificate } = selfSigned()
  writeFileSync(certificateFile, key + certificate)
  const complete = {
    HOST: '127.0.0.1',
    PORT: '0',
    MODE: 'production',
    MICROSOFT_APP_ID: '0c0ffee0-3333-4333-8333-000000000001',
    MICROSOFT_APP_PASSWORD: 'secret',
    CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001',
    CLIENT_CERTIFICATE_PATH: certificateFile,
    ADMINS: '22222222-bbbb-4bbb-8bbb-000000000002',
    TENANT_ID: '0c0ffee0-1111-4111-8111-000000000365',
    SHAREPOINT_URL: 'https://contoso.sharepoint.com',
    DIRECTORY_EXTENSION: 'svc_group',
    AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64'),
    BASE_URL: 'https://quartermaster.contoso.example',
  }
  /** A folder `data` in a folder of its own, with these modes, and a file in it. */
  const folderWith = ({ above = 0o755, own = 0o755, file = 0o644, name = 'data' }): string => {
    const outer = newFolder()
    const folder = join(outer, name)
    mkdirSync(folder)
    writeFileSync(join(folder, 'file'), '')
    chmodSync(join(folder, 'file'), file)
    chmodSync(folder, own)
    chmodSync(outer, above)
    return folder
  }

  it('ends the start when other users can write to it, with the command that helps, and changes nothing', async () => {
    const dataDir = folderWith({ own: 0o777 })
    const { code, said } = await ended(run('src/main.ts', [], { ...complete, DATA_DIR: dataDir }))
    expect(code).toBe(1)
    expect(said).toContain(`DATA_DIR can be changed by other users: ${dataDir} (mode 777`)
    expect(said).toContain(`run: chmod -R go-rwx ${dataDir}\n`)
    expect([modeOf(dataDir), readdirSync(dataDir)]).toEqual(['777', ['file']])
  })

  it('is closed without a question when others could only read', { timeout: 90_000 }, async () => {
    const dataDir = folderWith({})
    // The start ends when the port is in use, which is after the folder is closed.
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { said } = await ended(run('src/main.ts', [], { ...complete, DATA_DIR: dataDir, PORT: String(port) }))
    taken.close()
    expect(said).toContain('EADDRINUSE')
    expect(said).toContain('files in DATA_DIR were restricted to this user')
    expect(openTo(dataDir)).toEqual([])
  })

  it.each([
    ['a folder of a group', { own: 0o770 }, /can be changed by other users.*chmod -R go-rwx/],
    ['a file that others reach', { file: 0o666 }, /file \(mode 666.*chmod -R go-rwx/],
    ['a folder in which others can replace it', { above: 0o777 }, /lies in .*replace it.*chmod o-w /],
    ['a name that a shell would split', { own: 0o777, name: "Kim's data" }, /chmod -R go-rwx '.*Kim'\\''s data'$/],
  ])('is refused: %s', (_, modes, fault) => {
    expect(foreignWriters(folderWith(modes))).toEqual([expect.stringMatching(fault)])
  })

  it('is refused: a file far below that others reach, as stores of earlier versions have them', () => {
    const folder = folderWith({})
    const inner = join(folder, 'postgres', 'pg_wal')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(inner, '000000010000000000000001'), '')
    for (const path of [join(folder, 'postgres'), inner]) chmodSync(path, 0o755)
    chmodSync(join(inner, '000000010000000000000001'), 0o666)
    expect(foreignWriters(folder)).toEqual([expect.stringMatching(/pg_wal\/0+10+1 \(mode 666.*chmod -R go-rwx/)])
    chmodSync(join(folder, 'postgres'), 0o700)
    expect(foreignWriters(folder)).toEqual([])
  })

  it.each([
    ['a file that others do not reach', { own: 0o700, file: 0o666 }],
    ['a folder that everybody may write to but own files only', { above: 0o1777 }],
    ['a folder above that is lent to the own group', { above: 0o775 }],
  ])('is taken: %s', (_, modes) => {
    expect(foreignWriters(folderWith(modes))).toEqual([])
  })

  it('is created for its user alone, with the folders above it', () => {
    const folder = join(newFolder(), 'one', 'two')
    expect(foreignWriters(folder)).toEqual([])
    makePrivate(folder)
    expect([modeOf(folder), modeOf(join(folder, '..'))]).toEqual(['700', '700'])
  })

  it('is refused when it belongs to another user', () => {
    const folder = folderWith({})
    const inside = folderWith({})
    const isRoot = process.getuid?.() === 0
    if (isRoot) {
      chownSync(folder, 65534, 65534)
      chownSync(join(inside, '..'), 65534, 65534)
    }
    // Only root can give a folder away; anybody else has none of that kind to show.
    const [own, above] = [/belongs to another user .*user 65534.*chown -R \d+:\d+ /, /lies in .*another user \(65534\)/]
    expect(foreignWriters(folder)).toEqual(isRoot ? [expect.stringMatching(own)] : [])
    expect(foreignWriters(inside)).toEqual(isRoot ? [expect.stringMatching(above)] : [])
  })
})

describe('a data folder that is not one of its own', () => {
  it('is refused: a folder that all users share', () => {
    const shared = newFolder()
    chmodSync(shared, 0o1777)
    expect(() => makePrivate(shared)).toThrow(/DATA_DIR .* is shared by all users: name a folder of its own, such as/)
    expect(statSync(shared).mode & 0o7777).toBe(0o1777)
  })

  it('is refused: the folder of the program', () => {
    const mode = modeOf('src')
    expect(() => makePrivate('.')).toThrow(/holds the program itself/)
    expect(modeOf('src')).toBe(mode)
    expect(() => makePrivate('/')).toThrow(/DATA_DIR \//)
  })
})
