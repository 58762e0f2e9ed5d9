import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { startSimulator } from '../../src/simulator/index.ts'
import { contoso } from '../../src/simulator/tenant/index.ts'
import { type ConnectorFault, startConnector } from '../support/connector.ts'
import { emptyStore } from '../support/database.ts'
import { startWebhookRelay } from '../support/webhook-relay.ts'
import { createChangesAim } from './changes-aim.ts'
import { createChangePeople } from './changes-people.ts'
import { openClock } from './clock.ts'
import { prepareCluster } from './cluster.ts'
import { openHistory } from './history.ts'
import type { Person } from './plan.ts'

/** The local hour of the daily digest. */
export const digestHour = 8
/** The job of the digests runs once in this time. Milliseconds. */
const digestTurn = 15 * 60_000
/** How long after the start of a turn of the digests the service starts. Milliseconds. */
const afterTurn = 2000

/**
 * Opens everything that the aimed kills of changes need. Only the service is killed; all other parts are in this process
 * and observe it.
 */
export async function openChangesWorld(folder: string, seed: number, employees: number) {
  const tenantDir = join(folder, 'tenant')
  mkdirSync(tenantDir, { recursive: true })
  const history = openHistory(join(folder, 'history.jsonl'))
  const random = mulberry32(seed)
  const aim = createChangesAim()
  const service = { url: '' }
  const clock = openClock()
  const connector = await startConnector()
  for (const method of ['POST', 'PUT'] as const)
    for (const how of ['hold', 'lose', 'late'] as const)
      connector.fail({
        ...({ method, how, count: Infinity } satisfies Pick<ConnectorFault, 'method' | 'how' | 'count'>),
        when: (activity) => aim.meetsCard(method, how, activity),
        until: aim.delaysCard,
      })
  const relay = await startWebhookRelay(() => service.url)
  relay.set(aim.meetsWebhook)
  const known = contoso.people.length
  const simulator = await startSimulator({
    ...{ dataDir: tenantDir, port: 0, directorySeconds: 0, exchangeSettleSeconds: 0, faults: aim.faults, employees },
  })
  const tenantUrls = Object.fromEntries(
    ['LOGIN_URL', 'DIRECTORY_URL', 'SHAREPOINT_URL', 'EXCHANGE_URL'].map((name) => [name, simulator.url]),
  )
  cpSync(await emptyStore(), join(folder, 'service-0', 'postgres'), { recursive: true })
  const limits = ['WRITES_PER_MINUTE', 'READS_PER_MINUTE', 'TENANT_WRITES_PER_MINUTE']
  const cluster = await prepareCluster({ folder, size: 1, history }, () => ({
    ...{ ...tenantUrls, ...Object.fromEntries(limits.map((name) => [`RATE_LIMIT_${name}`, '0'])) },
    ...{ OPEN_REQUESTS_PER_PERSON: '0', DIGEST_HOUR: String(digestHour), BASE_URL: relay.url, PLAYGROUND: 'off' },
    ...{ FOLLOW_UP_FIRST_SECONDS: '3', FOLLOW_UP_EVERY_SECONDS: '2', FOLLOW_UP_STOP_SECONDS: '60' },
    NODE_OPTIONS: clock.nodeOption(),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
  }))
  service.url = cluster.url
  const fresh: Person[] = contoso.people.slice(known).map(({ id, displayName }) => ({ id, name: displayName }))
  return {
    ...{ history, aim, cluster, connector, random, folder },
    people: createChangePeople({ url: cluster.url, simulatorUrl: simulator.url, connector, history, random }),
    tenantFile: join(tenantDir, 'simulator.sqlite'),
    /** Returns the next start of a turn of the digests. */
    nextDigests: (): number => (Math.floor(Date.now() / digestTurn) + 1) * digestTurn,
    /** Sets all clocks to this turn of the digests, while the service is dead. */
    jumpTo: (turn: number): void => clock.jumpTo(turn + afterTurn),
    /** Returns a person who has no part in any change yet. */
    freshPerson(): Person {
      const person = fresh.pop()
      if (!person) throw new Error('the tenant has too few employees')
      return person
    },
    /** Closes all parts, and writes all calls to the chats next to the history, so that a fault about a card can be explained. */
    async close() {
      const calls = connector.calls.map((call) => `${JSON.stringify(call)}\n`)
      writeFileSync(join(folder, 'cards.jsonl'), calls.join(''))
      await cluster.close()
      await simulator.close()
      // Other tests in this process share the list of people.
      contoso.people.splice(known)
      await connector.close()
      await relay.close()
      clock.close()
    },
  }
}
export type ChangesWorld = Awaited<ReturnType<typeof openChangesWorld>>
