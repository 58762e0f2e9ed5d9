import { randomUUID } from 'node:crypto'
import { people } from '../support/teams-user.ts'
import { control } from '../support/tenant-control.ts'
import { click, startBareConnector, turn } from './chat.ts'
import { quantile, timed } from './figures.ts'
import { employees, type RunningService, startService, startTenant, tokenOf } from './service.ts'

/** Contoso's sample templates. */
const templates = {
  projectSite: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  sharedMailbox: '5a7c9e1b-3d5f-4a7c-9e1b-3d5f7a9c1e55',
} as const

/** The scale of a measurement. Each flood comes from another person, so that the rate limits allow each to begin. */
const usual = { floods: 6, previews: 300, people: 100, quiet: 150, warmUp: 30 }

const kinds = ['turn', 'click', 'read'] as const
type Kind = (typeof kinds)[number]
export interface FloodFigures {
  /** Waiting times of other people in milliseconds, during floods and without a flood. */
  readonly times: Readonly<Record<Kind, { readonly flood: readonly number[]; readonly quiet: readonly number[] }>>
  /** Calls to Microsoft Graph during one flood, counted by the simulator: the median of the floods. */
  readonly graphCalls: number
  readonly previews: number
  readonly people: number
}

/**
 * Measures other people during a flood. One person sends many previews at once, each with unknown people, while two
 * others type, click and read, one action after the other. Floods and quiet times take turns. Throws when one of the
 * others receives a wrong answer.
 */
export async function measureFlood(
  dataDir: string,
  limits: 'on' | 'off',
  scale: Partial<typeof usual> = {},
): Promise<FloodFigures> {
  const { floods, previews, people: named, quiet, warmUp } = { ...usual, ...scale }
  const tenant = await startTenant(dataDir)
  const own = await startService(dataDir, {
    ...tenant.urls,
    ...(limits === 'on' && { RATE_LIMIT_READS_PER_MINUTE: '300' }),
  })
  const service = { ...own, simulatorUrl: tenant.url }
  const connector = await startBareConnector()
  const times = { turn: newTimes(), click: newTimes(), read: newTimes() }
  const calls: number[] = []
  try {
    const others = await othersOf(service, connector.url)
    const measured = async (when: 'flood' | 'quiet' | undefined) => {
      for (const kind of kinds) {
        const milliseconds = await timed(others[kind])
        if (when) times[kind][when].push(milliseconds)
      }
    }
    for (let round = 0; round < warmUp; round += 1) for (const kind of kinds) await others[kind]()
    // The first flood is not measured, because the code is not compiled before it.
    for (const [flood, person] of employees(floods + 1).entries()) {
      const token = await tokenOf(service, person)
      const bodies = Array.from({ length: previews }, () => bodyOf(named))
      for (let round = 0; round < Math.ceil(quiet / floods); round += 1) await measured('quiet')
      await control(service.simulatorUrl, 'DELETE', 'calls')
      const state = { isOver: false }
      const answers = Promise.all(bodies.map((body) => preview(service.url, token, body))).finally(() => {
        state.isOver = true
      })
      do await measured(flood === 0 ? undefined : 'flood')
      while (!state.isOver)
      await answers
      if (flood > 0) calls.push(await graphCallsOf(service))
    }
  } finally {
    await connector.close()
    await service.stop()
    await tenant.kill()
  }
  return { times, graphCalls: quantile(calls, 0.5), previews, people: named }
}

const newTimes = (): { flood: number[]; quiet: number[] } => ({ flood: [], quiet: [] })

async function othersOf(service: RunningService, serviceUrl: string): Promise<Record<Kind, () => Promise<void>>> {
  const token = await tokenOf(service, people.omar.id)
  const data = { templateId: templates.projectSite }
  return {
    turn: () => turn(service.url, { serviceUrl, text: 'help', who: 'dana' }),
    click: () => click(service.url, { serviceUrl, verb: 'request.choose', data, who: 'omar' }),
    async read() {
      const answer = await fetch(`${service.url}/requests/v1/`, { headers: { authorization: `Bearer ${token}` } })
      if (answer.status !== 200) throw new Error(`the list was answered ${answer.status}: ${await answer.text()}`)
      await answer.arrayBuffer()
    },
  }
}

const bodyOf = (named: number): string =>
  JSON.stringify({
    ...{ templateId: templates.sharedMailbox, displayName: 'Flood', name: `flood-${randomUUID().slice(0, 8)}` },
    permissions: Object.fromEntries(Array.from({ length: named }, () => [randomUUID(), 'FullAccess'])),
  })

/** Sends one preview. Accepts every answer of the contract, also a refusal, and throws for any other. */
async function preview(url: string, token: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/requests/v1/preview`, { method: 'POST', headers, body })
  const text = await answer.text()
  if (![200, 429, 503].includes(answer.status)) throw new Error(`a preview was answered ${answer.status}: ${text}`)
}

async function graphCallsOf({ simulatorUrl }: RunningService): Promise<number> {
  const { value } = (await control(simulatorUrl, 'GET', 'calls')) as { value: { operation: string }[] }
  return value.filter(({ operation }) => operation.startsWith('graph.')).length
}
