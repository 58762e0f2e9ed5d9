import type { ExplanationPorts } from '../explanations/ports.ts'
import type { ExportTickets } from './export-link.ts'
import type { ExportSource } from './exporting.ts'
import type { PersonStore } from './person-data.ts'
import type { RetentionStore } from './retention.ts'

/** The ports that this room and the rooms above it need. */
export interface PrivacyPorts extends ExplanationPorts {
  readonly exports: ExportSource
  readonly exportTickets: ExportTickets
  readonly retention: RetentionStore
  readonly personData: PersonStore
}
