import '../private-umask.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadSettingsFile } from '../settings-file.ts'
import { contoso } from './tenant/index.ts'

const usage =
  'npm run --silent token -- <upn> [--api collab|mail] [--scope s] [--audience a] [--lifetime seconds] [--tenant id]'

/** `npm run --silent token`: prints a person's access token from the running simulator. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: joinNegative(process.argv.slice(2)),
    allowPositionals: true,
    options: {
      api: { type: 'string', default: 'collab' },
      scope: { type: 'string' },
      audience: { type: 'string' },
      lifetime: { type: 'string' },
      tenant: { type: 'string' },
    },
  })
  const [userPrincipalName, ...others] = positionals
  if (userPrincipalName === undefined || others.length > 0) throw new Error(`Enter exactly one person: ${usage}`)
  const lifetime = values.lifetime === undefined ? undefined : Number(values.lifetime)
  if (lifetime !== undefined && !Number.isInteger(lifetime)) {
    throw new Error(`--lifetime is a whole number of seconds, not '${values.lifetime}'.`)
  }
  if (values.api !== 'collab' && values.api !== 'mail') {
    throw new Error(`--api is collab (sites) or mail (mailboxes), not '${values.api}'.`)
  }
  const { clientId, permissions } = contoso.apis[values.api]
  const request = {
    userPrincipalName,
    scope: values.scope ?? `api://${clientId}/${permissions[0]}`,
    audience: values.audience,
    lifetime,
    tenantId: values.tenant,
  }
  console.log(await requestToken(findSimulator(), request))
}

const usualPort = '3979'

/**
 * Returns the address of the running simulator: at SIMULATOR_PORT, else the address that `npm start` has written into
 * DATA_DIR, else at the usual port. DATA_DIR takes precedence over a port in `.env`, because the running service may
 * have another port.
 */
function findSimulator(): string {
  const named = process.env['SIMULATOR_PORT']
  loadSettingsFile()
  const { DATA_DIR: folder, SIMULATOR_PORT: port = usualPort } = process.env
  const at = (one: string) => `http://127.0.0.1:${one}`
  if (named !== undefined && Number(named) > 0) return at(named)
  const written = readRunning(join(folder || 'data', 'running.json'))
  if (written !== undefined) return written
  if (folder) throw new Error(`No Quartermaster runs with DATA_DIR=${folder}. ${remedy}`)
  return at(Number(port) > 0 ? port : usualPort)
}

/**
 * Returns the simulator's address; undefined when no service runs with this folder, or its Microsoft 365 is not
 * simulated.
 */
function readRunning(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  const { simulator } = Object(JSON.parse(readFileSync(file, 'utf8')))
  return typeof simulator === 'string' ? simulator : undefined
}

const remedy =
  'Start it with npm start. If it runs with another DATA_DIR or SIMULATOR_PORT, set the same for this command: DATA_DIR=<folder> npm run --silent token -- <upn>'

/** Converts `--lifetime -60` to `--lifetime=-60`: parseArgs reads a value with a dash as an option. */
function joinNegative(args: readonly string[]): string[] {
  return args.flatMap((each, index) => {
    if (/^-\d+$/.test(each) && args[index - 1] === '--lifetime') return []
    const next = args[index + 1] ?? ''
    return each === '--lifetime' && /^-\d+$/.test(next) ? `--lifetime=${next}` : each
  })
}

async function requestToken(simulator: string, request: object): Promise<string> {
  const response = await fetch(`${simulator}/control/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  }).catch((cause: unknown) => {
    throw new Error(`No simulated Microsoft 365 answers at ${simulator}. ${remedy}`, { cause })
  })
  const answer = Object(await response.json().catch(() => ({})))
  if (typeof answer.access_token === 'string') return answer.access_token
  throw new Error(answer.error?.message ?? answer.error_description ?? `${simulator} answered ${response.status}.`)
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
