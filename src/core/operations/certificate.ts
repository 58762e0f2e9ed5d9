import type { Actor } from '../shared/access.ts'
import { readHealth } from './health.ts'
import type { HealthReport } from './health-report.ts'
import { noteAct } from '../audit/organisation-audit.ts'
import type { Ports, Settings } from '../shared/ports.ts'
import type { CertificateReading } from '../requests/tenant-ports.ts'

/** Reads the certificate's file again, says so in the audit, and tells how all does after it. */
export async function readCertificate(
  ports: Ports,
  settings: Settings,
  actor: Actor,
): Promise<{ reading: CertificateReading; report: HealthReport }> {
  const reading = await ports.connection.readCertificate()
  const { endsAt } = ports.connection.certificate()
  await noteAct(ports, actor, 'certificate-read', { reading, endsAt: endsAt?.toISOString() ?? null })
  return { reading, report: await readHealth(ports, settings) }
}
