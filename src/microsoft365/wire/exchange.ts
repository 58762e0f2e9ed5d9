import { z } from 'zod'
import { TenantError } from '../../core/index.ts'
import { type Answer, type CallService, type Door, errorOf, isPassing, parseJson, readAs, unreadable } from './call.ts'
import {
  type Cmdlet,
  type CmdletParameters,
  purposes,
  type ReadingCmdlet,
  type WritingCmdlet,
} from './exchange-cmdlets.ts'
import { quoted } from './odata.ts'

export const exchangeService = 'Exchange Online'
const service = exchangeService

const microsoftHosts = ['outlook.com', 'office365.com']

/**
 * Exchange sends callers on to the region of the mailbox: with our token only within Microsoft's mail hosts. Their port
 * 446 is for themselves; Microsoft's own module goes to 443 in its place.
 */
export function followsTo(from: URL, to: URL): URL | undefined {
  if (to.username !== '' || to.password !== '') return undefined
  if (to.origin === from.origin) return to
  const isMicrosoft = microsoftHosts.some((host) => to.hostname === host || to.hostname.endsWith(`.${host}`))
  if (to.protocol !== 'https:' || !isMicrosoft || !['', '446'].includes(to.port)) return undefined
  return new URL(`https://${to.hostname}${to.pathname}${to.search}`)
}

/** How calls to InvokeCommand are signed in, sent and refused: as the EXO v3 PowerShell module does it. */
export const exchangeDoor = (exchangeUrl: string): Door => ({
  service,
  resource: new URL(exchangeUrl).origin,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    prefer: 'odata.maxpagesize=1000',
    'x-responseformat': 'json',
    'x-serializationlevel': 'Partial',
  },
  refusal: cmdletErrorOf,
  follows: followsTo,
})

/** The mailbox by which Exchange finds the tenant for an application that is nobody. */
const systemMailbox = 'SystemMailbox{bb558c35-97f1-4cb9-8ff7-d53741dc928c}'
const page = z.object({ value: z.array(z.unknown()), '@odata.nextLink': z.string().optional() })
/** At 1,000 entries a page this is more than anything that we ask for. */
const mostPages = 20

export interface How {
  readonly signal?: AbortSignal
  /** The user principal name of the mailbox whose server has to run the cmdlet. */
  readonly anchor?: string
}
export type Exchange = ReturnType<typeof createExchange>

/** Runs Exchange Online's cmdlets by `InvokeCommand`. */
export function createExchange(call: CallService, options: { exchangeUrl: string; tenantId: string }) {
  const { tenantId } = options
  const door = `${new URL(options.exchangeUrl).origin}/adminapi/beta/${tenantId}/InvokeCommand`

  function invoke(cmdlet: Cmdlet, parameters: object, reads: boolean, { signal, anchor }: How, url = door) {
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

  /** What a reading cmdlet finds, each checked by the schema. Nothing is found of what is not there (yet). */
  async function read<C extends ReadingCmdlet, S extends z.ZodType>(
    cmdlet: C,
    parameters: CmdletParameters[C],
    schema: S,
    how: How = {},
  ): Promise<z.output<S>[]> {
    try {
      const found: z.output<S>[] = []
      let url: string | undefined = door
      for (let pages = 0; url !== undefined; pages += 1) {
        if (pages === mostPages) throw foreignPage()
        const answer: Answer = await invoke(cmdlet, parameters, true, how, url)
        const { value, '@odata.nextLink': next } = readAs(page, answer, service)
        for (const body of value) found.push(readAs(schema, { ...answer, body }, service))
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
    /** The one that a reading cmdlet finds; undefined when it is not there (yet). */
    async readOne<C extends ReadingCmdlet, S extends z.ZodType>(
      cmdlet: C,
      parameters: CmdletParameters[C],
      schema: S,
      how: How = {},
    ): Promise<z.output<S> | undefined> {
      const found = await read(cmdlet, parameters, schema, how)
      if (found.length > 1) throw unreadable(service, 'several objects where one was asked for')
      return found[0]
    },
    /** Runs a cmdlet that changes something; never repeated here, since its answer may be lost and its work done. */
    async write<C extends WritingCmdlet>(cmdlet: C, parameters: CmdletParameters[C], how: How = {}): Promise<unknown> {
      const answer = await invoke(cmdlet, parameters, false, how)
      return readAs(page.or(z.undefined()), answer, service)?.value[0]
    },
  }
}

/** Where the next page is: under the rules of a redirect, since our token goes there. */
function pageAt(from: string, next: string): string {
  const to = URL.canParse(next, from) ? followsTo(new URL(from), new URL(next, from)) : undefined
  if (to) return to.href
  throw foreignPage()
}

const foreignPage = (): TenantError =>
  new TenantError('foreign-page', `${service} sent a list whose next page is elsewhere or never ends.`, {
    retryable: false,
  })

/** One condition of an OPATH filter. */
export const equal = (property: string, value: string): string => `${property} -eq ${quoted(value)}`

/** An address that may stand in a filter: of the characters that core lets through. Throws `TypeError` for any other. */
function checkedAddress(address: string): string {
  if (/^[\w.-]{1,64}@[\w.-]{1,253}$/.test(address)) return address
  throw new TypeError('A mail address has letters, digits, dots, hyphens and underscores only.')
}

/** An object id that may stand in a filter, of Exchange or of Graph. Throws `TypeError` for anything else. */
export function checkedId(id: string): string {
  if (z.guid().safeParse(id).success) return id
  throw new TypeError('An object id is a UUID.')
}

/** A filter: who gets mail at this address. */
export const reachedBy = (address: string): string => equal('EmailAddresses', `smtp:${checkedAddress(address)}`)

/** A filter: whom Exchange knows of these accounts. Throws `TypeError` for an object id that is none. */
export const knownAs = (ids: readonly string[]): string =>
  ids.map((id) => equal('ExternalDirectoryObjectId', checkedId(id))).join(' -or ')

/** A filter: who has this address, or what stands before its `@` as alias or name. */
export function heldBy(address: string): string {
  const local = localPartOf(checkedAddress(address))
  return [reachedBy(address), equal('Alias', local), equal('Name', local)].join(' -or ')
}
export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))

/** What a cmdlet's refusal means to whoever ran it. */
export type CmdletRefusal = 'already-exists' | 'not-found' | 'other'

/** A refusal of a cmdlet. `code` is the exception's name without its namespace: `ProxyAddressExistsException`. */
export class CmdletError extends TenantError {
  readonly refusal: CmdletRefusal
  constructor(
    code: string,
    message: string,
    options: ConstructorParameters<typeof TenantError>[2] & { refusal: CmdletRefusal },
  ) {
    super(code, message, options)
    this.name = 'CmdletError'
    this.refusal = options.refusal
  }
}
export const isRefusal = (error: unknown, refusal: CmdletRefusal): boolean =>
  error instanceof CmdletError && error.refusal === refusal

/** Names by which Exchange says that somebody has the name or address (CIPP's and Microsoft's modules list them). */
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
/** What passes by itself although Exchange answers 400; `ADTransientException` and its like too. */
const transient =
  /^(CmdletProxyNotAvailableFailure|ServerBusyException|\w*TransientException|BackendCommunicationException|OverBudget(Exception)?)$/

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
}

