import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import { type Context, defineUseCase } from '../shared/index.ts'
import { currentHealth } from './health.ts'
import type { HealthReport } from './health-report.ts'
import type { CertificateReading, OperationPorts } from './ports.ts'

/** Reads the certificate's file again, says so in the audit, and tells how all does after it. */
export const readCertificate = defineUseCase({
  permission: 'certificate.read',
  input: z.object({}),
  async handle(context: Context<OperationPorts>): Promise<{ reading: CertificateReading; report: HealthReport }> {
    const { ports, actor } = context
    const reading = await ports.connection.readCertificate()
    const { endsAt } = ports.connection.certificate()
    await noteAct(ports, actor, 'certificate-read', { reading, endsAt: endsAt?.toISOString() ?? null })
    return { reading, report: await currentHealth(context) }
  },
})
