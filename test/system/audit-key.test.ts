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
  readonly said: string
}
/** An entry of the product in a process of its own, in a folder without a `.env`. */
const run = (entry: string, args: readonly string[], variables: Record<string, string>): Promise<Ended> =>
  new Promise((done) => {
    const options = { env: { ...bareEnvironment, ...variables }, cwd: inject('runFolder'), timeout: 50_000 }
    execFile(process.execPath, [resolve('src', entry), ...args], options, (error, out, complaints) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, said: out + complaints }),
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

/** An embedded store with one sealed entry, and its key beside it. */
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

describe('the audit key of a copy', { timeout: 120_000 }, () => {
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

  it('is not in it, and npm run backup says where it is and why it must be kept', async () => {
    const { code, said } = await command('backup', [join(folder, 'plain.tar.gz')], { DATA_DIR: store.dataDir })
    expect(code).toBe(0)
    expect(said).toContain(
      `The audit key is not in this copy: it is in ${keyFile(store.dataDir)} (fingerprint ${store.fingerprint}).`,
    )
    expect(said).toMatch(/Without it nobody can prove the audit, and production does not start over this copy/)
    expect(said).not.toContain(store.text)
    const secret = { DATA_DIR: store.dataDir, AUDIT_SECRET: store.text }
    const other = await command('backup', [join(folder, 'secret.tar.gz')], secret)
    expect(other.said).toContain(`it is in AUDIT_SECRET (fingerprint ${store.fingerprint})`)
  })

  it('goes into a file of its own when told to, of mode 600, also twice', async () => {
    const { code, said } = await command('backup', [copy, '--with-audit-key', kept], { DATA_DIR: store.dataDir })
    expect([code, said]).toEqual([
      0,
      expect.stringContaining(`${kept} holds the audit key (fingerprint ${store.fingerprint})`),
    ])
    expect([readFileSync(kept, 'utf8').trim(), statSync(kept).mode & 0o777]).toEqual([store.text, 0o600])
    const again = join(folder, 'again.tar.gz')
    expect(await command('backup', [again, '--with-audit-key', kept], { DATA_DIR: store.dataDir })).toMatchObject({
      code: 0,
    })
  })

  it('never replaces another key, and a wrong key is copied nowhere', async () => {
    const file = join(folder, 'none.tar.gz')
    const taken = await command('backup', [file, '--with-audit-key', wrong.file], { DATA_DIR: store.dataDir })
    expect([taken.code, taken.said]).toEqual([1, expect.stringContaining('holds another key: choose another name')])
    const variables = { DATA_DIR: store.dataDir, AUDIT_SECRET: wrong.text }
    const refused = await command('backup', [file, '--with-audit-key', join(folder, 'new.key')], variables)
    expect(refused.code).toBe(1)
    expect(refused.said).toMatch(
      `AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key that sealed the audit of this store (fingerprint ${store.fingerprint}). Nothing was copied.`,
    )
    expect([existsSync(file), existsSync(join(folder, 'new.key'))]).toEqual([false, false])
  })

  it('goes with a copy into a server too', async () => {
    const to = ['--to', await newDatabaseUrl(), '--with-audit-key', join(folder, 'server.key')]
    const { code, said } = await command('backup', to, { DATA_DIR: store.dataDir })
    expect([code, said]).toEqual([
      0,
      expect.stringMatching(/server\.key holds the audit key[\s\S]*AUDIT_SECRET set to what/),
    ])
    expect(statSync(join(folder, 'server.key')).mode & 0o777).toBe(0o600)
    // A copy creates no key where there was none.
    expect(readdirSync(store.dataDir).filter((name) => name.startsWith('audit'))).toEqual(['audit.key'])
  })

  describe('that npm run restore brings back', () => {
    let dataDir: string
    beforeEach(() => {
      dataDir = newFolder()
    })
    const restore = (args: readonly string[], variables: Record<string, string> = {}) =>
      command('restore', [copy, ...args], { DATA_DIR: dataDir, ...variables })

    it('is named by its fingerprint when it is missing or another one', async () => {
      const missing = await restore([])
      expect(missing.code).toBe(0)
      expect(missing.said).toContain(
        `${keyFile(dataDir)} is missing: it must hold the key that sealed the audit of this store (fingerprint ${store.fingerprint}).`,
      )
      expect(missing.said).toContain(`npm run restore -- ${copy} --replace --with-audit-key <file>`)
      const other = await restore(['--replace'], { AUDIT_SECRET: wrong.text })
      expect(other.said).toContain(`AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key`)
      expect(other.said).toContain('Set AUDIT_SECRET to that key before you start the service.')
    })

    it('is refused when it does not fit, and nothing is restored', async () => {
      const { code, said } = await restore(['--with-audit-key', wrong.file])
      expect([code, said]).toEqual([
        1,
        expect.stringContaining(`fingerprint ${store.fingerprint}). Nothing was restored.`),
      ])
      expect(readdirSync(dataDir)).toEqual(['postgres.lock'])
      const none = await restore(['--with-audit-key', join(folder, 'nowhere.key')])
      expect([none.code, none.said]).toEqual([1, expect.stringContaining('nowhere.key is not there')])
      writeFileSync(join(folder, 'list.key'), 'milk, bread')
      const list = await restore(['--with-audit-key', join(folder, 'list.key')])
      expect([list.code, list.said]).toEqual([1, expect.stringContaining('list.key holds no audit key')])
    })

    it('is put beside the store, and another key there is kept', async () => {
      writeFileSync(keyFile(dataDir), wrong.text)
      const { code, said } = await restore(['--with-audit-key', kept])
      expect([code, said]).toEqual([
        0,
        expect.stringContaining(`The audit key is in ${keyFile(dataDir)}. The one before is kept in`),
      ])
      expect([readFileSync(keyFile(dataDir), 'utf8').trim(), statSync(keyFile(dataDir)).mode & 0o777]).toEqual([
        store.text,
        0o600,
      ])
      const before = readdirSync(dataDir).find((name) => name.startsWith('audit.key.before-')) ?? ''
      expect(readFileSync(join(dataDir, before), 'utf8')).toBe(wrong.text)
      const verified = await command('audit-verify', [], { DATA_DIR: dataDir })
      expect(verified).toEqual({ code: 0, said: expect.stringContaining('All is as it was written.') })
    })

    it('says that AUDIT_SECRET counts where it is set', async () => {
      const { said } = await restore(['--with-audit-key', kept], { AUDIT_SECRET: wrong.text })
      expect(said).toContain(`Set AUDIT_SECRET to what ${kept} says before you start the service`)
      expect(existsSync(keyFile(dataDir))).toBe(false)
    })
  })

  it('is compared by npm run audit:key, and replaced only when told to', async () => {
    const { dataDir } = await sealedStore()
    const lost = readFileSync(keyFile(dataDir), 'utf8').trim()
    const own = { DATA_DIR: dataDir }
    expect(await command('audit-key', [], own)).toEqual({
      code: 0,
      said: expect.stringMatching(/audit\.key fits the store/),
    })
    expect(await command('audit-key', [wrong.file], own)).toMatchObject({
      code: 1,
      said: expect.stringContaining(wrong.fingerprint),
    })
    const secret = { ...own, AUDIT_SECRET: wrong.text }
    expect((await command('audit-verify', [], secret)).said).toMatch(/^AUDIT_SECRET .* is not the key that sealed/)
    const replaced = await command('audit-key', ['--replace'], secret)
    expect(replaced).toEqual({
      code: 0,
      said: expect.stringContaining(`accepts AUDIT_SECRET (fingerprint ${wrong.fingerprint}) from now on`),
    })
    expect(await command('audit-key', ['--replace'], secret)).toEqual({
      code: 0,
      said: expect.stringContaining('fits the store'),
    })
    expect((await command('audit-key', [], { ...own, AUDIT_SECRET: lost })).code).toBe(1)
    const database = await openDatabase({ dataDir })
    const { rows } = await database.query('SELECT action, origin FROM audit_log ORDER BY entry DESC LIMIT 1')
    expect(rows).toEqual([{ action: 'audit-key-replaced', origin: 'command line' }])
    await database.close()
  })

  it('keeps production from starting without it, which says what to do', async () => {
    const { DATABASE_URL: _, ...settings } = productionSettings(newFolder(), '')
    const variables = { ...settings, DATA_DIR: store.dataDir, AUDIT_SECRET: wrong.text, PORT: '0' }
    const { code, said } = await run('main.ts', [], variables)
    expect(code).toBe(1)
    expect(said).toContain(
      `AUDIT_SECRET (fingerprint ${wrong.fingerprint}) is not the key that sealed the audit of this store (fingerprint ${store.fingerprint}). Set AUDIT_SECRET to that key`,
    )
    expect(said).toMatch(/If the key is lost, npm run audit:key -- --replace/)
    expect(said).not.toContain(wrong.text)
  })
})

const health = z.object({ parts: z.array(z.object({ name: z.string(), state: z.string(), detail: z.string() })) })

describe('a service in local mode that lost its audit key', () => {
  const service = withService()

  it('says so in admin health', async () => {
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
