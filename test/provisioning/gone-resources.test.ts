import { describe, expect, it } from 'vitest'
import { asWritten, type Core, type SiteStepInput, siteSteps, TenantError } from '../../src/core/index.ts'
import { actorOf, approversGroup, kim, tenantWith, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'

const never = new AbortController().signal
const run = { lastAttempt: true, signal: never }
const asKim = actorOf(kim)
/** Each team site has a group of its own. A communication site has no group. */
const site = async ({ requestId, kind }: SiteStepInput) => ({
  done: true as const,
  made: {
    ...{ url: 'https://contoso.sharepoint.com/sites/a', siteId: 'site', securityGroupId: 'security' },
    ...(kind === 'teamSite' && { groupId: requestId }),
  },
})

describe.each(engines)('a quota of resources, %s', (engine) => {
  const core = withCore(engine)
  let now = new Date('2026-11-02T10:00:00Z')
  const clock = { now: () => now }
  const system = (parts: Parameters<typeof core.with>[0] = {}): Core => {
    // Each resource has its own ids.
    const tenant = tenantWith(Object.fromEntries(siteSteps.map((name) => [name, site])), {
      'create-mailbox': async ({ requestId }) => ({
        done: true,
        made: { mailboxId: requestId, userId: requestId, userPrincipalName: 'made@contoso.example' },
      }),
    })
    return core.with({ clock, tenant, ...parts })
  }
  const later = (hours: number) => {
    now = new Date(now.getTime() + hours * 3_600_000)
  }

  /** The ways of a kind: to request it, and to create, delete and restore its resource in the tenant. */
  const ways = {
    teamSite: {
      submit: (templateId: string, name: string) =>
        system().submitSite(asKim, { body: { displayName: name, templateId } }),
      exists: (id: string, _: string, does: boolean) =>
        does ? void core.world.groups.set(id, []) : void core.world.groups.delete(id),
    },
    communicationSite: {
      submit: (templateId: string, name: string) =>
        system().submitSite(asKim, { body: { displayName: name, templateId } }),
      exists: (_: string, address: string, does: boolean) =>
        does ? void core.world.taken.add(address) : void core.world.taken.delete(address),
    },
    sharedMailbox: {
      submit: (templateId: string, name: string) =>
        system().submitMailbox(asKim, { body: { displayName: name, name, templateId } }),
      exists: (id: string, _: string, does: boolean) =>
        does ? void core.world.people.set(id, { ...kim, id }) : void core.world.people.delete(id),
    },
  } as const

  it.each(['teamSite', 'communicationSite', 'sharedMailbox'] as const)(
    'does not count a deleted %s, counts it again after it was restored, and counts one that cannot be looked up',
    async (kind) => {
      const { submit, exists } = ways[kind]
      const { id: templateId } = await core.template({ kind, quota: { resources: 2 } })
      const create = async (name: string) => {
        const request = await submit(templateId, name)
        await system().system.provision(request.requestId, run)
        const created = await core.ports.requests.find(request.requestId)
        expect(created?.status).toBe('succeeded')
        const address = 'alias' in request ? request.alias : request.address
        exists(request.requestId, address, true)
        return { id: request.requestId, address }
      }
      const refusal = (name: string) =>
        submit(templateId, name).then(
          () => 'accepted',
          (error: { faults?: { code: string }[] }) => error.faults?.map(({ code }) => code).join(),
        )
      const check = (parts?: Parameters<typeof core.with>[0]) => system(parts).system.noteGoneResources(never)
      const [first] = [await create(`${kind}-one`), await create(`${kind}-two`)]

      expect(await refusal(`${kind}-three`)).toBe('quota-reached')
      exists(first.id, first.address, false)
      await check()
      // The directory may not show a new resource everywhere yet.
      expect(await refusal(`${kind}-three`)).toBe('quota-reached')
      later(2)
      const refuses = async () => {
        throw new TenantError('permission-missing', asWritten('The service may not read this.'), { retryable: false })
      }
      const { directory } = core.ports
      await check({ directory: { ...directory, people: refuses, groupName: refuses, isSiteAddressFree: refuses } })
      expect(await refusal(`${kind}-three`)).toBe('quota-reached')
      core.world.up = false
      await expect(check()).rejects.toThrow('The directory is away.')
      core.world.up = true
      expect(await refusal(`${kind}-three`)).toBe('quota-reached')

      await check()
      await check()
      const third = await create(`${kind}-three`)
      expect(await refusal(`${kind}-four`)).toBe('quota-reached')

      exists(third.id, third.address, false)
      exists(first.id, first.address, true)
      later(2)
      await check()
      expect(await refusal(`${kind}-four`)).toBe('quota-reached')
    },
  )

  it('does not count a deleted communication site again when a later request has created its address', async () => {
    const quota = { resources: 1 }
    const [old, other] = [
      await core.template({ kind: 'communicationSite', quota }),
      await core.template({ kind: 'communicationSite' }),
    ]
    const create = async (templateId: string) => {
      const { requestId } = await ways.communicationSite.submit(templateId, 'Reused')
      await system().system.provision(requestId, run)
      core.world.taken.add('reused')
      expect((await core.ports.requests.find(requestId))?.status).toBe('succeeded')
    }
    const check = () => system().system.noteGoneResources(never)
    await create(old.id)
    core.world.taken.delete('reused')
    later(2)
    await check()
    await create(other.id)
    // A template with room is checked once a day.
    for (let hour = 0; hour < 24; hour += 1) {
      later(1)
      await check()
    }
    await expect(ways.communicationSite.submit(old.id, 'Another')).resolves.toMatchObject({ status: 'queued' })
  })

  it('checks the other resources and templates if one lookup always fails, and stops when it has to', async () => {
    const templates = [1, 2].map(() => core.template({ kind: 'teamSite', quota: { resources: 2 } }))
    const ids: string[] = []
    for (const { id } of await Promise.all(templates))
      for (const name of ['First', 'Second']) {
        const { requestId } = await ways.teamSite.submit(id, `${name} of ${id}`)
        await system().system.provision(requestId, run)
        ids.push(requestId)
      }
    later(2)
    const lookups: string[] = []
    let stopping = new AbortController()
    let stopsAfter = 1
    const directory = {
      ...core.ports.directory,
      groupName: async (id: string) => {
        if (!ids.includes(id)) return 'Site'
        lookups.push(id)
        const isLast = lookups.length === stopsAfter
        if (isLast) stopping.abort()
        if (isLast || id === ids[0]) throw new Error('This lookup always fails.')
        return undefined
      },
    }
    const check = () => system({ directory }).system.noteGoneResources(stopping.signal)
    await expect(check()).rejects.toThrow('This lookup always fails.')
    expect(lookups.splice(0)).toHaveLength(1)
    stopping = new AbortController()
    stopsAfter = 100
    await expect(check()).rejects.toThrow('This lookup always fails.')
    expect(lookups.toSorted()).toEqual(ids.toSorted())
    const { rows } = await core.database.query('SELECT request_id FROM gone_resources WHERE request_id = ANY($1)', [
      ids,
    ])
    expect(rows.map((row) => row['request_id']).toSorted()).toEqual(ids.slice(1).toSorted())
  })

  it('checks each resource of a template with room once a day', async () => {
    const { id: templateId } = await core.template({ kind: 'teamSite', quota: { resources: 100 } })
    const ids: string[] = []
    for (let index = 0; index < 3; index += 1) {
      const { requestId } = await ways.teamSite.submit(templateId, `Room ${index}`)
      await system().system.provision(requestId, run)
      ids.push(requestId)
    }
    const lookups: string[] = []
    const directory = {
      ...core.ports.directory,
      groupName: async (id: string) => {
        lookups.push(id)
        return 'Site'
      },
    }
    later(2)
    for (let hour = 0; hour < 24; hour += 1) {
      await system({ directory }).system.noteGoneResources(never)
      later(1)
    }
    expect(lookups.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted())
    expect(core.world.groups.has(approversGroup)).toBe(true)
  })
})
