import { describe, expect, it } from 'vitest'
import type { Step } from '../../src/app/setup/step.ts'
import { steps } from '../../src/app/setup/steps/index.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { administrator, emptyTenant } from '../support/administrator.ts'
import { installation } from '../support/setup-run.ts'
import { ask } from '../support/simulator.ts'

/** Returns the steps of the registry, with a call before and after each of their changes. */
const watched = (before: (step: Step) => void, after: (step: Step) => void): readonly Step[] =>
  steps.map((step) => ({
    ...step,
    async compare(setup) {
      const work = await step.compare(setup)
      return work.map((one) => ({
        ...one,
        async apply() {
          before(step)
          await one.apply()
          after(step)
        },
      }))
    },
  }))

/** Counts the objects of each kind in the tenant: nothing may exist twice. */
async function contents(tenant: Simulator) {
  const graph = await administrator(tenant)
  const count = async (path: string): Promise<number> => (await graph.api(path).get()).value.length
  const { value: registrations } = await graph.api('/applications').get()
  const service = await graph.api("/applications(uniqueName='quartermaster-service')").get()
  const bot = await graph.api("/applications(uniqueName='quartermaster-bot')").get()
  const principal = await graph.api(`/servicePrincipals(appId='${service.appId}')`).get()
  return {
    registrations: registrations.map(({ displayName }: { displayName: string }) => displayName).toSorted(),
    certificates: service.keyCredentials.length,
    secrets: bot.passwordCredentials.length,
    permissions: await count(`/servicePrincipals/${principal.id}/appRoleAssignments`),
    roles: await count(`/roleManagement/directory/roleAssignments?$filter=principalId eq '${principal.id}'`),
    consents: await count('/oauth2PermissionGrants'),
    extensions: await count(`/schemaExtensions?$filter=owner eq '${service.appId}'`),
    apps: await count(`/appCatalogs/teamsApps?$filter=externalId eq '${bot.appId}'`),
  }
}

/** Steps that change the directory. The others only write files. */
const calling = steps.filter(({ scope }) => scope !== '')

