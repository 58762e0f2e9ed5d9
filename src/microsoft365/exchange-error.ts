import { z } from 'zod'
import { TenantError } from '../core/index.ts'
import { isPassing, parseJson } from './answer.ts'
import { type Answer, errorOf } from './call.ts'

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
