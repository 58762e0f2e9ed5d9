import type pg from 'pg'

/** What a connection has prepared: the name of each statement, by its text. */
interface Plans {
  readonly names: Map<string, string>
  readonly prefix: string
  next: number
}

/** Statements are few, since their values are apart from them; of texts beyond this no plan is kept. */
const MOST = 500
const plans = new WeakMap<pg.ClientBase, Plans>()
let connections = 0

/**
 * Has statements prepared once on this connection: to parse and plan one takes the embedded store three times as long as
 * to run it. Not for a server: replicas of two versions may work on it, and a plan of `SELECT *` does not outlive a column
 * that the newer one adds; and poolers lend one connection to many.
 */
export function keepPlans(client: pg.ClientBase): void {
  connections += 1
  // The embedded store has one session for all of its connections, so their names must differ.
  plans.set(client, { names: new Map(), prefix: `plan_${connections}`, next: 1 })
}

/** The name under which this connection has, or will have, a statement prepared; nothing where no plans are kept. */
export function planName(client: pg.ClientBase, sql: string): string | undefined {
  const kept = plans.get(client)
  if (!kept) return undefined
  const known = kept.names.get(sql)
  if (known !== undefined || kept.names.size >= MOST) return known
  const name = `${kept.prefix}_${kept.next}`
  kept.next += 1
  kept.names.set(sql, name)
  return name
}

/** A plan of `SELECT *` is of no use any more when the table has changed. */
export function noteSchemaChange(client: pg.ClientBase, sql: string): void {
  if (/^\s*(create|alter|drop)\b/im.test(sql)) plans.get(client)?.names.clear()
}
