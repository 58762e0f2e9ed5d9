import { AuthError, type INetworkModule } from '@azure/msal-node'

/** An answer of the login that is a refusal (RFC 6749 §5.2), or that it cannot be had. */
export interface LoginFault {
  readonly kind: 'refused' | 'unreachable'
  /** `authorization_declined`, `invalid_grant`, …; what went wrong on the line otherwise. */
  readonly code: string
  /** Microsoft's own sentence, `AADSTS70016: …`, without ids and times. */
  readonly description: string
}

/** MSAL passes on only what derives from its own AuthError; everything else it replaces by "network_error". */
export class LoginError extends AuthError {
  readonly fault: LoginFault
  constructor(fault: LoginFault) {
    super(fault.code, fault.description)
    // AuthError's own constructor makes everything derived from it a plain AuthError.
    Object.setPrototypeOf(this, LoginError.prototype)
    this.fault = fault
  }
}

/** Whether an address is one of Microsoft's own logins, over https and on its usual port. */
export const isMicrosoftLogin = (address: string): boolean =>
  /^https:\/\/login\.(microsoftonline\.(com|us)|partner\.microsoftonline\.cn|chinacloudapi\.cn)$/.test(
    new URL(address).origin,
  )

const timeoutMilliseconds = 30_000
/** RFC 8628 §3.5: on `slow_down` the device waits five seconds more. */
const slowDownMilliseconds = 5000
/** MSAL goes on polling on this answer alone. */
const goOn = { status: 400, body: { error: 'authorization_pending' } }

export interface LoginWire {
  readonly fetch: typeof fetch
  /** `http:` for a login on this computer, which MSAL would not take. */
  readonly protocol: string
  /** Told of each call; never of a body or an answer. */
  readonly onCall?: ((method: string, url: string, status: number | string) => void) | undefined
}

/**
 * MSAL's way out. It takes https authorities only: a login on this computer is given to it as https, and mapped back
 * here. Refusals become {@link LoginError}s that say what the login said.
 */
export function loginNetwork(wire: LoginWire): INetworkModule {
  const send = async (method: string, url: string, options: Sending = {}) => {
    const polls = options.body?.includes('device_code=') ?? false
    const answer = await call(wire, method, url, options).catch((error: unknown) => {
      // A person is typing the code meanwhile: a line that fails for a moment ends nothing.
      if (polls) return goOn
      throw error
    })
    const { status, body } = answer
    if (status < 400) return answer
    const error = textOf(body, 'error')
    if (polls && error === 'slow_down') {
      await new Promise((resolve) => setTimeout(resolve, slowDownMilliseconds))
      return goOn
    }
    if (polls && error === 'authorization_pending') return answer
    throw new LoginError({ kind: 'refused', code: error || `http-${status}`, description: sentenceOf(body) })
  }
  return {
    sendGetRequestAsync: async <T>(url: string, options?: Sending) => (await send('GET', url, options)) as Sent<T>,
    sendPostRequestAsync: async <T>(url: string, options?: Sending) => (await send('POST', url, options)) as Sent<T>,
  }
}
interface Sending {
  readonly headers?: Record<string, string>
  readonly body?: string
}
interface Sent<T> {
  status: number
  headers: Record<string, string>
  body: T
}

async function call({ fetch, protocol, onCall }: LoginWire, method: string, url: string, { headers, body }: Sending) {
  const target = protocol === 'http:' ? url.replace(/^https:/, 'http:') : url
  const signal = AbortSignal.timeout(timeoutMilliseconds)
  try {
    const init = { method, redirect: 'manual', signal, ...(headers && { headers }), ...(body && { body }) } as const
    const response = await fetch(target, init)
    onCall?.(method, target, response.status)
    if (response.status === 429 || response.status >= 500) throw unreachable(`http-${response.status}`, target)
    const answer: unknown = await response.json()
    return { status: response.status, headers: {}, body: answer }
  } catch (error) {
    if (error instanceof LoginError) throw error
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no-answer'
    onCall?.(method, target, code)
    throw unreachable(code, target)
  }
}

const unreachable = (code: string, url: string): LoginError =>
  new LoginError({ kind: 'unreachable', code, description: `${new URL(url).origin} does not answer (${code}).` })

function textOf(body: unknown, field: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : undefined
  return typeof value === 'string' ? value : ''
}

const sentenceOf = (body: unknown): string =>
  textOf(body, 'error_description')
    .replace(/\s*Trace ID:.*$/s, '')
    .trim()
