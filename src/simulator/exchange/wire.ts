import { createHash } from 'node:crypto'
import { Refused, type Reply } from '../tenant/index.ts'

/** Settings of Exchange's cmdlets. */
export interface ExchangeSettings {
  readonly url: string
  /** How long most cmdlets do not find a new mailbox: Exchange's directory lags behind writes. Seconds. */
  readonly exchangeSettleSeconds: number
  /** Delay until Get-Recipient and lists show a new mailbox. New-Mailbox knows it at once. Seconds. */
  readonly recipientLagSeconds: number
  /** Whether new mailboxes get their object id as Name, as in some tenants. */
  readonly nameIsObjectId: boolean
  /** The name of people in lists of access. */
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

/** A refusal before any cmdlet runs: token, path, body, throttling (office-docs-powershell #7970). */
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
  // As recorded from a live tenant for a parameter that the cmdlet does not have.
  unknownParameter: 'Microsoft.Exchange.AdminApi.CommandInvocation.AmbiguousParameterSetException',
  commandNotFound: 'System.Management.Automation.CommandNotFoundException',
  noPrompt: 'System.Management.Automation.Host.HostException',
  transformation: 'Microsoft.Exchange.AdminApi.CommandInvocation.ParameterTransformationException',
  limit: 'Simulator.NotServedException',
} as const

/** Two hashes are from public recordings. The others are invented: Exchange derives them from its own code. */
const hashes: Readonly<Record<string, string>> = {
  [exceptions.notFound]: 'Ex6F9304',
  [exceptions.memberExists]: 'ExB10BE9',
}
const hashOf = (type: string): string =>
  hashes[type] ?? `Ex${createHash('sha256').update(type).digest('hex').slice(0, 6).toUpperCase()}`

/** Ends a cmdlet with one of its exceptions. As in a recorded answer, the text is in the details. */
export function fail(type: string, text: string): never {
  const status = type === exceptions.notFound ? 404 : 400
  const message = 'Error executing cmdlet'
  const thrown = `Exception of type '${cmdletException}' was thrown.`
  throw refusal(status, text, {
    message,
    details: [{ code: 'Client', target: '', message: `${hashOf(type)}|${type}|${text}` }],
    innererror: inner(message, thrown, cmdletException),
  })
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

/** Ends a call with a value of the wrong type. As in a recorded answer, only the inner exception has the text. */
export function failTransformation(parameter: string, value: unknown, type: string, reason: string): never {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const text = `Cannot process argument transformation on parameter '${parameter}'. Cannot convert value "${shown}" to type "${type}". Error: "${reason}"`
  throw refusal(400, text, {
    message: 'Invalid Operation',
    innererror: inner('Invalid Operation', text, exceptions.transformation),
  })
}

/** Ends a call that Exchange would execute but the simulator does not support. */
export const failLimit = (text: string): never => fail(exceptions.limit, `The simulator does not serve ${text}.`)

/** Exchange's answer for an unknown object. */
export const notFound = (identity: string): never =>
  fail(
    exceptions.notFound,
    `The operation couldn't be performed because object '${identity}' couldn't be found on 'ZR0P278A12DC001.CHEP278A012.PROD.OUTLOOK.COM'.`,
  )

const inner = (message: string, text: string, type: string): Record<string, unknown> => ({
  message,
  type: serviceException,
  stacktrace: '',
  internalexception: { message: text, type, stacktrace: '' },
})

function refusal(status: number, text: string, error: Record<string, unknown>): Refused {
  const body = { error: { code: codes[status], ...error, ...noWarnings } }
  return new Refused({ status, headers: rateLimit(), body }, text)
}

/** Output of a cmdlet. */
export interface Result {
  readonly value: readonly Record<string, unknown>[]
  readonly warnings?: readonly string[]
}

/** The answer of a successful cmdlet. */
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
