import type { Stores } from './index.ts'

/** What only grows otherwise; each store knows how long it keeps what. */
export async function forgetOld(stores: Stores, at: Date): Promise<void> {
  const { idempotency, drafts, deliveries, templates, botState } = stores
  const all = [
    () => stores.inbox.forgetOld(),
    async () => stores.tokenBuckets?.forgetFull(),
    () => stores.chatPace.forgetOld(),
    ...[idempotency, drafts, deliveries, templates, botState].map((store) => () => store.forgetOld(at)),
  ]
  const failures: unknown[] = []
  // One after another, and one that fails keeps no other from its turn.
  for (const forget of all) await forget().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