describe('npm run setup after a failure', () => {
  it('completes each change of every step that Microsoft refused once', async () => {
    const whole = await emptyTenant()
    const { writes, exit } = await (await installation(whole)).run()
    expect(exit).toBe(0)
    const names = writes.map(({ operation }) => operation)
    expect(names.length).toBeGreaterThan(calling.length)

    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const failed = new Set<string>()
    let current = ''
    const watch = watched(
      ({ id }) => {
        current = id
      },
      () => undefined,
    )
    for (const [index, operation] of names.entries()) {
      await ask('DELETE', `${tenant.url}/control/faults`)
      // Each run begins with the change that failed in the previous run.
      const skip = index > 0 && names[index - 1] === operation ? 1 : 0
      const fault = { operation, kind: 'failBeforeCommit', status: 403, count: 1, skip }
      expect((await ask('POST', `${tenant.url}/control/faults`, { body: fault })).status).toBeLessThan(300)
      const { exit: end, text } = await own.run({ steps: watch, ...(index > 0 && { args: ['--resume', '--yes'] }) })
      expect(end, `${operation} (${index}): ${text}`).toBe(1)
      expect(text, operation).toMatch(/✗ .+\n[\s\S]*npm run setup -- .*--resume/)
      failed.add(current)
    }
    await ask('DELETE', `${tenant.url}/control/faults`)
    const last = await own.run({ args: ['--resume', '--yes'] })
    expect(last.exit, last.text).toBe(0)
    expect([...failed]).toEqual(calling.map(({ id }) => id))
    expect(await contents(tenant)).toEqual(await contents(whole))
    expect((await own.run()).writes).toEqual([])
  })

  it('continues after Ctrl-C at each change of every step', async () => {
    const whole = await emptyTenant()
    expect((await (await installation(whole)).run()).exit).toBe(0)
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const stopped: string[] = []
    for (;;) {
      const interrupted = new AbortController()
      const ended = watched(
        () => undefined,
        ({ id }) => {
          stopped.push(id)
          interrupted.abort()
        },
      )
      const { exit, text } = await own.run({ signal: interrupted.signal, steps: ended })
      if (exit === 0) break
      expect(exit, text).toBe(130)
      expect(text).toContain(`To continue: npm run setup -- --env-file ${own.path} --resume`)
      expect(stopped.length).toBeLessThan(100)
    }
    expect([...new Set(stopped)]).toEqual(steps.map(({ id }) => id))
    expect(await contents(tenant)).toEqual(await contents(whole))
  })

  it('checks again after a lost answer, and creates nothing twice', async () => {
    const whole = await emptyTenant()
    const { writes } = await (await installation(whole)).run()
    // A lost secret cannot be read again. Setup creates a second one and reports that the first can be deleted.
    const operations = [...new Set(writes.map(({ operation }) => operation))].filter((one) => !/password/i.test(one))
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    for (const operation of operations)
      await ask('POST', `${tenant.url}/control/faults`, { body: { operation, kind: 'resetAfterCommit', count: 1 } })
    const { exit, text } = await own.run()
    expect(exit, text).toBe(0)
    expect(await contents(tenant)).toEqual(await contents(whole))
  })

  it('waits until Microsoft knows new objects everywhere', async () => {
    const tenant = await emptyTenant(2)
    const { exit, text } = await (await installation(tenant)).run({ patience: 30_000 })
    expect(exit, text).toBe(0)
  })

  it.each(['graph.applications.owners.list', 'graph.appRoleAssignments.list'])(
    'waits while %s does not know a new object',
    { timeout: 60_000 },
    async (operation) => {
      const tenant = await emptyTenant()
      const fault = { operation, kind: 'failBeforeCommit', status: 404, count: 3 }
      await ask('POST', `${tenant.url}/control/faults`, { body: fault })
      const { exit, text, calls } = await (await installation(tenant)).run()
      expect(exit, text).toBe(0)
      expect(calls.filter((one) => one.operation === operation && one.status === 404)).toHaveLength(3)
    },
  )

  it('waits while every second server does not know new service principals', async () => {
    const tenant = await emptyTenant()
    const reads = new Map<string, number>()
    let hidden = 0
    const replicas: typeof fetch = async (url, init) => {
      const [, appId] = /servicePrincipals\(appId='((?!0000000)[^']+)'\)/.exec(String(url)) ?? []
      const answer = await fetch(url, init)
      if (appId === undefined || init?.method !== 'GET' || !answer.ok) return answer
      reads.set(appId, (reads.get(appId) ?? 0) + 1)
      if ((reads.get(appId) ?? 0) % 2 === 1) return answer
      hidden += 1
      return Response.json({ error: { code: 'Request_ResourceNotFound', message: '' } }, { status: 404 })
    }
    const { exit, text } = await (await installation(tenant)).run({ fetch: replicas })
    expect(exit, text).toBe(0)
    expect(hidden).toBeGreaterThan(3)
  })

  it.each([
    ['status429', { retryAfter: 1 }],
    ['failBeforeCommit', { status: 503, retryAfter: 1 }],
  ])('repeats throttled calls (%s)', async (kind, more) => {
    const tenant = await emptyTenant()
    const fault = { operation: 'graph.applications.*', kind, count: 2, ...more }
    await ask('POST', `${tenant.url}/control/faults`, { body: fault })
    const { exit, text } = await (await installation(tenant)).run()
    expect(exit, text).toBe(0)
  })

  it('shows the next action when the directory does not answer', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const away: typeof fetch = (url, init) =>
      String(url).includes('/v1.0/applications')
        ? Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }))
        : fetch(url, init)
    const { exit, text } = await own.run({ fetch: away })
    expect(exit).toBe(1)
    expect(text).toContain('does not answer (ENOTFOUND).')
    expect(text).toContain('Check the network and the proxy.')
  })
})
