import './sentences.ts'
import { type AuditKeyFacts, because, type Probe, type Reason, sentenceOf } from '../core/index.ts'
import { keyFile } from '../store/index.ts'

/** Names the source of the audit key. */
export const keySource = (dataDir: string, secret: string | undefined): string =>
  secret === undefined ? keyFile(dataDir) : 'AUDIT_SECRET'

/** Returns why this key is not the key of the store; undefined if it is. */
function keyFault({ fits, fingerprint, needed }: AuditKeyFacts, source: string): Reason | undefined {
  if (fits) return undefined
  const facts = { source, needed: needed ?? 'none' }
  return fingerprint === undefined
    ? because('auditKeyMissing', facts)
    : because('auditKeyOther', { ...facts, fingerprint })
}

/** Returns the sentence why this key is not the key of the store; undefined if it is. */
export function keyProblem(facts: AuditKeyFacts, source: string): string | undefined {
  const fault = keyFault(facts, source)
  return fault && sentenceOf(fault)
}

/** The remedy for a wrong key, for operators. */
export const keyRemedy =
  'Set AUDIT_SECRET to that key, or restore the key file. To check a key: npm run audit:key -- <file>. If the key is lost, npm run audit:key -- --replace accepts the new key, but then the integrity of older entries can no longer be proved.'

export const keyProbe = (facts: AuditKeyFacts, source: string): Probe => {
  const problem = keyFault(facts, source)
  return { name: source, ...(problem && { problem, trouble: 'refused' }) }
}
