import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { from, noteFact, system } from '../../core/index.ts'
import { createStores, type Database, replaceAuditKey } from '../../store/index.ts'
import { keyRemedy } from '../audit-key.ts'
import { examineKey, namedKey, openStore, ownKey, runCommand } from './command.ts'

const usage = `Shows which key seals the audit of the store, and whether yours is that key.

  npm run audit:key                 the key of AUDIT_SECRET, or of audit.key in DATA_DIR
  npm run audit:key -- <file>       the key in a file
  npm run audit:key -- --replace    accepts the key of AUDIT_SECRET or DATA_DIR, because the earlier key is lost

DATABASE_URL, or DATA_DIR (data, unless set), says where the store is. Stop the service first if the store is embedded.
The exit code is 1 if the key does not fit.`

/** `npm run audit:key`: compares a key with the store, or replaces a lost key. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { replace: { type: 'boolean' } }, allowPositionals: true })
  const [file] = positionals
  if (positionals.length > 1 || (values.replace && file !== undefined)) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const given = file === undefined ? ownKey(dataDir, process.env) : namedKey(file)
  const database = await openStore(dataDir, process.env)
  try {
    const found = await examineKey((sql) => database.query(sql), given)
    if (found.problem === undefined) {
      const has = given.key === undefined ? 'There is no key and no sealed audit yet' : `${found.source} fits the store`
      process.stdout.write(`${has}${found.fingerprint === undefined ? '' : ` (fingerprint ${found.fingerprint})`}.\n`)
    } else if (values.replace && given.key !== undefined) {
      await replace(database, given.key, { from: found.needed ?? null, to: found.fingerprint })
      process.stdout.write(
        `The store accepts ${found.source} (fingerprint ${found.fingerprint}) from now on. Entries under the earlier key cannot be proved any more.\n`,
      )
    } else {
      process.stdout.write(`${found.problem} ${keyRemedy}\n`)
      process.exitCode = 1
    }
  } finally {
    await database.close()
  }
}

/** The entry is in the organisation's chain, which the earlier key sealed. */
async function replace(database: Database, key: Uint8Array, data: Readonly<Record<string, unknown>>): Promise<void> {
  const { audit } = createStores(database, key)
  await from({ from: 'command line' }, () =>
    database.transaction(async () => {
      await replaceAuditKey(database, key)
      const { rows } = await database.query<{ id: string }>('SELECT DISTINCT tenant_id AS id FROM audit_log')
      for (const { id } of rows)
        await noteFact({ audit, clock: { now: () => new Date() } }, id, system, 'audit-key-replaced', data)
    }),
  )
}

await runCommand(main)
