/**
 * The audit: entries, the hash chain that ties them together, and the key that seals it.
 */
export { auditKeyOf, chainExisting, iso, keyFile, missingNumbers, provedAll, readKey } from './chain.ts'
export { createAuditLog } from './log.ts'
