import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it } from 'vitest'
import { ConfigurationError, readConfig, settingNames } from '../src/config.ts'

const production = {
  MODE: 'production',
  MICROSOFT_APP_ID: '0c0ffee0-3333-4333-8333-000000000001',
  MICROSOFT_APP_PASSWORD: 'secret',
  CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001',
  CLIENT_CERTIFICATE_PATH: 'client.pem',
  TENANT_ID: '0c0ffee0-1111-4111-8111-000000000365',
  SHAREPOINT_URL: 'https://contoso.sharepoint.com',
  DIRECTORY_EXTENSION: 'svc_group',
  DATABASE_URL: 'postgres://localhost/quartermaster',
  BASE_URL: 'https://quartermaster.contoso.example',
}

function faultsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(variables)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
}

/** The real process with these variables, until it ends. */
async function start(
  variables: Record<string, string>,
): Promise<{ code: number | null; said: string; dataDir: string }> {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'config-'))
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, PLAYGROUND: 'off', ...variables }
  const child = spawn(process.execPath, ['src/main.ts'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const said = await text(child.stderr)
  return { code: await ended, said, dataDir }
}

describe('the configuration', () => {
  it('is what .env.example lists, name by name', () => {
    const listed = [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual([...settingNames].toSorted())
  })

  it('takes .env.example as it stands', () => {
    const lines = readFileSync('.env.example', 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z_]+=/.test(line))
    expect(readConfig(Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2))))).toEqual(
      readConfig({ DATA_DIR: 'data', DIRECTORY_EXTENSION: 'svc_group', HOST: '127.0.0.1' }),
    )
  })

  it('tells every fault at once, in words, and ends with exit code 1', async () => {
    const { code, said } = await start({
      PORT: 'eighty',
      ADMINS: 'sam',
      FOLLOW_UP_WEBHOOK: 'maybe',
      DATABASE_URL: 'mysql://here',
    })
    expect(code).toBe(1)
    expect(said).toContain('The configuration has 4 faults')
    for (const name of ['PORT', 'ADMINS', 'FOLLOW_UP_WEBHOOK', 'DATABASE_URL']) expect(said).toContain(name)
    expect(said).not.toMatch(/ {4}at /)
  })

  it('is complete in production, or nothing starts and nothing is simulated (F5)', async () => {
    const { code, said, dataDir } = await start({ MODE: 'production' })
    expect(code).toBe(1)
    for (const name of [
      'MICROSOFT_APP_ID',
      'MICROSOFT_APP_PASSWORD',
      'CLIENT_ID',
      'CLIENT_CERTIFICATE_PATH',
      'TENANT_ID',
      'SHAREPOINT_URL',
      'DIRECTORY_EXTENSION',
      'BASE_URL',
    ]) {
      expect(said).toContain(`${name} is needed when MODE=production`)
    }
    expect(readdirSync(dataDir)).toEqual([])
    expect(existsSync(join(dataDir, 'simulator.sqlite'))).toBe(false)
  })

  it.each(Object.keys(production).filter((name) => name !== 'MODE'))(
    'does not start in production without %s',
    (name) => {
      const { [name as keyof typeof production]: _, ...rest } = production
      expect(faultsOf(production)).toEqual([])
      expect(faultsOf(rest).join()).toContain(name)
    },
  )

  it('wants https in production', () => {
    expect(faultsOf({ ...production, BASE_URL: 'http://quartermaster.contoso.example' }).join()).toContain('https')
  })

  it('stays on loopback in local mode while the bot takes no tokens', () => {
    expect(faultsOf({ HOST: '0.0.0.0' }).join()).toContain('loopback')
    expect(faultsOf({ HOST: '127.0.0.2' })).toEqual([])
    expect(faultsOf({ HOST: '0.0.0.0', MICROSOFT_APP_ID: production.MICROSOFT_APP_ID })).toEqual([])
  })
})
