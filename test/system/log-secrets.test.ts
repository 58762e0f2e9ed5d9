import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'
import { startConnector } from '../support/connector.ts'
import { botAppId, connectorUrl, withConnectorKeys } from '../support/connector-keys.ts'
import { emptyStore } from '../support/database.ts'
import { templates } from '../support/service.ts'
import { people, scopes, TeamsUser } from '../support/teams-user.ts'
import { control, tokenFor } from '../support/tenant-control.ts'

/** Returns a text that occurs nowhere else. */
const canary = (what: string): string => `canary${what}${randomBytes(8).toString('hex')}`
const whsec = () => `whsec_${randomBytes(32).toString('base64')}`

/** Runs the service in its own process, and collects its output. */
async function start(variables: Record<string, string>, connectorKeysUrl = '') {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'canary-'))
  cpSync(await emptyStore(), join(dataDir, 'postgres'), { recursive: true })
  const script = fileURLToPath(new URL('../support/service-process.ts', import.meta.url))
  const env = {
    ...{ ...bareEnvironment, DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off' },
    ...{ SIMULATOR_DIRECTORY_SECONDS: '0', ...variables },
  }
  const child = spawn(process.execPath, [script, connectorKeysUrl], { env, cwd: dataDir })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
    rmSync(dataDir, { recursive: true, force: true })
  })
  const [first] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'close').then(() => [output]),
  ])) as [string]
  const [url = '', simulatorUrl = ''] = first.split(' ')
  /** From now on, these calls to the tenant fail. */
  const fail = (operation: string) =>
    control(simulatorUrl, 'POST', 'faults', { operation, kind: 'failBeforeCommit', status: 500, count: 50 })
  const call = async (token: string, method: string, path: string, body?: object, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  return { url, simulatorUrl, fail, call, output: () => output }
}

/** Returns the names of the canaries that were found, with their lines. */
function found(output: string, canaries: Record<string, string>): string[] {
  const lines = output.split('\n')
  return Object.entries(canaries).flatMap(([name, value]) => {
    const line = lines.find((one) => one.includes(value) || one.includes(JSON.stringify(value).slice(1, -1)))
    return line === undefined ? [] : [`${name}: ${line.slice(0, 1500)}`]
  })
}
const signatureOf = (token: string): string => token.split('.')[2] ?? ''

