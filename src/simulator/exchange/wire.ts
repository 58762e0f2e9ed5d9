import { createHash, randomUUID } from 'node:crypto'
import { asRecord, Refused, type Reply, text } from '../tenant/index.ts'

/** Settings of Exchange's cmdlets. */
export interface ExchangeSettings {
  readonly url: string
  /** How long most cmdlets do not find a new mailbox, because Exchange's directory lags behind writes. Seconds. */
  readonly exchangeSettleSeconds: number
  /** Delay until Get-Recipient and lists show a new mailbox. New-Mailbox knows it at once. Seconds. */
  readonly recipientLagSeconds: number
  /** Whether a new mailbox receives its object id as Name, as in some tenants. */
  readonly nameIsObjectId: boolean
  /** The kind of name that identifies people in lists of access. */
  readonly trusteesShownAs: 'userPrincipalName' | 'address' | 'objectId'
}

const serviceException = 'Microsoft.Exchange.Admin.OData.Core.ODataServiceException'
const cmdletException = 'Microsoft.Exchange.Management.PSDirectInvoke.DirectInvokeCmdletExecutionException'
const noWarnings = { 'adminapi.warnings@odata.type': '#Collection(String)', '@adminapi.warnings': [] }
const codes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

/** Creates a refusal before any cmdlet runs: token, path, body, throttling (office-docs-powershell #7970). */
export function serviceError(status: number, message: string): Reply {
  const code = codes[status] ?? 'BadRequest'
  const innererror = { message, type: serviceException, stacktrace: '' }
  return { status, headers: rateLimit(), body: { error: { code, message, innererror, ...noWarnings } } }
}

/** Full names of exceptions. Clients distinguish them by the last part. */
export const exceptions = {
  notFound: 'Microsoft.Exchange.Configuration.Tasks.ManagementObjectNotFoundException',
  memberExists: 'Microsoft.Exchange.Management.Tasks.WLCDManagedMemberExistsException',
  addressExists: 'Microsoft.Exchange.Configuration.ObjectModel.ProxyAddressExistsException',
  nameNotAvailable: 'Microsoft.Exchange.Configuration.ObjectModel.NameNotAvailableException',
  notAcceptedDomain: 'Microsoft.Exchange.Configuration.ObjectModel.NotAcceptedDomainException',
  validation: 'Microsoft.Exchange.Data.DataValidationException',
  argument: 'Microsoft.Exchange.Configuration.Tasks.TaskArgumentException',
  binding: 'System.Management.Automation.ParameterBindingException',
  // Recorded from a live tenant, for a parameter that the cmdlet does not have.
  unknownParameter: 'Microsoft.Exchange.AdminApi.CommandInvocation.AmbiguousParameterSetException',
  commandNotFound: 'System.Management.Automation.CommandNotFoundException',
  noPrompt: 'System.Management.Automation.Host.HostException',
  transformation: 'Microsoft.Exchange.AdminApi.CommandInvocation.ParameterTransformationException',
  proxy: 'Microsoft.Exchange.Configuration.CmdletProxyException',
  invalidOperation: 'System.InvalidOperationException',
  limit: 'Simulator.NotServedException',
} as const

/** Two hashes are from public recordings. The others are invented: Exchange derives them from its own code. */
const hashes: Readonly<Record<string, string>> = {
  [exceptions.notFound]: 'Ex6F9304',
  [exceptions.memberExists]: 'ExB10BE9',
}
const hashOf = (type: string): string =>
  hashes[type] ?? `Ex${createHash('sha256').update(type).digest('hex').slice(0, 6).toUpperCase()}`

/** Ends a cmdlet with one of its exceptions. The text is in the details, as in a recorded answer. */
export function fail(type: string, text: string): never {
  throw refusal(type === exceptions.notFound ? 404 : 400, text, failureOf(type, text))
}

function failureOf(type: string, text: string): Record<string, unknown> {
  const message = 'Error executing cmdlet'
  const thrown = `Exception of type '${cmdletException}' was thrown.`
  const details = [{ code: 'Client', target: '', message: `${hashOf(type)}|${type}|${text}` }]
  return { message, details, innererror: inner(message, thrown, cmdletException) }
}

/** Ends a call with a cmdlet or parameter that PowerShell does not know. The details have no hash. */
export function failBinding(text: string, type: string = exceptions.binding): never {
  const message = 'Invalid Operation'
  throw refusal(400, text, {
    message,
    details: [{ code: 'Client', target: '', message: `|${type}|${text}` }],
    innererror: inner(message, text, type),
  })
}

