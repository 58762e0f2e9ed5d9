/** Personal data: exports, erasure, retention. */

export * from './export-link.ts'
export * from './export-rows.ts'
export * from './exporting.ts'
export * from './known-person.ts'
export * from './person-erasure.ts'
export * from './person-redaction.ts'
export * from './ports.ts'
export * from './retention.ts'
