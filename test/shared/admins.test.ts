import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asWritten, type Directory, TenantError } from '../../src/core/index.ts'
import { actorOf, dana, kim, withCore } from '../support/core.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'
import { refusal } from '../support/refusal.ts'
import { tenantId } from '../support/rest.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const server of open.splice(0)) await server.close()
})

/** Starts the real directory on a Graph server with these people and groups. Records the calls. */
async function directoryOf(groupsOf: () => readonly string[], people = [kim, dana]) {
  const calls: string[] = []
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    const [, id, rest = ''] = /^\/v1\.0\/users\/([0-9a-f-]+)(\/\w+)?/.exec(request.url ?? '') ?? []
    calls.push(`${rest}`)
    const person = people.find((one) => one.id === id)
    if (rest === '/transitiveMemberOf')
      return sendJson(response, 200, { value: groupsOf().map((one) => ({ id: one })) })
    if (person) return sendJson(response, 200, { accountEnabled: true, userType: 'Member', ...person })
    sendJson(response, 404, { error: { code: 'Request_ResourceNotFound', message: 'There is none.' } })
  })
  open.push(server)
  return { directory: connectTo(server.url).directory, calls, server }
}

describe('an admin', () => {
  const core = withCore()
  const group = randomUUID()
  const provisioningWith = (directory: Directory, admins: string[]) => core.with({ directory }, { tenantId, admins })
  const isAdmin = async (provisioning: ReturnType<typeof provisioningWith>, id = kim.id) =>
    (await provisioning.actor({ tenantId, id })).isAdmin

  it('is a person in the setting ADMINS, or a current member of a group in it', async () => {
    const { directory } = await directoryOf(() => [group])
    expect(await isAdmin(provisioningWith(directory, [kim.id]))).toBe(true)
    expect(await isAdmin(provisioningWith(directory, [dana.id]))).toBe(false)
    expect(await isAdmin(provisioningWith(directory, [dana.id, group]))).toBe(true)
    expect(await isAdmin(provisioningWith(directory, []))).toBe(false)
  })

  it('loses the role one minute after leaving the group, when the cached answer expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const start = Date.now()
    let groups = [group]
    const { directory, calls } = await directoryOf(() => groups)
    const provisioning = provisioningWith(directory, [group])
    expect(await isAdmin(provisioning)).toBe(true)
    groups = []
    vi.setSystemTime(start + 59_000)
    expect(await isAdmin(provisioning)).toBe(true)
    expect(calls.filter((path) => path === '/transitiveMemberOf')).toHaveLength(1)
    vi.setSystemTime(start + 60_000)
    expect(await isAdmin(provisioning)).toBe(false)
    const { code } = await refusal(async () =>
      provisioning.readQueue(await provisioning.actor({ tenantId, id: kim.id })),
    )
    expect(code).toBe('forbidden')
  })

  it('gets the role within one minute after joining the group, or at once without a cached answer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const start = Date.now()
    let groups: string[] = []
    const { directory } = await directoryOf(() => groups)
    const provisioning = provisioningWith(directory, [group])
    expect(await isAdmin(provisioning)).toBe(false)
    groups = [group]
    expect(await isAdmin(provisioning, dana.id)).toBe(true)
    vi.setSystemTime(start + 60_000)
    expect(await isAdmin(provisioning)).toBe(true)
  })

  it('has no role while the directory does not answer, even after a recent check', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const start = Date.now()
    let away = false
    const { directory } = await directoryOf(() => [group])
    const failing: Directory = {
      ...directory,
      groupsOf: async (id) => (away ? core.ports.directory.groupsOf(id) : directory.groupsOf(id)),
    }
    const provisioning = provisioningWith(failing, [group])
    expect(await isAdmin(provisioning)).toBe(true)
    vi.setSystemTime(start + 60_000)
    away = true
    core.world.up = false
    expect((await refusal(() => isAdmin(provisioning))).code).toBe('unavailable')
    core.world.up = true
  })

  it('cannot read the health report after a refusal, also while the directory does not answer', async () => {
    let people: { id: string }[] = [kim, dana]
    let away = false
    const { directory } = await directoryOf(() => [group])
    const failing: Directory = {
      ...directory,
      person: async (id) => {
        if (away) throw new TenantError('unreachable', asWritten('It is away.'), { retryable: true })
        return people.some((one) => one.id === id) ? directory.person(id) : undefined
      },
    }
    const provisioning = provisioningWith(failing, [kim.id, group])
    const healthActor = (id: string) => provisioning.actorForHealth({ tenantId, id })
    for (const { id } of [kim, dana]) expect(await isAdmin(provisioning, id)).toBe(true)
    away = true
    for (const { id } of [kim, dana]) expect((await healthActor(id)).isAdmin).toBe(true)
    people = []
    away = false
    for (const { id } of [kim, dana]) expect((await refusal(() => healthActor(id))).code).toBe('forbidden')
    away = true
    for (const { id } of [kim, dana]) expect((await refusal(() => healthActor(id))).code).toBe('unavailable')
  })

  it('is never an application, even by the setting, and never a claim in a token', async () => {
    const { directory } = await directoryOf(() => [])
    const client = randomUUID()
    const provisioning = provisioningWith(directory, [client, kim.id])
    expect((await provisioning.actor({ tenantId, id: client, clientId: client })).isAdmin).toBe(false)
    expect((await provisioning.actor({ tenantId, id: kim.id, clientId: client })).isAdmin).toBe(false)
    const claimed = { ...actorOf(dana, true), tenantId }
    expect((await provisioning.actor(claimed)).isAdmin).toBe(false)
  })
})
