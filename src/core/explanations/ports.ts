import type { BatchPorts } from '../batches/index.ts'

/** The ports that this room and the rooms above it need. */
export type ExplanationPorts = BatchPorts
