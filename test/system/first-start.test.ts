import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { textOf } from '../support/cards.ts'
import { selfSigned } from '../support/certificates.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { startDatabase } from '../support/replica-set.ts'
import { tokenFor, withService } from '../support/service.ts'
import { apiIds, people, scopes } from '../support/teams-user.ts'
import { tenantWithTls } from '../support/tenant-with-tls.ts'

const templateId = '6c8f2b1e-0d3a-4f57-9b6e-2a4c8d1e7f90'
const allWell = { database: 'answers', queue: 'is worked on' }
const newFolder = () => mkdtempSync(join(inject('runFolder'), 'first-'))

describe('a service in production over a PostgreSQL server', { timeout: 60_000 }, () => {
  const folder = newFolder()
  const baseUrl = 'https://quartermaster.contoso.example'
  let server: Awaited<ReturnType<typeof startDatabase>>
  let tenant: Awaited<ReturnType<typeof tenantWithTls>>
  let service: ProductProcess
  let url = ''

  beforeAll(async () => {
    const home = join(folder, 'home')
    mkdirSync(home)
    mkdirSync(join(folder, 'tenant'))
    chmodSync(home, 0o555)
    tenant = await tenantWithTls(join(folder, 'tenant'))
    server = await startDatabase(folder)
    const certificatePath = join(folder, 'service.pem')
    const { key, certificate } = selfSigned()
    writeFileSync(certificatePath, key + certificate)
    // Nothing can be created below a file, whoever the tests run as.
    const nowhere = join(certificatePath, 'below')
    service = await startProduct('main.ts', {
      cwd: home,
      up: /^Quartermaster answers/,
      variables: {
        // Node itself refuses every attempt to write a file, even to root: with its reason, so that the process ends.
        NODE_OPTIONS: '--permission --allow-fs-read=*',
        NODE_DISABLE_COMPILE_CACHE: '1',
        NODE_EXTRA_CA_CERTS: tenant.trusted,
        ...{ HOME: nowhere, TMPDIR: nowhere, DATA_DIR: nowhere },
        ...{ MODE: 'production', HOST: '127.0.0.1', PORT: '0', BASE_URL: baseUrl, DATABASE_URL: server.url },
        ...{ TENANT_ID: tenant.tenantId, ADMINS: people.sam.id, COLLAB_AUDIENCE: apiIds.collab },
        ...{ LOGIN_URL: tenant.url, DIRECTORY_URL: tenant.url, SHAREPOINT_URL: tenant.url, EXCHANGE_URL: tenant.url },
        ...{ MICROSOFT_APP_ID: '0c0ffee0-4444-4444-8444-000000000001', MICROSOFT_APP_PASSWORD: 'the bot’s secret' },
        ...{ CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001', CLIENT_CERTIFICATE_PATH: certificatePath },
        ...{ DIRECTORY_EXTENSION: 'svc_group', AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64') },
      },
    })
    url = service.printed.join('\n').match(/answers at (\S+)/)?.[1] ?? ''
  })
  afterAll(async () => {
    await service?.kill()
    await server?.stop()
    await tenant?.close()
  })

  const call = async (who: 'sam' | 'kim', method: string, path: string, body?: object) => {
    const token = await tokenFor(tenant.controlUrl, people[who].id, scopes.collab)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'if-none-match': '*' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: answer.status, body: await answer.json() }
  }
  const ready = async () => {
    const answer = await fetch(`${url}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }

  it('is ready without a writable file, and says how to add the first template', async () => {
    expect(await ready()).toMatchObject({
      status: 200,
      body: {
        checks: { database: 'answers', templates: expect.stringMatching(/TEMPLATES_FILE.*PUT \/templates\/v1/) },
      },
    })
  })

  it('answers calls, and takes the first template from an admin', async () => {
    expect(await call('kim', 'GET', '/templates/v1/')).toEqual({ status: 200, body: { value: [] } })
    const template = { kind: 'teamSite', name: 'Working group' }
    expect(await call('sam', 'PUT', `/templates/v1/${templateId}`, template)).toMatchObject({ status: 201 })
    expect(await call('kim', 'GET', '/templates/v1/')).toMatchObject({
      body: { value: [{ id: templateId, name: 'Working group' }] },
    })
    expect(await ready()).toEqual({ status: 200, body: { status: 'ok', checks: allWell } })
  })

  it('stops in order, and has created no file', async () => {
    expect(await service.stop()).toBe(0)
    expect(readdirSync(join(folder, 'home'))).toEqual([])
  })
})

describe('a service without templates, in chat', () => {
  const file = join(newFolder(), 'templates.json')
  writeFileSync(file, '[]')
  const lines: string[] = []
  const service = withService({ TEMPLATES_FILE: file, LOG_LEVEL: 'warn' }, () => ({
    writeLog: (line) => void lines.push(line),
  }))

  it('says in the log what to do', () => {
    expect(lines.filter((line) => line.includes('There are no templates'))).toEqual([
      expect.stringMatching(/Set TEMPLATES_FILE to a JSON list of templates and restart, or send PUT \/templates\/v1/),
    ])
  })

  it('sends the first employee to an admin', async () => {
    await service.kim.installs()
    for (const words of ['new site', 'new room', 'new']) {
      const text = textOf((await service.kim.says(words)).card)
      expect(text).toContain('There is no template for this that you may use.')
      expect(text).toContain('Ask an admin of this service to add one')
    }
  })

  it('tells an admin how to add one, until there is one', async () => {
    await service.sam.installs()
    for (const words of ['new site', 'admin templates']) {
      const text = textOf((await service.sam.says(words)).card)
      expect(text).toContain('There is no template yet, so nobody can request anything.')
      expect(text).toMatch(/PUT \/templates\/v1\/\. Or set TEMPLATES_FILE/)
    }
    const template = { kind: 'teamSite', name: 'Working group' }
    const added = await service.rest('sam', 'PUT', `/templates/v1/${templateId}`, template, { 'if-none-match': '*' })
    expect(added.status).toBe(201)
    expect(textOf((await service.kim.says('new site')).card)).toContain('Working group')
  })
})