/**
 * The exception in a cmdlet's error body: the first of `details[].message` (`ExHHHHHH|Type|text`, `|Type|text` or JSON
 * text with `TypeName` and `Message`) that names one, else the inner exception, else the error's own code and words.
 */
export function exceptionOf(body: unknown): Exception {
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
  return exceptionIn(message) ?? { type: transient.test(code) ? code : '', text: message }
}

const serialized = z.object({ Message: text, TypeName: z.string() })

function exceptionIn(message: string): Exception | undefined {
  const match = /^(?:Ex[\dA-F]+)?\|([\w.+`]+)\|([\s\S]*)$/i.exec(message)
  if (match) return { type: lastSegment(match[1] ?? ''), text: match[2] ?? '' }
  const { data } = serialized.safeParse(message.startsWith('{') ? parseJson(message) : undefined)
  return data && { type: lastSegment(data.TypeName), text: data.Message }
}

const lastSegment = (type: string): string => /[\w`]+$/.exec(type)?.[0] ?? ''

/** An answer of InvokeCommand that is not 2xx, as an error that says what it means and whether to try again. */
export function cmdletErrorOf(service: string, purpose: string, answer: Answer): TenantError {
  const { status } = answer
  const { type, text } = exceptionOf(answer.body)
  const cause = new Error(`${type} ${text}`.trim().slice(0, 500))
  if (status === 401 || status === 403) return roleMissing(service, purpose, cause)
  // Made, or held halfway: whoever runs the step again looks first.
  if (text.includes('ExternalDirectoryObjectId was not returned')) {
    const message = `${service} has not finished ${purpose} yet.`
    return new CmdletError('half-made', message, { retryable: true, cause, refusal: 'other' })
  }
  if (type === '') return errorOf(service, purpose, answer)
  return new CmdletError(type, `${service} answered ${status} (${type}) while ${purpose}.`, {
    retryable: isPassing(status) || transient.test(type),
    retryAfterSeconds: answer.retryAfterSeconds,
    status,
    cause,
    refusal: alreadyExists.has(type) ? 'already-exists' : notFound(type),
  })
}

const notFound = (type: string): CmdletRefusal => (type === 'ManagementObjectNotFoundException' ? 'not-found' : 'other')

const roleMissing = (service: string, purpose: string, cause: Error): TenantError =>
  new TenantError(
    'exchange-role-missing',
    `${service} refused this service while ${purpose}. An administrator has to grant its registration the application ` +
      'permission Exchange.ManageAsApp, with consent, and the role Exchange Administrator.',
    { retryable: false, status: 403, cause },
  )
