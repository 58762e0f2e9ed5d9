import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { checkReport } from '../../src/app/check/report.ts'
import { mark } from '../../src/app/check/trial.ts'
import { selfSigned } from '../support/certificates.ts'
import { newDatabaseUrl } from '../support/database.ts'
import { people } from '../support/teams-user.ts'
import { tenantWithTls } from '../support/tenant-with-tls.ts'

const main = new URL('../../src/app/check/main.ts', import.meta.url).pathname

/** Runs `npm run check:tenant` as its own process in production, with its settings in `.env`. */
describe('npm run check:tenant as a process in production', () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'check-'))
  const secret = 'the-secret-of-the-bot'
  let tenant: Awaited<ReturnType<typeof tenantWithTls>>

  beforeAll(async () => {
    mkdirSync(join(folder, 'tenant'))
    tenant = await tenantWithTls(join(folder, 'tenant'))
    const { key, certificate } = selfSigned()
    writeFileSync(join(folder, 'service.pem'), key + certificate)
    const settings = {
      ...{ MODE: 'production', BASE_URL: 'https://127.0.0.1:9', DATABASE_URL: await newDatabaseUrl() },
      ...{ TENANT_ID: tenant.tenantId, ADMINS: people.sam.id },
      ...{ LOGIN_URL: tenant.url, DIRECTORY_URL: tenant.url, SHAREPOINT_URL: tenant.url, EXCHANGE_URL: tenant.url },
      ...{ MICROSOFT_APP_ID: '0c0ffee0-4444-4444-8444-000000000001', MICROSOFT_APP_PASSWORD: secret },
      ...{ CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001', CLIENT_CERTIFICATE_PATH: 'service.pem' },
      ...{ DIRECTORY_EXTENSION: 'svc_group', AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64') },
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 })
  })
  afterAll(() => tenant?.close())

  const start = (...args: string[]): ChildProcess => startWith({}, ...args)
  const startWith = (variables: Record<string, string>, ...args: string[]): ChildProcess =>
    spawn(process.execPath, [main, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: tenant.trusted, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  async function ended(child: ChildProcess): Promise<{ code: unknown; output: string; errors: string }> {
    const { stdout, stderr } = child
    if (!stdout || !stderr) throw new Error('the process has no output')
    const [output, errors, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')])
    return { code, output, errors }
  }

  it('checks before the first start of the service: only the address does not answer yet', async () => {
    const { code, output, errors } = await ended(start('--json'))
    expect(errors).not.toContain('Error')
    const { parts } = checkReport.parse(JSON.parse(output))
    const bad = parts.filter(({ state }) => state !== 'green').map(({ name, state }) => `${name} ${state}`)
    expect(bad).toEqual(['endpoint amber', 'templates amber'])
    expect(code).toBe(0)
    expect(output).not.toContain(secret)
  })

  it('creates and removes the trial, and writes the recording into the folder', async () => {
    const { code, output } = await ended(start('--write'))
    expect(output).toMatch(/✓ Cleanup: remove everything/)
    expect(code).toBe(0)
    expect(readFileSync(join(folder, 'check-recording.json'), 'utf8')).not.toMatch(/contoso|svc_group|eyJ/i)
  })

  it('removes the trial after Ctrl-C', async () => {
    const child = start('--write')
    child.stdout?.on('data', (data: Buffer) => String(data).includes('Site: create') && child.kill('SIGINT'))
    const { code, output, errors } = await ended(child)
    expect(errors).toContain('The created objects are removed first')
    expect(output).toMatch(/✗ Site: .*Interrupted/)
    expect(code).toBe(1)
    const calls = await fetch(`${tenant.controlUrl}/control/calls?operation=graph.groups.delete`)
    expect(JSON.stringify(await calls.json())).toContain('204')
    const after = await ended(start('--write'))
    expect(after.output).not.toContain('remove leftovers')
    expect(after.output).not.toContain(`named ${mark}`)
  })

  it('reads the file in ENV_FILE instead of .env', async () => {
    writeFileSync(join(folder, '.env.test'), 'MODE=production\nBASE_URL=http://plain.example\n')
    const { code, errors } = await ended(startWith({ ENV_FILE: '.env.test' }))
    expect(errors).toContain('BASE_URL must be a public https address')
    expect(errors).toContain('MICROSOFT_APP_ID is needed')
    expect(code).toBe(2)
  })

  it('exits with 2 and names a file in ENV_FILE that does not exist', async () => {
    const { code, errors } = await ended(startWith({ ENV_FILE: '.env.tset' }))
    expect(errors).toBe(
      "ENV_FILE is .env.tset, but this file cannot be read: ENOENT: no such file or directory, open '.env.tset'.\n",
    )
    expect(code).toBe(2)
  })

  it('exits with 2 and names the missing settings', async () => {
    const child = spawn(process.execPath, [main], {
      cwd: join(folder, 'tenant'),
      env: { PATH: process.env['PATH'], MODE: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, errors } = await ended(child)
    expect(errors).toMatch(/DIRECTORY_EXTENSION is needed when MODE=production/)
    expect(code).toBe(2)
  })
})
