/**
 * Personal data: what the store knows about a person, erasure, retention and exports.
 */
export { createRetentionStore } from './erasure.ts'
export { createExportSource, createExportTickets } from './exports.ts'
export { createPersonStore } from './person-data.ts'
