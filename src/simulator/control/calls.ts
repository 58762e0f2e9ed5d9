import { asRecord, type Call, type Tenant } from '../tenant/index.ts'

const maxCalls = 20_000
const secrets = new Set([
  'client_secret',
  'client_assertion',
  'assertion',
  'refresh_token',
  'device_code',
  'password',
  'code',
])

/** Logs a call without its secrets. The log keeps the newest 20,000 calls. */
export function logCall(
  tenant: Tenant,
  operation: string,
  call: Pick<Call, 'method' | 'path' | 'query' | 'headers' | 'body' | 'clientRequestId'>,
  outcome: { status: number; at: string; fault?: string | undefined },
): void {
  const query = call.query.toString()
  const { traceparent } = call.headers
  tenant.run(
    `insert into calls (operation, method, path, status, at, client_request_id, fault, body, traceparent)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    operation,
    call.method,
    query === '' ? call.path : `${call.path}?${decodeURIComponent(query.replaceAll('+', ' '))}`,
    outcome.status,
    outcome.at,
    call.clientRequestId,
    outcome.fault ?? null,
    call.body === undefined ? null : JSON.stringify(withoutSecrets(call.body)),
    typeof traceparent === 'string' ? traceparent : null,
  )
  tenant.run('delete from calls where id <= (select max(id) from calls) - ?', maxCalls)
}

function withoutSecrets(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(
    Object.entries(asRecord(body)).map(([name, value]) => [name, secrets.has(name) ? '(not logged)' : value]),
  )
}

/** Returns the log, oldest first, of one operation or of all. `fault` is the kind of the call's fault. */
export function listCalls(tenant: Tenant, operation: string | null): Record<string, unknown>[] {
  return tenant
    .rows('select * from calls where ? is null or operation = ? order by id', operation, operation)
    .map((row) => ({
      id: row['id'],
      operation: row['operation'],
      method: row['method'],
      path: row['path'],
      status: row['status'],
      at: row['at'],
      clientRequestId: row['client_request_id'],
      ...(row['traceparent'] === null ? {} : { traceparent: row['traceparent'] }),
      ...(row['fault'] === null ? {} : { fault: row['fault'] }),
      ...(row['body'] === null ? {} : { body: JSON.parse(String(row['body'])) }),
    }))
}

/** Empties the log. */
export const clearCalls = (tenant: Tenant): void => tenant.run('delete from calls')
