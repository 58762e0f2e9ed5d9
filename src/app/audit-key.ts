import type { AuditKeyFacts, Probe } from '../core/index.ts'
import { keyFile } from '../store/index.ts'

/** Where the key of the audit comes from. */
export const keySource = (dataDir: string, secret: string | undefined): string =>
  secret === undefined ? keyFile(dataDir) : 'AUDIT_SECRET'

/** Why this key is not the key of the store; undefined if it is. */
export function keyProblem({ fits, fingerprint, needed }: AuditKeyFacts, source: string): string | undefined {
  if (fits) return undefined
  const other = `the key that sealed the audit of this store${needed === undefined ? '' : ` (fingerprint ${needed})`}`
  if (fingerprint === undefined) return `${source} is missing: it must hold ${other}.`
  return `${source} (fingerprint ${fingerprint}) is not ${other}.`
}

/** What an operator does about it. */
export const keyRemedy =
  'Set AUDIT_SECRET to that key, or put the key file back. npm run audit:key -- <file> shows whether a key fits. If the key is lost, npm run audit:key -- --replace accepts the new one. Then nobody can prove the older entries any more.'

export const keyProbe = (facts: AuditKeyFacts, source: string): Probe => {
  const problem = keyProblem(facts, source)
  return { name: source, ...(problem !== undefined && { problem, trouble: 'refused' }) }
}
