import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { actionsOf, textOf } from '../support/cards.ts'
import { selfSigned } from '../support/certificates.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'
import { startDatabase } from '../support/replica-set.ts'
import { withService } from '../support/service.ts'
import { apiIds, people, scopes } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'
import { tenantWithTls } from '../support/tenant-with-tls.ts'

const templateId = '6c8f2b1e-0d3a-4f57-9b6e-2a4c8d1e7f90'
const allWell = { database: 'answers', queue: 'is running' }
const newFolder = () => mkdtempSync(join(inject('runFolder'), 'first-'))

describe('a production service with a PostgreSQL server', () => {
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
    // No user can create files below a file.
    const nowhere = join(certificatePath, 'below')
    service = await startProduct('main.ts', {
      cwd: home,
      up: /^Quartermaster answers/,
      variables: {
        // Node itself refuses every attempt to write a file, even for root, and the process ends with the reason.
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

  it('is ready without a writable file, and shows how to add the first template', async () => {
    expect(await ready()).toMatchObject({
      status: 200,
      body: {
        checks: {
          database: 'answers',
          templates: expect.stringMatching(/admin templates add.*TEMPLATES_FILE.*PUT \/templates\/v1/),
        },
      },
    })
  })

  it('answers calls, and accepts the first template from an admin', async () => {
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

  it('logs the next action', () => {
    expect(lines.filter((line) => line.includes('There are no templates'))).toEqual([
      expect.stringMatching(
        /admin templates add\. Or set TEMPLATES_FILE to a JSON list of templates and restart, or send PUT \/templates\/v1/,
      ),
    ])
  })

  it('tells employees that nothing can be requested yet, and names helpers', async () => {
    await service.kim.installs()
    const welcome = await service.kim.sees(/Hello Kim Lee/)
    for (const card of [welcome, await service.kim.says('hi')]) {
      expect(textOf(card.card)).toContain('You cannot request anything yet. Sam Roy can add a template.')
      expect(textOf(card.card)).not.toContain('Fill in a short form')
    }
    for (const words of ['new site', 'new room', 'new', 'I need a room for six people']) {
      const text = textOf((await service.kim.says(words)).card)
      expect(text).toContain('There is no template that you can use for this request.')
      expect(text).toContain('Sam Roy can add a template.')
    }
  })

  it('shows an admin its health, missing parts and how to add a template, whatever the first message is', async () => {
    await service.sam.installs()
    const first = await service.sam.sees(/Hello Sam Roy/)
    for (const words of ['', 'hi', 'new site', 'What can I do here?']) {
      const { card } = words === '' ? first : await service.sam.says(words)
      expect(textOf(card)).toContain('There is no template yet, so people cannot request anything.')
      expect(textOf(card)).toMatch(/Working: .*Database.*Microsoft Graph/)
      expect(actionsOf(card).map(({ title }) => title)).toEqual(['Add template', 'Health'])
    }
    const { card } = await service.sam.says('admin templates')
    expect(textOf(card)).toContain('What do you want people to request?')
    expect(textOf((await service.sam.says('admin health')).card)).toContain('Database')
  })

  it('shows missing parts with their remedies', async () => {
    await service.fault({ operation: 'exchange.get-mailbox', kind: 'failBeforeCommit', status: 403, count: 100 })
    const text = textOf((await service.sam.says('hi')).card)
    expect(text).toContain('2 things to do')
    expect(text).toMatch(/Exchange · Red\n.*Exchange Administrator/)
    await service.heal()
  })

  it('accepts the first template from the card, without REST, and an employee uses it', async () => {
    const first = await service.sam.says('hi')
    const starters = await service.sam.clicks(first, 'Add template')
    const form = await service.sam.clicks({ id: first.id, card: starters.card }, 'Add Team site')
    const preview = await service.sam.clicks({ id: first.id, card: form.card }, 'Preview', { approvedBy: 'nobody' })
    expect(textOf(preview.card ?? {})).toContain('Address of “Apollo”: /sites/apollo')
    const added = await service.sam.clicks({ id: first.id, card: preview.card }, 'Create')
    expect(textOf(added.card ?? {})).toContain('Template added. People can use it now.')
    expect(textOf((await service.sam.says('hi')).card)).toContain('Hello Sam Roy, what do you need?')
    expect(textOf((await service.kim.says('hi')).card)).toContain('Fill in a short form')
    const request = await service.kim.says('new site')
    const review = await service.kim.clicks(request, 'Review', { displayName: 'First site', reason: 'To begin' })
    const sent = await service.kim.clicks({ id: request.id, card: review.card }, 'Create')
    expect(textOf(sent.card ?? {})).toContain('First site')
    await service.kim.sees(/Your site is ready/)
  })
})
