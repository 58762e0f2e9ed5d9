import { type Call, Refused, type Reply } from './wire.ts'

/** What Graph's operations know of the tenant beside its state. Times are seconds. */
export interface GraphSettings {
  readonly url: string
  readonly directorySeconds: number
  readonly siteReadySeconds: number
  readonly directoryExtension: string
}

/** The properties that the schema extension declares. */
export const extensionProperties = ['requestId', 'extensionAttribute1', 'extensionAttribute3'] as const

/** Graph's error: `{error: {code, message, innerError, details?}}` with the ids that its headers repeat. */
export function graphError(
  call: Pick<Call, 'requestId' | 'clientRequestId'>,
  status: number,
  code: string,
  message: string,
  details?: readonly { code: string; target: string; message: string }[],
): Reply {
  const innerError = {
    date: new Date().toISOString().slice(0, 19),
    'request-id': call.requestId,
    'client-request-id': call.clientRequestId,
  }
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer realm="", error="invalid_token"' } : undefined
  return {
    status,
    ...(challenge ? { headers: challenge } : {}),
    body: { error: { code, message, ...(details ? { details } : {}), innerError } },
  }
}

/** Ends the operation with a Graph error and undoes what it wrote. */
export function refuse(
  call: Call,
  status: number,
  code: string,
  message: string,
  details?: readonly { code: string; target: string; message: string }[],
): never {
  throw new Refused(graphError(call, status, code, message, details), message)
}

export const badRequest = (call: Call, message: string): never => refuse(call, 400, 'Request_BadRequest', message)

/** Graph's answer for an object that is not there. */
export const notFound = (call: Call, id: string): never =>
  refuse(
    call,
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  )
