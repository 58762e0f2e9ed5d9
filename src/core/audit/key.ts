import { createHmac, createSecretKey } from 'node:crypto'
import { type ChainHead, sealOf } from './chain.ts'

/** Returns a name of a key that may be shown and stored: nobody can find the key from it. */
export function fingerprintOf(key: Uint8Array): string {
  const digest = createHmac('sha256', key).update('fingerprint of the audit key').digest('hex')
  return (digest.slice(0, 16).match(/.{4}/g) ?? []).join('-')
}

/** The facts of a store about the key that seals its audit. */
export interface StoredSeals {
  /** The fingerprint of the key; undefined before the first start of a version that records it. */
  readonly recorded: string | undefined
  /** Some sealed heads of chains. */
  readonly heads: readonly (ChainHead & { readonly requestId: string; readonly seal: string })[]
}

/** A key, compared with a store. */
export interface AuditKeyFacts {
  /** Whether it is the key of the store. Any key fits a store without seals. */
  readonly fits: boolean
  /** Undefined: there is no key. */
  readonly fingerprint: string | undefined
  /** The fingerprint of the store's key; undefined if none is recorded. */
  readonly needed: string | undefined
}

/**
 * Compares a key with a store: by the recorded fingerprint, or by the seals of earlier versions, which recorded no
 * fingerprint. The key must fit half of these seals, because an earlier version may have continued with another key.
 */
export function compareKey(key: Uint8Array | undefined, { recorded, heads }: StoredSeals): AuditKeyFacts {
  const fingerprint = key && fingerprintOf(key)
  const sealingKey = key && createSecretKey(key)
  const seals = ({ requestId, seal, ...head }: StoredSeals['heads'][number]) =>
    sealingKey !== undefined && seal === sealOf(sealingKey, requestId, head)
  const fits = recorded === undefined ? heads.filter(seals).length * 2 >= heads.length : recorded === fingerprint
  return { fits, fingerprint, needed: recorded }
}
