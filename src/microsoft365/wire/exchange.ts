import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { because, parsedJson, type Reason, TenantError } from '../../core/index.ts'
import { type Answer, errorOf, isTransient, parseAnswer, unreadable } from './answer.ts'
import type { CallService, Endpoint } from './call.ts'
import { foreignPage, quoted } from './call.ts'
import {
  type Cmdlet,
  type CmdletParameters,
  harmlessParameters,
  purposes,
  type ReadingCmdlet,
  type WritingCmdlet,
} from './exchange-cmdlets.ts'

export const exchangeService = 'Exchange Online'
const service = exchangeService

/** The public cloud's, then the US government's (GCC High). A redirect stays in the cloud of its first address. */
const microsoftHosts = [['outlook.com', 'office365.com'], ['office365.us']]

/**
 * Returns the address of a redirect when our token may go there: the same origin, or one of Microsoft's mail hosts, since
 * Exchange redirects to the region of the mailbox. Port 446 is internal; Microsoft's own module uses 443 instead.
 */
export function redirectTarget(from: URL, to: URL): URL | undefined {
  if (to.username !== '' || to.password !== '') return undefined
  if (to.origin === from.origin) return to
  const isOf =
    ({ hostname }: URL) =>
    (host: string) =>
      hostname === host || hostname.endsWith(`.${host}`)
  const isMicrosoft = microsoftHosts.some((hosts) => hosts.some(isOf(from)) && hosts.some(isOf(to)))
  if (to.protocol !== 'https:' || !isMicrosoft || !['', '446'].includes(to.port)) return undefined
  return new URL(`https://${to.hostname}${to.pathname}${to.search}`)
}

/** Endpoint of InvokeCommand, with the headers of the EXO v3 PowerShell module. */
export const exchangeEndpoint = (resource: string): Endpoint => ({
  service,
  resource,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    prefer: 'odata.maxpagesize=1000',
    'x-responseformat': 'json',
    'x-serializationlevel': 'Partial',
  },
  refusal: cmdletErrorOf,
  redirectTo: redirectTarget,
})

/** Anchor mailbox of applications, by which Exchange finds the tenant. */
const systemMailbox = 'SystemMailbox{bb558c35-97f1-4cb9-8ff7-d53741dc928c}'
const page = z.object({ value: z.array(z.unknown()), '@odata.nextLink': z.string().optional() })
/** Enough for every request, at 1,000 entries a page. */
const maxPages = 20

export interface How {
  readonly signal?: AbortSignal
  /** User principal name of the mailbox whose server must run the cmdlet. */
  readonly anchor?: string
}
export type Exchange = ReturnType<typeof createExchange>

/** Creates the functions that run Exchange Online's cmdlets through `InvokeCommand`. */
export function createExchange(call: CallService, options: { exchangeUrl: string; tenantId: string }) {
  const { tenantId } = options
  const invokeUrl = `${new URL(options.exchangeUrl).origin}/adminapi/beta/${tenantId}/InvokeCommand`

  function invoke(cmdlet: Cmdlet, parameters: object, reads: boolean, { signal, anchor }: How, url = invokeUrl) {
    return call({
      method: 'POST',
      url,
      purpose: purposes[cmdlet],
      reads,
      headers: {
        'x-cmdletname': cmdlet,
        'x-anchormailbox': anchor === undefined ? `APP:${systemMailbox}@${tenantId}` : `UPN:${anchor}`,
      },
      body: { CmdletInput: { CmdletName: cmdlet, Parameters: parameters } },
      ...(signal && { signal }),
    })
  }

  /** Runs a reading cmdlet and parses each result. Returns `[]` when the object does not exist (yet). */
  async function read<C extends ReadingCmdlet, S extends z.ZodType>(
    cmdlet: C,
    parameters: CmdletParameters[C],
    schema: S,
    how: How = {},
  ): Promise<z.output<S>[]> {
    try {
      const found: z.output<S>[] = []
      let url: string | undefined = invokeUrl
      for (let pages = 0; url !== undefined; pages += 1) {
        if (pages === maxPages) throw foreignPage(service)
        const answer: Answer = await invoke(cmdlet, parameters, true, how, url)
        const { value, '@odata.nextLink': next } = parseAnswer(page, answer, service)
        for (const body of value) found.push(parseAnswer(schema, { ...answer, body }, service))
        url = next === undefined ? undefined : pageAt(url, next)
      }
      return found
    } catch (error) {
      if (isRefusal(error, 'not-found')) return []
      throw error
    }
  }

  return {
    read,
    /** Reads one object; undefined when it does not exist (yet). Throws when there are several. */
    async readOne<C extends ReadingCmdlet, S extends z.ZodType>(
      cmdlet: C,
      parameters: CmdletParameters[C],
      schema: S,
      how: How = {},
    ): Promise<z.output<S> | undefined> {
      const found = await read(cmdlet, parameters, schema, how)
      if (found.length > 1) throw unreadable(service, 'several')
      return found[0]
    },
    /**
     * Returns whether our role has a cmdlet, by a run that changes nothing: the parameters name no object that exists,
     * or leave out a required value. Any refusal except "unknown command" is proof. Throws a `TenantError` for
     * everything else.
     */
    async isAvailable(cmdlet: Cmdlet, signal: AbortSignal): Promise<boolean> {
      try {
        await invoke(cmdlet, harmlessParameters(cmdlet, randomUUID()), true, { signal })
        return true
      } catch (error) {
        if (!(error instanceof CmdletError) || error.retryable) throw error
        return error.code !== 'CommandNotFoundException'
      }
    },
    /** Runs a writing cmdlet once: it may have succeeded although its answer was lost, so it is not repeated here. */
    async write<C extends WritingCmdlet | 'Remove-Mailbox'>(
      cmdlet: C,
      parameters: CmdletParameters[C],
      how: How = {},
    ): Promise<unknown> {
      const answer = await invoke(cmdlet, parameters, false, how)
      return parseAnswer(page.or(z.undefined()), answer, service)?.value[0]
    },
  }
}

