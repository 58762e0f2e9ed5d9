import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { fingerprintOf, system } from '../../src/core/index.ts'
import { auditKeyOf, createStores, keyFile, migrate, openDatabase, recordAuditKey } from '../../src/store/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { newDatabaseUrl, newStoreOptions } from '../support/database.ts'
import { productionSettings } from '../support/production.ts'
import { withService } from '../support/service.ts'

const newFolder = () => mkdtempSync(join(inject('runFolder'), 'audit-key-'))

interface Ended {
  readonly code: number
  readonly output: string
}
/** Runs an entry of the product in its own process, in a folder without a `.env`. */
const run = (entry: string, args: readonly string[], variables: Record<string, string>): Promise<Ended> =>
  new Promise((done) => {
    const options = { env: { ...bareEnvironment, ...variables }, cwd: inject('runFolder'), timeout: 50_000 }
    execFile(process.execPath, [resolve('src', entry), ...args], options, (error, out, complaints) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, output: out + complaints }),
    )
  })
const command = (name: string, args: readonly string[], variables: Record<string, string>) =>
  run(`app/commands/${name}.ts`, args, variables)

function keyIn(file: string): { file: string; text: string; fingerprint: string } {
  const key = randomBytes(32)
  const text = key.toString('base64')
  writeFileSync(file, `${text}\n`)
  return { file, text, fingerprint: fingerprintOf(key) }
}

/** Creates an embedded store with one sealed entry, and its key in the same folder. */
async function sealedStore() {
  const { dataDir } = await newStoreOptions('embedded')
  const database = await openDatabase({ dataDir })
  await migrate(database)
  const key = auditKeyOf(dataDir, undefined)
  await recordAuditKey(database, key)
  const id = '0c0ffee0-1111-4111-8111-000000000365'
  const entry = { requestId: id, tenantId: id, at: new Date().toISOString(), actor: system, action: 'certificate-read' }
  await createStores(database, key).audit.append([entry])
  await database.close()
  return { dataDir, fingerprint: fingerprintOf(key), text: readFileSync(keyFile(dataDir), 'utf8').trim() }
}

