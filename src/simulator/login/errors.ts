import { randomUUID } from 'node:crypto'
import { now, Refused, type Reply } from '../tenant/index.ts'

/** Creates a refusal in Entra ID's format: `AADSTS{number}: {message}`. */
export function entraError(status: number, error: string, number: number, message: string, suberror?: string): Reply {
  const timestamp = new Date(now())
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
  const ids = { trace_id: randomUUID(), correlation_id: randomUUID() }
  const description = `AADSTS${number}: ${message} Trace ID: ${ids.trace_id} Timestamp: ${timestamp}`
  const body = { error, error_description: description, error_codes: [number], timestamp, ...ids }
  return { status, body: suberror === undefined ? body : { ...body, suberror } }
}

/** Ends the call with a refusal. */
export const refuse = (error: string, number: number, message: string, status = 400, suberror?: string): never => {
  throw new Refused(entraError(status, error, number, message, suberror))
}
