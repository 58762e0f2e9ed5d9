import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkReport } from '../../src/app/check/report.ts'
import { mark } from '../../src/app/check/trial.ts'
import contoso from '../../src/simulator/tenant/contoso.json' with { type: 'json' }
import { botSecret, type Checked, startChecked } from '../support/check-tenant.ts'
import { replayed } from '../support/replay.ts'

let checked: Checked
let file = ''
beforeAll(async () => {
  checked = await startChecked()
  file = join(checked.folder, 'recording.json')
})
beforeEach(() => checked.heal())
afterAll(() => checked.close())

const write = (more: readonly string[] = [], around: Parameters<Checked['run']>[2] = {}) =>
  checked.run(['--write', '--recording', file, ...more], {}, around)
/** Calls Graph as an application. */
async function graph(path: string, method = 'GET', body?: object) {
  const scope = 'https://graph.microsoft.com/.default'
  const token = String(
    Reflect.get(Object(await checked.control('POST', 'token', { appOnly: true, scope })), 'access_token'),
  )
  const response = await fetch(`${checked.simulator.url}/v1.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}
/** Lists the resources of trials in the tenant: groups, sites without a group, mailboxes. */
async function remains(): Promise<unknown[]> {
  const read = async (path: string): Promise<{ displayName?: string; webUrl?: string }[]> =>
    (await graph(path)).body.value
  const all = [
    ...(await read('groups?$top=999')),
    ...(await read('users?$top=999')),
    ...(await read('sites/getAllSites')),
  ]
  return all.filter((one) => JSON.stringify(one).includes(mark))
}
const stepsOf = (output: string) => output.split('\n').filter((line) => /^[✓✗] (Site|Mailbox|Cleanup):/.test(line))

describe('npm run check:tenant -- --write', () => {
  it.each(['teamSite', 'communicationSite'])(
    'creates a marked %s and mailbox, shows the time of each step, and removes both',
    async (kind) => {
      const { code, output } = await write(['--site', kind])
      expect(code).toBe(0)
      const steps = stepsOf(output)
      expect(steps.length).toBeGreaterThan(8)
      for (const step of steps) expect(step).toMatch(/^✓ .* \d+\.\d s$/)
      expect(await remains()).toEqual([])
    },
  )

  it('writes the steps with --json', async () => {
    const { output } = await write(['--json'])
    const { trial } = checkReport.parse(JSON.parse(output))
    expect(trial?.name).toMatch(/^quartermaster-check-\d{8}-\d{6}$/)
    expect(trial?.steps.map(({ of, name }) => `${of} ${name}`)).toEqual([
      ...[
        'site create-site',
        'site wait-for-site',
        'site add-owners',
        'site ready-check',
        'site link-group',
        'site find-group',
      ],
      ...['mailbox create-mailbox', 'mailbox block-sign-in', 'mailbox ready-check', 'cleanup remove'],
    ])
  })

  it('removes the created resources when a step fails, and exits with 1', async () => {
    await checked.control('POST', 'faults', {
      operation: 'exchange.new-mailbox',
      kind: 'failBeforeCommit',
      status: 400,
      skip: 1,
    })
    const { code, output } = await write()
    expect(stepsOf(output).filter((line) => line.startsWith('✗'))).toEqual([expect.stringContaining('Mailbox: create')])
    expect(stepsOf(output).at(-1)).toMatch(/^✓ Cleanup/)
    expect([code, await remains()]).toEqual([1, []])
  })

  it('removes the created resources when a person stops it', async () => {
    const interrupted = new AbortController()
    const onOutput = (text: string) => text.includes('Site: create') && interrupted.abort()
    const { code, output, errors } = await write([], { interrupted: interrupted.signal, onOutput })
    expect(errors).toContain('The created objects are removed first')
    expect(output).toMatch(/✗ Site: .*Interrupted[\s\S]*✓ Cleanup/)
    expect([code, await remains()]).toEqual([1, []])
  })

  it('removes resources that an earlier run could not remove', async () => {
    for (const operation of ['graph.groups.delete', 'exchange.remove-mailbox'])
      await checked.control('POST', 'faults', { operation, kind: 'failBeforeCommit', status: 403 })
    const first = await write()
    expect(first.errors).toContain(`in an hour: it removes everything named ${mark}<date>-<time>`)
    const left = await remains()
    expect(left).not.toEqual([])
    await checked.heal()
    // They may belong to a concurrent run.
    expect((await write()).code).toBe(0)
    expect(await remains()).toEqual(left)
    // With an offset, the simulator uses this clock instead of Node's own.
    await checked.control('POST', 'tenant', { dateOffsetSeconds: 1 })
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() + 3_700_000 })
    try {
      const third = await write()
      expect(third.output).toMatch(/✓ Cleanup: remove leftovers/)
      expect([third.code, await remains()]).toEqual([0, []])
    } finally {
      vi.useRealTimers()
    }
  })

  it('keeps resources whose names only begin like those of trials', async () => {
    const name = `${mark}policies`
    const { status, body: group } = await graph('groups', 'POST', {
      ...{ displayName: name, mailNickname: name, mailEnabled: false, securityEnabled: true, groupTypes: [] },
    })
    expect(status).toBe(201)
    expect((await write()).code).toBe(0)
    expect(await remains()).toMatchObject([{ displayName: name }])
    expect((await graph(`groups/${group.id}`, 'DELETE')).status).toBe(204)
  })

  it('removes the created resources even when lists fail', async () => {
    await checked.control('POST', 'faults', { operation: 'graph.sites.search', kind: 'failBeforeCommit', status: 403 })
    const { code, output } = await write()
    expect(stepsOf(output).at(-1)).toMatch(/^✗ Cleanup/)
    await checked.heal()
    expect([code, await remains()]).toEqual([1, []])
  })

  it('creates nothing when a check fails', async () => {
    await checked.control('POST', 'tenant', { groupsAcceptExtension: false })
    const { code, output } = await write()
    expect(output).toContain('Nothing was created')
    expect([code, stepsOf(output)]).toEqual([1, []])
  })
})

describe('the recording', () => {
  it('contains no token, name, address or id of the organisation', async () => {
    const secrets = new Set<string>()
    const watch: typeof fetch = async (input, init) => {
      const authorization = new Headers(init?.headers).get('authorization')
      if (authorization) secrets.add(authorization.slice('Bearer '.length))
      const response = await fetch(input, init)
      // Collects every id in an answer, a path or a body.
      const text = `${input} ${init?.body ?? ''} ${await response.clone().text()}`
      for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi))
        secrets.add(id)
      for (const [, assertion = ''] of text.matchAll(/client_assertion=([^&]+)/g)) secrets.add(assertion)
      return response
    }
    expect((await write([], { fetch: watch })).code).toBe(0)
    const { host, hostname } = new URL(checked.simulator.url)
    for (const person of contoso.people)
      for (const value of [person.displayName, person.surname, person.userPrincipalName, person.officeLocation])
        secrets.add(value)
    for (const value of [
      ...contoso.domains,
      contoso.displayName,
      contoso.tenantId,
      host,
      hostname,
      botSecret,
      'svc_group',
    ])
      secrets.add(value)
    const text = readFileSync(file, 'utf8').toLowerCase()
    expect(secrets.size).toBeGreaterThan(60)
    expect([...secrets].filter((secret) => secret.length > 3 && text.includes(secret.toLowerCase()))).toEqual([])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is readable for its owner only, even if others could read the file before', async () => {
    writeFileSync(file, 'old')
    chmodSync(file, 0o644)
    expect((await write()).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  // Recordings of organisations belong in this folder and are replayed from then on.
  const folder = new URL('../microsoft365/recordings/', import.meta.url)

  it('can be replayed with the connector: every step has the same result', async () => {
    expect((await write()).code).toBe(0)
    // A new check sends calls that older recordings do not contain.
    if (process.env['UPDATE_RECORDING']) copyFileSync(file, new URL('simulator.json', folder))
    const replay = await replayed(JSON.parse(readFileSync(file, 'utf8')))
    expect(replay).toEqual({ problems: [], unknown: [], unmadeWrites: [], steps: 10 })
  })

  it.each(readdirSync(folder))('of %s is replayed without a difference', async (name) => {
    const replay = await replayed(JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
    expect(replay).toEqual({ problems: [], unknown: [], unmadeWrites: [], steps: 10 })
  })
})