describe('the audit key of a backup', () => {
  let store: Awaited<ReturnType<typeof sealedStore>>
  let folder: string
  let copy: string
  let kept: string
  let wrong: ReturnType<typeof keyIn>
  beforeAll(async () => {
    store = await sealedStore()
    folder = newFolder()
    copy = join(folder, 'copy.tar.gz')
    kept = join(folder, 'kept.key')
    wrong = keyIn(join(folder, 'wrong.key'))
  })

  it('is not in the backup; npm run backup shows where the key is and why it must be kept', async () => {
    const { code, output } = await command('backup', [join(folder, 'plain.tar.gz')], { DATA_DIR: store.dataDir })
    expect(code).toBe(0)
    expect(output).toContain(
      `The audit key is not in this copy: it is in ${keyFile(store.dataDir)} (fingerprint ${store.fingerprint}).`,
    )
    expect(output).toMatch(/Without the key, the audit cannot be proved, and production does not start with this copy/)
    expect(output).not.toContain(store.text)
    const secret = { DATA_DIR: store.dataDir, AUDIT_SECRET: store.text }
    const other = await command('backup', [join(folder, 'secret.tar.gz')], secret)
    expect(other.output).toContain(`it is in AUDIT_SECRET (fingerprint ${store.fingerprint})`)
  })

  it('is written to a file of its own on request, with mode 600, also twice', async () => {
    const { code, output } = await command('backup', [copy, '--with-audit-key', kept], {
      DATA_DIR: store.dataDir,
    })
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`${kept} contains the audit key (fingerprint ${store.fingerprint})`),
    ])
    expect([readFileSync(kept, 'utf8').trim(), statSync(kept).mode & 0o777]).toEqual([store.text, 0o600])
    const again = join(folder, 'again.tar.gz')
    expect(await command('backup', [again, '--with-audit-key', kept], { DATA_DIR: store.dataDir })).toMatchObject({
      code: 0,
    })
  })

  it('never replaces another key, and a wrong key is not copied', async () => {
    const file = join(folder, 'none.tar.gz')
    const taken = await command('backup', [file, '--with-audit-key', wrong.file], { DATA_DIR: store.dataDir })
    expect([taken.code, taken.output]).toEqual([
      1,
      expect.stringContaining('contains another key: choose another name'),
    ])
    const variables = { DATA_DIR: store.dataDir, AUDIT_SECRET: wrong.text }
    const refused = await command('backup', [file, '--with-audit-key', join(folder, 'new.key')], variables)
    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(
      `AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key that sealed this audit. The fingerprint of that key is ${store.fingerprint}. Nothing was copied.`,
    )
    expect([existsSync(file), existsSync(join(folder, 'new.key'))]).toEqual([false, false])
  })

  it('is moved together with a store to a server', async () => {
    const to = ['--to', await newDatabaseUrl(), '--with-audit-key', join(folder, 'server.key')]
    const { code, output } = await command('backup', to, { DATA_DIR: store.dataDir })
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/server\.key contains the audit key[\s\S]*AUDIT_SECRET with the content/),
    ])
    expect(statSync(join(folder, 'server.key')).mode & 0o777).toBe(0o600)
    // A backup creates no key if there is no key.
    expect(readdirSync(store.dataDir).filter((name) => name.startsWith('audit'))).toEqual(['audit.key'])
  })

  describe('during npm run restore', () => {
    let dataDir: string
    beforeEach(() => {
      dataDir = newFolder()
    })
    const restore = (args: readonly string[], variables: Record<string, string> = {}) =>
      command('restore', [copy, ...args], { DATA_DIR: dataDir, ...variables })

    it('is requested by its fingerprint when it is missing or differs', async () => {
      const missing = await restore([])
      expect(missing.code).toBe(0)
      expect(missing.output).toContain(
        `${keyFile(dataDir)} is missing. It must contain the key that sealed this audit. The fingerprint of that key is ${store.fingerprint}.`,
      )
      expect(missing.output).toContain(`npm run restore -- ${copy} --replace --with-audit-key <file>`)
      const other = await restore(['--replace'], { AUDIT_SECRET: wrong.text })
      expect(other.output).toContain(`AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key`)
      expect(other.output).toContain('Set AUDIT_SECRET to that key before you start the service.')
    })

    it('is refused when it does not match, and nothing is restored', async () => {
      const { code, output } = await restore(['--with-audit-key', wrong.file])
      expect([code, output]).toEqual([1, expect.stringContaining(`key is ${store.fingerprint}. Nothing was restored.`)])
      expect(readdirSync(dataDir)).toEqual(['postgres.lock'])
      const none = await restore(['--with-audit-key', join(folder, 'nowhere.key')])
      expect([none.code, none.output]).toEqual([1, expect.stringContaining('nowhere.key does not exist')])
      writeFileSync(join(folder, 'list.key'), 'milk, bread')
      const list = await restore(['--with-audit-key', join(folder, 'list.key')])
      expect([list.code, list.output]).toEqual([1, expect.stringContaining('list.key contains no audit key')])
    })

    it('is stored next to the store, and another key there is kept', async () => {
      writeFileSync(keyFile(dataDir), wrong.text)
      const { code, output } = await restore(['--with-audit-key', kept])
      expect([code, output]).toEqual([
        0,
        expect.stringContaining(`The audit key is in ${keyFile(dataDir)}. The previous key is kept in`),
      ])
      expect([readFileSync(keyFile(dataDir), 'utf8').trim(), statSync(keyFile(dataDir)).mode & 0o777]).toEqual([
        store.text,
        0o600,
      ])
      const before = readdirSync(dataDir).find((name) => name.startsWith('audit.key.before-')) ?? ''
      expect(readFileSync(join(dataDir, before), 'utf8')).toBe(wrong.text)
      const verified = await command('audit-verify', [], { DATA_DIR: dataDir })
      expect(verified).toEqual({ code: 0, output: expect.stringContaining('No entry was changed or is missing.') })
    })

    it('has no effect if AUDIT_SECRET is set, and the output says so', async () => {
      const { output } = await restore(['--with-audit-key', kept], { AUDIT_SECRET: wrong.text })
      expect(output).toContain(`Set it to the content of ${kept} before you start the service`)
      expect(existsSync(keyFile(dataDir))).toBe(false)
    })
  })

  it('is compared by npm run audit:key, and replaced only on request', async () => {
    const { dataDir } = await sealedStore()
    const lost = readFileSync(keyFile(dataDir), 'utf8').trim()
    const own = { DATA_DIR: dataDir }
    expect(await command('audit-key', [], own)).toEqual({
      code: 0,
      output: expect.stringMatching(/audit\.key fits the store/),
    })
    expect(await command('audit-key', [wrong.file], own)).toMatchObject({
      code: 1,
      output: expect.stringContaining(wrong.fingerprint),
    })
    const secret = { ...own, AUDIT_SECRET: wrong.text }
    expect((await command('audit-verify', [], secret)).output).toMatch(/^AUDIT_SECRET .* is not the key that sealed/)
    const replaced = await command('audit-key', ['--replace'], secret)
    expect(replaced).toEqual({
      code: 0,
      output: expect.stringContaining(`now accepts AUDIT_SECRET (fingerprint ${wrong.fingerprint})`),
    })
    expect(await command('audit-key', ['--replace'], secret)).toEqual({
      code: 0,
      output: expect.stringContaining('fits the store'),
    })
    expect((await command('audit-key', [], { ...own, AUDIT_SECRET: lost })).code).toBe(1)
    const database = await openDatabase({ dataDir })
    const { rows } = await database.query('SELECT action, origin FROM audit_log ORDER BY entry DESC LIMIT 1')
    expect(rows).toEqual([{ action: 'audit-key-replaced', origin: 'command line' }])
    await database.close()
  })

  it('prevents a start in production when it is missing, and the error shows what to do', async () => {
    const { DATABASE_URL: _, ...settings } = productionSettings(newFolder(), '')
    const variables = { ...settings, DATA_DIR: store.dataDir, AUDIT_SECRET: wrong.text, PORT: '0' }
    const { code, output } = await run('main.ts', [], variables)
    expect(code).toBe(1)
    expect(output).toContain(
      `AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key that sealed this audit. The fingerprint of that key is ${store.fingerprint}. Set AUDIT_SECRET to that key`,
    )
    expect(output).toMatch(/If the key is lost, npm run audit:key -- --replace/)
    expect(output).not.toContain(wrong.text)
  })
})

const health = z.object({ parts: z.array(z.object({ name: z.string(), state: z.string(), detail: z.string() })) })

describe('a service in local mode without its audit key', () => {
  const service = withService()

  it('shows the loss in admin health', async () => {
    const part = async () => {
      const { body } = await service.rest('sam', 'GET', '/admin/v1/health')
      return health.parse(body).parts.find(({ name }) => name === 'auditKey')
    }
    expect(await part()).toMatchObject({ state: 'green' })
    await service.restart({ AUDIT_SECRET: randomBytes(32).toString('base64') })
    expect(await part()).toMatchObject({
      state: 'red',
      detail: expect.stringMatching(
        /^AUDIT_SECRET \(fingerprint .*\) is not the key .* Set the key that sealed the audit/,
      ),
    })
  })
})