/** Address of the next page, under the rules for redirects, because our token goes there. */
function pageAt(from: string, next: string): string {
  const to = URL.canParse(next, from) ? redirectTarget(new URL(from), new URL(next, from)) : undefined
  if (to) return to.href
  throw foreignPage(service)
}

/** Builds one condition of an OPATH filter. */
export const equal = (property: string, value: string): string => `${property} -eq ${quoted(value)}`

/** Returns an address that is safe in a filter. Throws `TypeError` for characters that core does not allow. */
function checkedAddress(address: string): string {
  if (/^[\w.-]{1,64}@[\w.-]{1,253}$/.test(address)) return address
  throw new TypeError('A mail address has letters, digits, dots, hyphens and underscores only.')
}

/** Returns an object id that is safe in a filter. Throws `TypeError` for anything else. */
export function checkedId(id: string): string {
  if (z.guid().safeParse(id).success) return id
  throw new TypeError('An object id is a UUID.')
}

/** Filter for recipients with this address. */
export const addressFilter = (address: string): string => equal('EmailAddresses', `smtp:${checkedAddress(address)}`)

/** Filter for recipients with these account ids. Throws `TypeError` for an invalid id. */
export const accountsFilter = (ids: readonly string[]): string =>
  ids.map((id) => equal('ExternalDirectoryObjectId', checkedId(id))).join(' -or ')

/** Filter for recipients with this address, or with its local part as alias or name. */
export function nameFilter(address: string): string {
  const local = localPartOf(checkedAddress(address))
  return [addressFilter(address), equal('Alias', local), equal('Name', local)].join(' -or ')
}
export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))

/** The meaning of a cmdlet's refusal for the caller. */
type CmdletRefusal = 'already-exists' | 'not-found' | 'other'

/** A refusal of a cmdlet. `code` is the exception's name without its namespace: `ProxyAddressExistsException`. */
export class CmdletError extends TenantError {
  readonly refusal: CmdletRefusal
  constructor(
    code: string,
    reason: Reason,
    options: ConstructorParameters<typeof TenantError>[2] & { refusal: CmdletRefusal },
  ) {
    super(code, reason, options)
    this.name = 'CmdletError'
    this.refusal = options.refusal
  }
}
export const isRefusal = (error: unknown, refusal: CmdletRefusal): boolean =>
  error instanceof CmdletError && error.refusal === refusal

/** Exceptions for a name or address that is in use (listed in CIPP's and Microsoft's modules). */
const alreadyExists = new Set([
  'WLCDManagedMemberExistsException',
  'WLCDMemberNameInUseException',
  'ProxyAddressExistsException',
  'ADObjectAlreadyExistsException',
  'PropertyValueExistsException',
  'NameNotAvailableException',
  'ManagementObjectAlreadyExistsException',
  'MemberAlreadyExistsException',
])
/** Transient exceptions, which Exchange answers with 400. */
const transientException =
  /^(CmdletProxyNotAvailableFailure|ServerBusyException|\w*TransientException|BackendCommunicationException|OverBudget(Exception)?)$/
/** Exceptions for a wrong call: a retry of the same call cannot succeed. */
const finalException =
  /^(DataValidation|TaskArgument|ParameterBinding|ParameterTransformation|AmbiguousParameterSet|CommandNotFound|NotAcceptedDomain|InvalidOperation)Exception$/

const text = z.string().catch('')
const exception = z.object({ message: text, type: text }).catch({ message: '', type: '' })
const refusalBody = z.object({
  error: z.object({
    code: text,
    message: text,
    details: z.array(z.object({ message: text })).catch([]),
    innererror: z.object({ internalexception: exception }).catch({ internalexception: { message: '', type: '' } }),
  }),
})

interface Exception {
  /** Without its namespace; `''` when the answer names none. */
  readonly type: string
  readonly text: string
  /** Whether another server ran the cmdlet and this is the exception of that server. */
  readonly wrapped?: boolean
}

