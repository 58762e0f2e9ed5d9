/** What a store holds, in the words of people who look after it. */
export interface Contents {
  readonly requests: number
  readonly templates: number
  /** When a request was changed last, in ISO 8601; null = there is none. */
  readonly newestChange: string | null
}

type Ask = (sql: string) => Promise<{ readonly rows: readonly unknown[] }>

/** Counts what is in the store. One that no service has run over yet has no tables, and holds nothing. */
export async function contentsOf(ask: Ask): Promise<Contents> {
  const [tables] = (await ask(`select to_regclass('requests') is not null as there`)).rows as { there: boolean }[]
  if (!tables?.there) return { requests: 0, templates: 0, newestChange: null }
  const { rows } = await ask(
    `select (select count(*)::int from requests) as requests, (select count(*)::int from templates) as templates,
       (select to_char(max(updated_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from requests) as newest`,
  )
  const [held] = rows as { requests: number; templates: number; newest: string | null }[]
  if (!held) throw new Error('the store did not say what it holds')
  return { requests: held.requests, templates: held.templates, newestChange: held.newest }
}
