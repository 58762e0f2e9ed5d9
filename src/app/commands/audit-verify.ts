import '../../private-umask.ts'
import { apiTexts } from '../../cards/index.ts'
import { type Database, missingNumbers, provedAll } from '../../store/index.ts'
import { keyRemedy } from '../audit-key.ts'
import { examineKey, openStore, ownKey, runCommand } from './command.ts'

const usage = `Checks the integrity of the audit of all requests and of the organisation, and lists changed or missing entries.

  npm run audit:verify

The store is at DATABASE_URL, or in DATA_DIR (default: data). Stop the service first if the store is embedded.
The audit key is in AUDIT_SECRET, or in the file audit.key in DATA_DIR. The exit code is 1 if an entry was changed or is missing.`

/** `npm run audit:verify`: reads the whole store and writes nothing. */
async function main(): Promise<void> {
  if (process.argv.length > 2) throw new Error(usage)
  const dataDir = process.env['DATA_DIR'] || 'data'
  const { key, source } = ownKey(dataDir, process.env)
  if (!key)
    throw new Error(
      `The audit key is missing: set AUDIT_SECRET, or set DATA_DIR to the folder of audit.key.\n\n${usage}`,
    )
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
  if (!rows[0]?.there) throw new Error('The store has an earlier version: start the service with it once.')
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
    const name = isOrganisation ? 'The audit of the organisation' : (proof.reference ?? 'A request')
    process.stdout.write(`${name} (${proof.requestId})\n${details}`)
  }
  const missing = await missingNumbers(database)
  for (const number of missing) process.stdout.write(`REQ-${number} is missing\n`)
  const own = acts === 0 ? '' : `, and ${acts === 1 ? '1 entry' : `${acts} entries`} of the organisation`
  const about = `${requests.count} requests with ${requests.entries} entries${own}`
  const result =
    wrong === 0 && missing.length === 0
      ? 'No entry was changed or is missing'
      : `Changed: ${wrong}, missing: ${missing.length}`
  process.stdout.write(`${about}. ${result}.\n`)
  if (wrong > 0 || missing.length > 0) process.exitCode = 1
}

await runCommand(main)
