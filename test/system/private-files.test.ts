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
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
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

/** Returns every file and folder that group or others can access, with its mode, including the folder itself. */
function openTo(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return [folder, ...below]
    .filter((path) => !lstatSync(path).isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0)
    .map((path) => `${path.slice(folder.length)} ${modeOf(path)}`)
}

/** Makes everything in a folder accessible to everybody, like stores of earlier versions. */
function openAll(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o666)
  chmodSync(folder, 0o755)
}

/** Runs an entry point with the usual umask, in a folder without a `.env`. */
function run(entry: string, words: string[], variables: Record<string, string>) {
  const env = { ...bareEnvironment, ...variables }
  const script = 'umask 022; exec "$@"'
  return spawn('/bin/sh', ['-c', script, 'sh', process.execPath, resolve(entry), ...words], { env, cwd: newFolder() })
}

async function ended(child: ReturnType<typeof run>): Promise<{ code: number | null; output: string }> {
  const [out, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, output: out + complaints }
}

/** Waits until the process prints such a line, runs the work, and stops the process in order. */
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
  const output = await complaints
  expect(isUp, output).toBe(true)
  return output
}

describe('the files of the service', () => {
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

  it('are accessible to its user only, during and after its run: store, simulator, chat windows, existing files', async () => {
    const own = { DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0' }
    let open: string[] = ['nothing was looked at']
    let names: string[] = []
    const output = await whileRunning(run('src/main.ts', [], own), /^Quartermaster answers/, () => {
      open = openTo(dataDir)
      names = readdirSync(dataDir)
    })
    expect(open).toEqual([])
    expect(openTo(dataDir)).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['audit.key', 'playground', 'postgres', 'simulator.sqlite-wal']))
    // The log lists the changes.
    expect(output).toMatch(/The permissions of \d+ files in DATA_DIR were restricted to this user; other users/)
  })

  it('do not include targets of symbolic links, which keep their permissions', () => {
    expect(modeOf(foreign)).toBe('644')
  })

  it('are private after a backup into the folder and a restore', async () => {
    const file = join(dataDir, 'today.tar.gz')
    openAll(join(dataDir, 'backups'))
    const written = await ended(run('src/app/commands/backup.ts', [file], { DATA_DIR: dataDir }))
    expect(written, written.output).toMatchObject({ code: 0 })
    expect(openTo(dataDir)).toEqual([])
    openAll(join(dataDir, 'postgres'))
    const restored = await ended(run('src/app/commands/restore.ts', [file, '--replace'], { DATA_DIR: dataDir }))
    expect(restored, restored.output).toMatchObject({ code: 0 })
    expect(readdirSync(dataDir).some((name) => name.startsWith('postgres.before-'))).toBe(true)
    expect(openTo(dataDir)).toEqual([])
  })

  it('are private when the simulator runs alone', async () => {
    const alone = newFolder()
    // The state of an earlier version.
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

  it('do not include a shared folder, which stays open to its users when the simulator runs alone', async () => {
    const shared = newFolder()
    chmodSync(shared, 0o1777)
    await whileRunning(
      run('src/simulator/main.ts', [], { DATA_DIR: shared, SIMULATOR_PORT: '0' }),
      /^EXCHANGE_URL/,
      () => undefined,
    )
    expect(openTo(shared)).toEqual([' 777'])
  })

  it('are private with any umask, including log files that PostgreSQL creates later', async () => {
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
  /** Creates a folder `data` in a parent folder with these modes, and a file in it. */
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

  it('prevents the start when other users can write to it, with the command that fixes it, and is unchanged', async () => {
    const dataDir = folderWith({ own: 0o777 })
    const { code, output } = await ended(run('src/main.ts', [], { ...complete, DATA_DIR: dataDir }))
    expect(code).toBe(1)
    expect(output).toContain(`Other users can change DATA_DIR: ${dataDir} (mode 777`)
    expect(output).toContain(`run: chmod -R go-rwx ${dataDir}\n`)
    expect([modeOf(dataDir), readdirSync(dataDir)]).toEqual(['777', ['file']])
  })

  it('is closed without a question when others could only read it', async () => {
    const dataDir = folderWith({})
    // The start ends because the port is in use. That happens after the folder is closed.
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { output } = await ended(run('src/main.ts', [], { ...complete, DATA_DIR: dataDir, PORT: String(port) }))
    taken.close()
    expect(output).toContain('EADDRINUSE')
    expect(output).toContain('files in DATA_DIR were restricted to this user')
    expect(openTo(dataDir)).toEqual([])
  })

  it.each([
    ['a folder of a group', { own: 0o770 }, /Other users can change DATA_DIR.*chmod -R go-rwx/],
    ['a file that others can access', { file: 0o666 }, /file \(mode 666.*chmod -R go-rwx/],
    ['a folder in which others can replace it', { above: 0o777 }, /is in .*replace it.*chmod o-w /],
    ['a name that a shell would split', { own: 0o777, name: "Kim's data" }, /chmod -R go-rwx '.*Kim'\\''s data'$/],
  ])('is refused: %s', (_, modes, fault) => {
    expect(foreignWriters(folderWith(modes))).toEqual([expect.stringMatching(fault)])
  })

  it('is refused: a file deep in the folder that others can access, as in stores of earlier versions', () => {
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
    ['a file that others cannot access', { own: 0o700, file: 0o666 }],
    ['a parent folder where people can only change their own files', { above: 0o1777 }],
    ['a parent folder that its group can write to', { above: 0o775 }],
  ])('is accepted: %s', (_, modes) => {
    expect(foreignWriters(folderWith(modes))).toEqual([])
  })

  it('is created for its user only, with its parent folders', () => {
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
    // Only root can give a folder away, so other users cannot test this.
    const [own, above] = [/belong to another user: .*user 65534.*chown -R \d+:\d+ /, /is in .*another user \(65534\)/]
    expect(foreignWriters(folder)).toEqual(isRoot ? [expect.stringMatching(own)] : [])
    expect(foreignWriters(inside)).toEqual(isRoot ? [expect.stringMatching(above)] : [])
  })
})

describe('a data folder that another process or user also uses', () => {
  it('is made private while another process deletes folders in it', async () => {
    const folder = newFolder()
    const churn = `const fs = require('node:fs')
      const names = Array.from({ length: 50 }, (_, index) => process.argv[1] + '/' + index)
      for (;;) {
        for (const name of names) fs.mkdirSync(name + '/inner', { recursive: true })
        fs.writeFileSync(process.argv[1] + '/up', '')
        for (const name of names) fs.rmSync(name, { recursive: true, force: true })
      }`
    const other = spawn(process.execPath, ['-e', churn, folder])
    onTestFinished(() => void other.kill('SIGKILL'))
    await expect.poll(() => readdirSync(folder)).toContain('up')
    for (let time = 0; time < 300; time += 1) expect(makePrivate(folder).refused).toEqual([])
  })

  const isRoot = process.getuid?.() === 0
  if (!isRoot)
    console.log('Only root can act as another user, so the test of foreign folders such as lost+found is left out.')
  it.runIf(isRoot)(
    'skips folders that only root can enter, such as lost+found, and reports other unreadable folders',
    () => {
      const nobody = 65_534
      // The folder is directly in the temporary folder, so that another user can reach it.
      const folder = mkdtempSync(join(tmpdir(), 'quartermaster-volume-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      chownSync(folder, nobody, nobody)
      mkdirSync(join(folder, 'lost+found'), { mode: 0o700 })
      mkdirSync(join(folder, 'of-a-person'), { mode: 0o700 })
      chownSync(join(folder, 'of-a-person'), 1234, 1234)
      mkdirSync(join(folder, 'own'))
      chownSync(join(folder, 'own'), nobody, nobody)
      chmodSync(join(folder, 'own'), 0o755)
      process.seteuid?.(nobody)
      try {
        expect(makePrivate(folder)).toEqual({
          changed: 1,
          wereWritable: 0,
          refused: [`${folder}/of-a-person (EACCES)`],
        })
      } finally {
        process.seteuid?.(0)
      }
      expect(modeOf(join(folder, 'own'))).toBe('700')
    },
  )
})

describe('a data folder that is shared', () => {
  it('is refused: a folder of all users', () => {
    const shared = newFolder()
    chmodSync(shared, 0o1777)
    expect(() => makePrivate(shared)).toThrow(/DATA_DIR .* is shared by all users: use a separate folder, such as/)
    expect(statSync(shared).mode & 0o7777).toBe(0o1777)
  })

  it('is refused: the folder of the program', () => {
    const mode = modeOf('src')
    expect(() => makePrivate('.')).toThrow(/contains the program itself/)
    expect(modeOf('src')).toBe(mode)
    expect(() => makePrivate('/')).toThrow(/DATA_DIR \//)
  })
})