describe('the output of the service', () => {
  const keys = withConnectorKeys()

  it('contains no secret and no text of a person, whatever fails, at any log level', async () => {
    const secrets = { password: canary('password'), own: whsec(), template: whsec(), replaced: whsec() }
    const key = canary('key')
    const service = await start(
      {
        MICROSOFT_APP_ID: botAppId,
        MICROSOFT_APP_PASSWORD: secrets.password,
        WEBHOOK_SECRET: secrets.own,
        LOG_LEVEL: 'trace',
      },
      `${keys.url}/keys`,
    )
    const { call, fail } = service
    const tokens: string[] = []
    for (const [who, api] of [
      ['kim', 'collab'],
      ['kim', 'mail'],
      ['sam', 'collab'],
    ] as const)
      tokens.push(await tokenFor(service.simulatorUrl, people[who].id, scopes[api]))
    const [collab = '', mail = '', admin = ''] = tokens
    const text = { name: canary('name'), description: canary('description'), reason: canary('reason') }
    const personal = { ...text, comment: canary('comment'), reply: canary('reply'), query: canary('query') }
    const channel = await keys.token()

    // Templates with secrets: one secret is replaced, and one template is refused.
    const webhook = {
      url: 'http://127.0.0.1:9/hook',
      events: ['site.provisioned', 'request.cancelled', 'request.failed'],
    }
    const put = (secret: string, headers: object) =>
      call(
        admin,
        'PUT',
        '/templates/v1/5eed0000-0000-4000-8000-00000000000a',
        { kind: 'teamSite', name: 'Hooked', webhook: { ...webhook, secret } },
        headers,
      )
    expect((await put(secrets.replaced, { 'if-none-match': '*' })).status).toBe(201)
    expect((await put(secrets.template, { 'if-match': '*' })).status).toBe(200)
    expect((await put(`${secrets.template}x`, { 'if-match': '*' })).status).toBe(422)

    // Requests that fail in the tenant, at once and later; refused bodies; invalid tokens.
    await fail('graph.*')
    const site = {
      displayName: text.name,
      description: text.description,
      templateId: '5eed0000-0000-4000-8000-00000000000a',
    }
    const failing = `/collab/v1/spo?secret=${personal.query}`
    expect((await call(collab, 'POST', failing, site, { 'idempotency-key': key })).status).toBe(503)
    await control(service.simulatorUrl, 'DELETE', 'faults')
    const accepted = await call(collab, 'POST', '/collab/v1/spo', { ...site, displayName: `${text.name} again` })
    expect(accepted.status).toBe(202)
    const mailbox = {
      name: `m-${randomBytes(4).toString('hex')}`,
      displayName: text.name,
      templateId: templates.sharedMailbox,
      reason: text.reason,
      automaticReply: personal.reply,
    }
    await call(mail, 'POST', '/mail/v1/mailboxes', mailbox)
    await call(mail, 'POST', '/mail/v1/mailboxes', { ...mailbox, country: personal.reply, unknown: personal.comment })
    const { requestId } = JSON.parse(accepted.text) as { requestId: string }
    await call(collab, 'POST', `/requests/v1/${requestId}/cancel`, { comment: personal.comment })
    const bad = collab.slice(0, -6)
    expect((await call(bad, 'GET', '/requests/v1')).status).toBe(401)
    expect((await call(collab, 'POST', '/mail/v1/mailboxes', mailbox)).status).toBe(401)

    // Valid and invalid clicks and activities.
    const kim = new TeamsUser(() => service.url, { url: connectorUrl, chat: () => [] } as never, people.kim)
    const say = (token: string, activity: object) =>
      fetch(`${service.url}/api/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(activity),
      })
    const click = (verb: string, data: object) => ({
      ...kim.activity({ type: 'invoke', name: 'adaptiveCard/action' }),
      value: { action: { type: 'Action.Execute', verb, data }, trigger: 'manual' },
    })
    expect(
      (await say(channel, click('request.choose', { templateId: templates.projectSite, note: personal.comment })))
        .status,
    ).toBe(200)
    await say(channel, click('request.submit', { requestId: personal.comment, version: 'x', reason: personal.reason }))
    await say(channel.slice(0, -6), click('request.choose', {}))
    await say(channel, {
      ...kim.activity({ type: 'message', text: personal.comment }),
      serviceUrl: 'https://evil.example/',
    })

    await setTimeout(1500)
    const output = service.output()
    expect(output.length).toBeGreaterThan(2000)
    expect(output).toMatch(/"level":(40|50)/)
    const inTokens = { collab, mail, admin, channel, bad }
    const parts = Object.entries(inTokens).map(([name, token]) => [`signature of ${name}`, signatureOf(token)])
    const canaries = { ...secrets, key, ...inTokens, ...Object.fromEntries(parts), ...personal }
    expect(found(output, canaries)).toEqual([])
  })

  it('contains no secret and no text of a person when chats refuse cards', async () => {
    const connector = await startConnector()
    onTestFinished(() => connector.close())
    const service = await start({ LOG_LEVEL: 'trace' })
    const kim = new TeamsUser(() => service.url, connector, people.kim)
    const text = { name: canary('name'), reason: canary('reason'), typed: canary('typed') }
    for (const how of [500, 403, 404, 429, 'drop', 'reset'] as const) {
      connector.fail({ method: 'POST', how, count: 1, ...(how === 403 && { code: 'ConversationBlockedByUser' }) })
      await kim.post(kim.activity({ type: 'message', text: `help ${text.typed}` }))
    }
    await service.fail('sharepoint.*')
    const body = { displayName: text.name, description: text.reason, templateId: templates.workingGroup }
    const token = await tokenFor(service.simulatorUrl, people.kim.id, scopes.collab)
    connector.misbehave(() => ({ how: 500 }))
    await service.call(token, 'POST', '/collab/v1/spo', body)
    await setTimeout(1500)
    expect(service.output()).toMatch(/"level":(40|50)/)
    expect(found(service.output(), { ...text, token, signature: signatureOf(token) })).toEqual([])
  })
})
