import '../../private-umask.ts'
import { apiTexts } from '../../cards/index.ts'
import { type Database, missingNumbers, provedAll } from '../../store/index.ts'
import { keyRemedy } from '../audit-key.ts'
import { examineKey, openStore, ownKey, runCommand } from './command.ts'

const usage = `Proves the audit of every request and of the organisation itself, and names what is not as it was written.

  npm run audit:verify

DATABASE_URL, or DATA_DIR (data, unless set), says where the store is; the embedded one only while the service is stopped.
AUDIT_SECRET is the key of the seals, or else the file audit.key in DATA_DIR. It ends with 1 when anything was found.`

/** Reads the whole store, and writes nothing. */
async function main(): Promise<void> {
  if (process.argv.length > 2) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const { key, source } = ownKey(dataDir, process.env)
  if (!key) throw new Error(`There is no key: set AUDIT_SECRET, or DATA_DIR to where audit.key is.\n\n${usage}`)
  const database = await openStore(dataDir, process.env)
  try {
    await assertChained(database)
    const { problem } = await examineKey((sql) => database.query(sql), { key, source })
    if (problem !== undefined) process.stdout.write(`${problem} ${keyRemedy}\n\n`)
    await report(database, key)
  } finally {
    await database.close()
  }
}

async function assertChained(database: Database): Promise<void> {
  const { rows } = await database.query<{ there: boolean }>(`select to_regclass('audit_heads') is not null as there`)
  if (!rows[0]?.there) throw new Error('The store is of an earlier version: start the service over it once.')
}

async function report(database: Database, key: Uint8Array): Promise<void> {
  const requests = { count: 0, entries: 0 }
  let acts = 0
  let wrong = 0
  for await (const proof of provedAll(database, key)) {
    // The chain of the organisation has the id of the tenant.
    const isOrganisation = proof.requestId === proof.tenantId
    if (isOrganisation) acts += proof.entries.length
    else {
      requests.count += 1
      requests.entries += proof.entries.length
    }
    if (proof.findings.length === 0) continue
    wrong += 1
    const details = proof.findings.map(({ reason }) => `  ${apiTexts.reason(reason)}\n`).join('')
    const name = isOrganisation ? 'The organisation’s own entries' : (proof.reference ?? 'A request')
    process.stdout.write(`${name} (${proof.requestId})\n${details}`)
  }
  const missing = await missingNumbers(database)
  for (const number of missing) process.stdout.write(`REQ-${number} is gone\n`)
  const own = acts === 0 ? '' : `, and ${acts} of the organisation’s own`
  const about = `${requests.count} requests with ${requests.entries} entries${own}`
  const result =
    wrong === 0 && missing.length === 0
      ? 'All is as it was written'
      : `Of ${wrong} not everything is as it was written, ${missing.length} are gone`
  process.stdout.write(`${about}. ${result}.\n`)
  if (wrong > 0 || missing.length > 0) process.exitCode = 1
}

await runCommand(main)
