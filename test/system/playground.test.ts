import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { type Playgrounds, startPlaygrounds } from '../../src/app/local/playground.ts'
import { withService } from '../support/service.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

interface PlaygroundConfig {
  readonly tenantId: string
  readonly currentUser: { readonly id: string; readonly aadObjectId: string }
  readonly users: readonly { readonly id: string; readonly aadObjectId: string }[]
  readonly personalChat: { readonly id: string }
}

describe('the chat windows of local mode', () => {
  const service = withService()

  const configOf = async (url: string): Promise<PlaygroundConfig> => {
    const response = await fetch(`${url}/_internal/v1/config`)
    return ((await response.json()) as { config: PlaygroundConfig }).config
  }
  const withWindows = async (work: (playgrounds: Playgrounds) => Promise<void>): Promise<void> => {
    const playgrounds = await startPlaygrounds(service.app)
    try {
      await work(playgrounds)
    } finally {
      await playgrounds.close()
    }
  }

  it('belong to an employee and an approver, each with its own chat, and identify people by object id', () =>
    withWindows(async ({ windows }) => {
      expect(windows.map(({ name, part }) => `${name}, ${part}`)).toEqual(['Kim Lee, employee', 'Dana Fox, approver'])
      const [kim, dana] = await Promise.all(windows.map(({ url }) => configOf(url)))
      expect([kim?.currentUser.id, dana?.currentUser.id]).toEqual([people.kim.id, people.dana.id])
      expect(kim?.personalChat.id).not.toBe(dana?.personalChat.id)
      for (const config of [kim, dana]) {
        expect(config?.tenantId).toBe(contosoTenant)
        expect(config?.users.map(({ id }) => id)).toEqual(config?.users.map(({ aadObjectId }) => aadObjectId))
        expect(config?.users.map(({ id }) => id)).toEqual(expect.arrayContaining([people.omar.id, people.sam.id]))
      }
    }))

  it('use other ports next to another service, and show the ports', () =>
    withWindows((one) =>
      withWindows(async (other) => {
        const urls = [...one.windows, ...other.windows].map(({ url }) => url)
        expect(new Set(urls).size).toBe(4)
        for (const url of urls) expect((await fetch(url)).status).toBe(200)
      }),
    ))

  it('are reachable from this machine only, and are closed afterwards', async () => {
    const urls: string[] = []
    const elsewhere = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    const outer = elsewhere.find(({ internal, family }) => !internal && family === 'IPv4')?.address
    await withWindows(async ({ windows }) => {
      urls.push(...windows.map(({ url }) => url))
      for (const url of urls) {
        if (outer !== undefined) await expect(fetch(url.replace('127.0.0.1', outer))).rejects.toThrow()
      }
    })
    for (const url of urls) await expect(fetch(url)).rejects.toThrow()
  })
})
