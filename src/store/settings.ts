import type { Database } from './database.ts'

/** A value that the service makes for itself once: `make` is used when there is none yet, whoever comes first wins. */
export async function ownSetting(database: Database, name: string, make: () => string): Promise<string> {
  await database.query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    make(),
  ])
  const { rows } = await database.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name])
  const value = rows[0]?.value
  if (value === undefined) throw new Error(`setting ${name} was neither made nor found`)
  return value
}
