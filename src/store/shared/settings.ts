import type { Database } from '../database/index.ts'

/** A value that the service makes for itself once. `make` runs only while there is none; whoever stores first wins. */
export async function ownSetting(database: Database, name: string, make: () => string): Promise<string> {
  const known = await find(database, name)
  if (known !== undefined) return known
  await database.query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
    name,
    make(),
  ])
  const made = await find(database, name)
  if (made === undefined) throw new Error(`setting ${name} was neither made nor found`)
  return made
}

async function find(database: Database, name: string): Promise<string | undefined> {
  const { rows } = await database.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name])
  return rows[0]?.value
}
