import '../../private-umask.ts'
import { parseArgs } from 'node:util'
import { auditFact, from, system } from '../../core/index.ts'
import { createStores, type Database, replaceAuditKey } from '../../store/index.ts'
import { keyRemedy } from '../audit-key.ts'
import { examineKey, namedKey, openStore, ownKey, runCommand } from './command.ts'

const usage = `Shows which key seals the audit of the store, and whether your key is that key.

  npm run audit:key                 checks the key in AUDIT_SECRET, or in audit.key in DATA_DIR
  npm run audit:key -- <file>       checks the key in a file
  npm run audit:key -- --replace    accepts the key in AUDIT_SECRET or DATA_DIR if the earlier key is lost

The store is at DATABASE_URL, or in DATA_DIR (default: data). Stop the service first if the store is embedded.
The exit code is 1 if the key does not fit.`

/** `npm run audit:key`: compares a key with the store, or replaces a lost key. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { replace: { type: 'boolean' } }, allowPositionals: true })
  const [file] = positionals
  if (positionals.length > 1 || (values.replace && file !== undefined)) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const candidate = file === undefined ? ownKey(dataDir, process.env) : namedKey(file)
  const database = await openStore(dataDir, process.env)
  try {
    const found = await examineKey((sql) => database.query(sql), candidate)
    if (found.problem === undefined) {
      const result =
        candidate.key === undefined ? 'The store has no key and no sealed audit yet' : `${found.source} fits the store`
      process.stdout.write(
        `${result}${found.fingerprint === undefined ? '' : ` (fingerprint ${found.fingerprint})`}.\n`,
      )
    } else if (values.replace && candidate.key !== undefined) {
      await replace(database, candidate.key, { from: found.needed ?? null, to: found.fingerprint })
      process.stdout.write(
        `The store now accepts ${found.source} (fingerprint ${found.fingerprint}). The integrity of entries under the earlier key can no longer be proved.\n`,
      )
    } else {
      process.stdout.write(`${found.problem} ${keyRemedy}\n`)
      process.exitCode = 1
    }
  } finally {
    await database.close()
  }
}

/** Replaces the key, and audits that in the organisation's chain, which the earlier key sealed. */
async function replace(database: Database, key: Uint8Array, data: Readonly<Record<string, unknown>>): Promise<void> {
  const { audit } = createStores(database, key)
  await from({ from: 'command line' }, () =>
    database.transaction(async () => {
      await replaceAuditKey(database, key)
      const { rows } = await database.query<{ id: string }>('SELECT DISTINCT tenant_id AS id FROM audit_log')
      for (const { id } of rows)
        await auditFact({ audit, clock: { now: () => new Date() } }, id, system, 'audit-key-replaced', data)
    }),
  )
}

await runCommand(main)
