import type { AuditKeyFacts, Probe } from '../core/index.ts'
import { keyFile } from '../store/index.ts'

/** Names the source of the audit key. */
export const keySource = (dataDir: string, secret: string | undefined): string =>
  secret === undefined ? keyFile(dataDir) : 'AUDIT_SECRET'

/** Returns why this key is not the key of the store; undefined if it is. */
export function keyProblem({ fits, fingerprint, needed }: AuditKeyFacts, source: string): string | undefined {
  if (fits) return undefined
  const other = `the key that sealed the audit of this store${needed === undefined ? '' : ` (fingerprint ${needed})`}`
  if (fingerprint === undefined) return `${source} is missing: it must contain ${other}.`
  return `${source} (fingerprint ${fingerprint}) is not ${other}.`
}

/** The remedy for a wrong key, for operators. */
export const keyRemedy =
  'Set AUDIT_SECRET to that key, or restore the key file. To check a key: npm run audit:key -- <file>. If the key is lost, npm run audit:key -- --replace accepts the new key, but then the integrity of older entries can no longer be proved.'

export const keyProbe = (facts: AuditKeyFacts, source: string): Probe => {
  const problem = keyProblem(facts, source)
  return { name: source, ...(problem !== undefined && { problem, trouble: 'refused' }) }
}
