import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { moveStore } from '../../src/app/commands/move-store.ts'
import { readConfig } from '../../src/app/config.ts'
import { createApp } from '../../src/app/index.ts'
import { migrate, openDatabase } from '../../src/store/index.ts'
import { bareEnvironment } from '../support/bare-environment.ts'
import { newAuthority } from '../support/certificates.ts'
import { emptyStore } from '../support/database.ts'
import { startDatabase } from '../support/replica-set.ts'
import { until } from '../support/until.ts'

describe('a PostgreSQL server that requires TLS', () => {
  const authority = newAuthority('Contoso authority')
  const folder = mkdtempSync(join(inject('runFolder'), 'tls-'))
  const fileOf = (name: string, pem: string): string => {
    const path = join(folder, name)
    writeFileSync(path, pem)
    return path
  }
  const trusted = fileOf('authority.pem', authority.certificate)
  const stranger = fileOf('stranger.pem', newAuthority('Contoso authority').certificate)
  let server: Awaited<ReturnType<typeof startDatabase>>
  /** Returns the server's address with this host name and query parameters. */
  const address = (host: string, query: Record<string, string> = {}): string => {
    const url = new URL(server.url)
    url.hostname = host
    url.search = new URLSearchParams(query).toString()
    return url.href
  }
  const verified = (ca = trusted, host = 'localhost') => address(host, { sslmode: 'verify-full', sslrootcert: ca })
  const newDataDir = () => mkdtempSync(join(folder, 'data-'))
  const open = (databaseUrl: string) => openDatabase({ dataDir: newDataDir(), databaseUrl })

  beforeAll(async () => {
    server = await startDatabase(folder, { tls: authority.issue(['localhost', 'db.contoso.example']) })
  })
  afterAll(() => server.stop())

  it('encrypts every connection of the service: callers, jobs and notifications', async () => {
    const variables = { DATABASE_URL: verified(), DATA_DIR: newDataDir(), PORT: '0', SIMULATOR_PORT: '0' }
    const app = await createApp(readConfig({ ...variables, PLAYGROUND: 'off', LOG_LEVEL: 'fatal' }))
    onTestFinished(() => app.close())
    const connectionsNow = async () => {
      const { rows } = await app.database.query<{ name: string; ssl: boolean; query: string }>(
        `select application_name as name, ssl, query from pg_stat_activity join pg_stat_ssl using (pid)
         where backend_type = 'client backend' and usename is not null`,
      )
      return rows
    }
    await until(
      async () => (await connectionsNow()).some(({ query }) => /^listen/i.test(query)),
      'the connection that listens',
    )
    const rows = await connectionsNow()
    expect(rows.filter(({ ssl }) => !ssl)).toEqual([])
    expect(new Set(rows.map(({ name }) => name))).toEqual(new Set(['quartermaster', 'quartermaster-queue']))
  })

  it('is refused when another authority has signed its certificate', async () => {
    await expect(open(verified(stranger))).rejects.toThrow(
      /^The certificate of the PostgreSQL server localhost is not trusted \(.+\): set sslrootcert in its address/,
    )
    await expect(open(address('localhost', { sslmode: 'verify-full' }))).rejects.toThrow(/is not trusted/)
  })

  it('is refused by a host name that is not in its certificate', async () => {
    await expect(open(verified(trusted, '127.0.0.1'))).rejects.toThrow(
      /^The certificate of the PostgreSQL server is for another host than 127\.0\.0\.1 .*db\.contoso\.example/,
    )
  })

  it('prevents the start of the service with one sentence', async () => {
    const own = { DATABASE_URL: verified(stranger), DATA_DIR: newDataDir(), PORT: '0', SIMULATOR_PORT: '0' }
    const env = { ...bareEnvironment, ...own, PLAYGROUND: 'off', LOG_LEVEL: 'fatal' }
    const child = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    expect(code).toBe(1)
    expect(complaints).toMatch(/^The certificate of the PostgreSQL server localhost is not trusted [^\n]*\n$/)
  })

  it('accepts a moved store, which sends no data to another server', async () => {
    const dataDir = newDataDir()
    cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
    await expect(moveStore({ dataDir, databaseUrl: verified(stranger) })).rejects.toThrow(/is not trusted/)
    const empty = await open(verified())
    await empty.query('create database moved')
    await empty.close()
    const target = new URL(verified())
    target.pathname = '/moved'
    expect(await moveStore({ dataDir, databaseUrl: target.href })).toMatchObject({ requests: 0 })
  })

  it('is also verified by commands, unless MODE=local', async () => {
    const run = async (words: string[], variables: Record<string, string>) => {
      const env = { ...bareEnvironment, DATA_DIR: newDataDir(), AUDIT_SECRET: 'AAAA', ...variables }
      const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
      const [complaints] = await Promise.all([text(child.stderr), once(child, 'close')])
      return complaints
    }
    const far = 'postgres://db.contoso.example/q?sslmode=require'
    const verify = resolve('src/app/commands/audit-verify.ts')
    const move = [resolve('src/app/commands/backup.ts'), '--to', far]
    expect(await run([verify], { DATABASE_URL: far })).toMatch(/^DATABASE_URL must use TLS and verify the server/)
    expect(await run(move, {})).toMatch(
      /^--to must use TLS and verify the server db\.contoso\.example unless MODE=local/,
    )
    expect(await run(move, { MODE: 'local' })).toContain('There is no store in')
    const database = await open(verified())
    await migrate(database)
    await database.close()
    expect(await run([verify], { DATABASE_URL: verified() })).toBe('')
  })

  it('is distinguished from a server with an expired certificate and from one without TLS', async () => {
    const listening = async (answer: 'S' | 'N') => {
      const old = authority.issue(['localhost'], new Date('2025-06-01T00:00:00Z'))
      const impostor = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', () => {
          socket.write(answer)
          if (answer === 'N') return
          const { key, certificate: cert } = old
          new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => undefined).resume()
        })
      })
      await once(impostor.listen(0, '127.0.0.1'), 'listening')
      onTestFinished(() => void impostor.close())
      const url = new URL(verified())
      url.port = String((impostor.address() as AddressInfo).port)
      return url.href
    }
    await expect(open(await listening('S'))).rejects.toThrow(/localhost has expired: renew it/)
    await expect(open(await listening('N'))).rejects.toThrow(/does not accept TLS, which its address .* requires/)
  })
})
