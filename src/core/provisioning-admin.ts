import { readAudit, readOrganisationAudit } from './audit/index.ts'
import { listDelegations } from './decisions/index.ts'
import {
  dismissDeadLetter,
  readCertificate,
  readDeadLetter,
  readDeadLetters,
  readHealth,
  readOwnHealth,
  readQueue,
  readStats,
  readStuck,
  replayDeadLetter,
} from './operations/index.ts'
import type { Ports } from './ports.ts'
import {
  type Days,
  endDelegationsOf,
  findPerson,
  offerExport,
  offerPersonExport,
  orderErasure,
  readErasure,
} from './privacy/index.ts'
import type { Door } from './provisioning-door.ts'
import type { Period, Settings } from './shared/index.ts'

/** What admins do: to see everything, and to mend anything. */
export function createAdministration(ports: Ports, settings: Settings, to: Door) {
  return {
    queue: to('queue.read', (actor) => readQueue({ ports, settings, actor })),
    stuck: to('queue.read', (actor) => readStuck({ ports, settings, actor })),
    stats: to('stats.read', ({ tenantId }, period: Period) => readStats(ports, tenantId, period)),
    health: to('health.read', () => readHealth({ ports, settings })),
    ownHealth: to('health.read', () => readOwnHealth(ports)),
    readCertificate: to('certificate.read', (actor) => readCertificate({ ports, settings, actor })),
    audit: to('audit.read', (actor, requestId: string) => readAudit({ ports, actor }, requestId)),
    organisationAudit: to('audit.read', (actor) => readOrganisationAudit(ports, actor)),
    deadLetters: to('deadLetter.read', (_, page: { limit: number; cursor?: string }) => readDeadLetters(ports, page)),
    deadLetter: to('deadLetter.read', (_, letterId: string) => readDeadLetter(ports, letterId)),
    dismiss: to('deadLetter.dismiss', (actor, letterId: string) => dismissDeadLetter({ ports, actor }, letterId)),
    replay: to('deadLetter.replay', (actor, letterId: string) =>
      replayDeadLetter({ ports, settings, actor }, letterId),
    ),
    export: to('export.create', (actor, days: Days) => offerExport({ ports, settings, actor }, days)),
    findPerson: to('export.create', (actor, typed: string) => findPerson({ ports, actor }, typed)),
    exportPerson: to('export.create', (actor, personId: string) =>
      offerPersonExport({ ports, settings, actor }, personId),
    ),
    erasure: to('person.erase', (actor, personId: string) => readErasure({ ports, actor }, personId)),
    erase: to('person.erase', (actor, personId: string, confirmed: { address: string; erasureId: string }) =>
      orderErasure({ ports, actor }, personId, confirmed),
    ),
    delegations: to('delegation.list', (actor, page: Parameters<typeof listDelegations>[2]) =>
      listDelegations(ports, actor, page),
    ),
    endDelegations: to('person.erase', (actor, personId: string) => endDelegationsOf({ ports, actor }, personId)),
  }
}
