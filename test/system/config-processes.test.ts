import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'
import { emptyStore } from '../support/database.ts'

/** Runs the real process with these variables until it ends. */
async function start(
  variables: Record<string, string>,
): Promise<{ code: number | null; output: string; dataDir: string }> {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'config-'))
  const env = { ...bareEnvironment, DATA_DIR: dataDir, PLAYGROUND: 'off', ...variables }
  const child = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const output = await text(child.stderr)
  return { code: await ended, output, dataDir }
}

describe('a process with a wrong configuration', () => {
  it('reports every fault at once, and exits with 1', async () => {
    const { code, output } = await start({
      PORT: 'eighty',
      ADMINS: 'sam',
      FOLLOW_UP_WEBHOOK: 'maybe',
      DATABASE_URL: 'mysql://here',
    })
    expect(code).toBe(1)
    expect(output).toContain('The configuration has 4 faults')
    for (const name of ['PORT', 'ADMINS', 'FOLLOW_UP_WEBHOOK', 'DATABASE_URL']) expect(output).toContain(name)
    expect(output).not.toMatch(/ {4}at /)
  })

  it('refuses an incomplete production configuration, and simulates nothing (F5)', async () => {
    const { code, output, dataDir } = await start({ MODE: 'production' })
    expect(code).toBe(1)
    for (const name of [
      'MICROSOFT_APP_ID',
      'MICROSOFT_APP_PASSWORD',
      'CLIENT_ID',
      'CLIENT_CERTIFICATE_PATH',
      'TENANT_ID',
      'SHAREPOINT_URL',
      'DIRECTORY_EXTENSION',
      'AUDIT_SECRET',
      'ADMINS',
      'BASE_URL',
    ]) {
      expect(output).toContain(`${name} is needed when MODE=production`)
    }
    expect(readdirSync(dataDir)).toEqual([])
    expect(existsSync(join(dataDir, 'simulator.sqlite'))).toBe(false)
  })

  it('exits with a sentence about the tenant before its first call there', async () => {
    const { code, output, dataDir } = await start({
      LOGIN_URL: 'http://127.0.0.1:3979',
      DIRECTORY_URL: 'https://graph.microsoft.com',
      SHAREPOINT_URL: 'http://[::1]:3979',
      SHAREPOINT_ADMIN_URL: 'http://127.0.0.2:3979',
      EXCHANGE_URL: 'http://LOCALHOST:3979',
    })
    expect(code).toBe(1)
    expect(output).toContain('DIRECTORY_URL must be a loopback address')
    expect(readdirSync(dataDir)).toEqual([])
  })
})

it('a clone may be in a folder with a space in its name', async () => {
  const checkout = join(mkdtempSync(join(inject('runFolder'), 'checkout-')), 'with a space')
  for (const part of ['src', 'cards', 'package.json']) cpSync(part, join(checkout, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'))
  cpSync(await emptyStore(), join(checkout, 'data/postgres'), { recursive: true })
  const env = { ...bareEnvironment, PLAYGROUND: 'off', PORT: '0', SIMULATOR_PORT: '0' }
  const child = spawn(process.execPath, ['src/main.ts'], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const complaints = text(child.stderr)
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.startsWith('Ctrl-C')) child.kill('SIGTERM')
  }
  await ended
  expect(lines[0], await complaints).toMatch(/^Quartermaster answers at /)
})