/**
 * Finds the exception in a cmdlet's error body: the first `details[].message` that names one (`ExHHHHHH|Type|text`,
 * `|Type|text` or JSON with `TypeName` and `Message`), else the inner exception, else the error's own code and message.
 * When Exchange passed the cmdlet on to another server, it is the exception of that server.
 */
function exceptionOf(body: unknown): Exception {
  const outer = outerException(body)
  return outer.type === 'CmdletProxyException' ? { ...proxied(outer.text), wrapped: true } : outer
}

/**
 * Finds the exception in the text of a `CmdletProxyException`. It follows the proxy method; the command, with values
 * that people typed, precedes it. Newer servers write the whole error (`ExHHHHHH|Type|text` in escaped JSON), older
 * servers `Type: text`. A text without an exception means that only the connection between the servers failed.
 */
function proxied(text: string): Exception {
  const report = text.slice(text.lastIndexOf(', Proxy method ') + 1)
  const match =
    /\|([\w.+`]*(?:Exception|Failure))\|([^"\\]*)/.exec(report) ??
    /error message:\s*((?:\w+\.)+\w*Exception): ([^[]*)/.exec(report)
  return { type: lastSegment(match?.[1] ?? ''), text: match?.[2] ?? report.trim() }
}

function outerException(body: unknown): Exception {
  const { data } = refusalBody.safeParse(body)
  if (!data) return { type: '', text: '' }
  const { code, message, details, innererror } = data.error
  for (const detail of details) {
    const found = exceptionIn(detail.message)
    if (found) return found
  }
  const inner = innererror.internalexception
  if (inner.message !== '' || inner.type !== '')
    return exceptionIn(inner.message) ?? { type: lastSegment(inner.type), text: inner.message }
  return exceptionIn(message) ?? { type: transientException.test(code) ? code : '', text: message }
}

const serialized = z.object({ Message: text, TypeName: z.string() })

function exceptionIn(message: string): Exception | undefined {
  const match = /^(?:Ex[\dA-F]+)?\|([\w.+`]+)\|([\s\S]*)$/i.exec(message)
  if (match) return { type: lastSegment(match[1] ?? ''), text: match[2] ?? '' }
  const { data } = serialized.safeParse(message.startsWith('{') ? parsedJson(message) : undefined)
  return data && { type: lastSegment(data.TypeName), text: data.Message }
}

const lastSegment = (type: string): string => /[\w`]+$/.exec(type)?.[0] ?? ''

/** Converts an answer of InvokeCommand that is not 2xx to an error with its meaning. */
function cmdletErrorOf(service: string, purpose: Reason, answer: Answer): TenantError {
  const { status } = answer
  const { type, text, wrapped = false } = exceptionOf(answer.body)
  const cause = new Error(`${wrapped ? 'CmdletProxyException ' : ''}${type} ${text}`.trim().slice(0, 500))
  if (status === 401 || status === 403) return roleMissing(service, purpose, cause)
  // The mailbox may exist already: the step checks first when it runs again.
  if (text.includes('ExternalDirectoryObjectId was not returned')) {
    const reason = because('cmdletUnfinished', { service, purpose })
    return new CmdletError('half-made', reason, { retryable: true, cause, refusal: 'other' })
  }
  if (type === '' && !wrapped) return errorOf(service, purpose, answer)
  const refusal = alreadyExists.has(type) ? 'already-exists' : notFound(type)
  const isTemporary = isTransient(status) || transientException.test(type)
  const isUnknown = wrapped && refusal === 'other' && !isTemporary && !finalException.test(type)
  const code = isUnknown ? 'CmdletProxyException' : type
  const names = isUnknown && type !== '' ? `${code}: ${type}` : code
  const what = because('serviceAnsweredCode', { service, status, error: names, purpose })
  const advice = adviceOf({ type, text, wrapped })
  return new CmdletError(code, advice.length === 0 ? what : because('faults', { faults: [what, ...advice] }), {
    retryable: isTemporary || isUnknown,
    retryAfterSeconds: answer.retryAfterSeconds,
    status,
    cause,
    refusal,
  })
}

/** Returns the meaning of a wrapped error, and the parameter that Exchange refused. */
function adviceOf({ type, text, wrapped }: Exception): Reason[] {
  if (/^(ParameterTransformation|AmbiguousParameterSet)Exception$/.test(type)) {
    const [, parameter, unknown] = /on parameter '(\w{1,60})'|specified\. (\w{1,60})$/.exec(text) ?? []
    return [because('cmdletParameter', { parameter: parameter ?? unknown ?? 'none' })]
  }
  if (!wrapped || finalException.test(type)) return []
  return [because('cmdletWrapped')]
}

const notFound = (type: string): CmdletRefusal => (type === 'ManagementObjectNotFoundException' ? 'not-found' : 'other')

const roleMissing = (service: string, purpose: Reason, cause: Error): TenantError =>
  new TenantError('exchange-role-missing', because('exchangeRoleLacking', { service, purpose }), {
    retryable: false,
    status: 403,
    cause,
  })