/** Ends a call with a value of the wrong type. Only the inner exception has the text, as in a recorded answer. */
export function failTransformation(parameter: string, value: unknown, type: string, reason: string): never {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const text = `Cannot process argument transformation on parameter '${parameter}'. Cannot convert value "${shown}" to type "${type}". Error: "${reason}"`
  throw refusal(400, text, {
    message: 'Invalid Operation',
    innererror: inner('Invalid Operation', text, exceptions.transformation),
  })
}

/** Ends a call that Exchange would execute and the simulator does not support. */
export const failLimit = (text: string): never => fail(exceptions.limit, `The simulator does not serve ${text}.`)

/** Ends a call with Exchange's answer for an unknown object. */
export const notFound = (identity: string): never =>
  fail(
    exceptions.notFound,
    `The operation couldn't be performed because object '${identity}' couldn't be found on 'ZR0P278A12DC001.CHEP278A012.PROD.OUTLOOK.COM'.`,
  )

/**
 * Creates the error of a cmdlet that Exchange passed on to another server. The text contains the other server's whole
 * error, as in recorded answers. It has no exception name when only the connection between the servers failed.
 */
export function wrappedError(body: unknown, innerType: string): Reply {
  const input = asRecord(asRecord(body)['CmdletInput'])
  const parameters = Object.entries(asRecord(input['Parameters']))
  const command = [text(input, 'CmdletName'), ...parameters.map(([name, value]) => `-${name}:'${value}'`)].join(' ')
  const type = Object.values(exceptions).find((each) => each.endsWith(`.${innerType}`)) ?? innerType
  const where = `[Server=ZR0P278MB0456,RequestId=${randomUUID()},TimeStamp=${new Date().toUTCString()}]`
  const nested = serialized(refusalBody(400, failureOf(type, 'The operation failed on the other server.')))
  const reason =
    innerType === ''
      ? 'Request return error with following error message: \r\nThe remote server returned an error: (503) Server Unavailable.'
      : ` BadRequest: Error executing cmdlet : ${nested} ${where} `
  const shown = `Error on proxy command '${command}' to server ZR0P278MB0123.CHEP278.PROD.OUTLOOK.COM: Server version 15.20.8722.0000, Proxy method PSWS: \r\n${reason}.`
  const details = [{ code: 'Client', target: '', message: `|${exceptions.proxy}|${shown}` }]
  const message = 'Error executing cmdlet'
  const error = { message, details, innererror: inner(message, shown, exceptions.proxy) }
  return { status: 400, headers: rateLimit(), body: refusalBody(400, error) }
}
const serialized = ({ error }: { error: object }): string =>
  JSON.stringify(error, undefined, 2).replaceAll('\n', '\r\n')

const inner = (message: string, text: string, type: string): Record<string, unknown> => ({
  message,
  type: serviceException,
  stacktrace: '',
  internalexception: { message: text, type, stacktrace: '' },
})

function refusal(status: number, text: string, error: Record<string, unknown>): Refused {
  return new Refused({ status, headers: rateLimit(), body: refusalBody(status, error) }, text)
}

const refusalBody = (status: number, error: Record<string, unknown>) => ({
  error: { code: codes[status], ...error, ...noWarnings },
})

/** Output of a cmdlet. */
export interface Result {
  readonly value: readonly Record<string, unknown>[]
  readonly warnings?: readonly string[]
}

/** Creates the answer of a successful cmdlet. */
export function answer(
  url: string,
  tenantId: string,
  { value, warnings = [], nextLink }: Result & { readonly nextLink?: string },
): Reply {
  return {
    status: 200,
    headers: rateLimit(),
    body: {
      '@odata.context': `${url}/adminapi/beta/${tenantId}/$metadata#Collection(Exchange.GenericHashTable)`,
      'adminapi.warnings@odata.type': '#Collection(String)',
      '@adminapi.warnings': warnings,
      ...(nextLink === undefined ? {} : { '@odata.nextLink': nextLink }),
      value,
    },
  }
}

const rateLimit = (): Record<string, string> => ({
  'rate-limit-limit': '30000',
  'rate-limit-remaining': '29999',
  'rate-limit-reset': new Date(Date.now() + 300_000).toISOString(),
})
