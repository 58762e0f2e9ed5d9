import { expect } from 'vitest'
import { z } from 'zod'
import { requestView } from '../../src/core/index.ts'
import { problemBody } from '../../src/http/index.ts'
import { contractFault } from './contract.ts'
import type { Service } from './service.ts'
import { people, scopes } from './teams-user.ts'
import { control } from './tenant-control.ts'

/** The API's view of a request, for one resource. */
export const [siteView, mailboxView] = requestView.options

/** A person of Contoso by name, or the contents of a token. */
export type Caller =
  | keyof typeof people
  | { readonly scope: string; readonly userId?: string; readonly appOnly?: boolean; readonly clientId?: string }

export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
}

/** Creates calls of the REST API of the whole service over HTTP, with tokens of the simulated tenant. */
export function caller(service: Service) {
  const tokens = new Map<string, Promise<string>>()
  function token(who: Caller): Promise<string> {
    const key = `${service.app.url} ${JSON.stringify(who)}`
    const made = tokens.get(key) ?? newToken(who)
    tokens.set(key, made)
    return made
  }
  async function newToken(who: Caller): Promise<string> {
    const tokenRequest = typeof who === 'string' ? { userId: people[who].id, scope: scopes.collab } : who
    const answer = await control(service.app.endpoints.simulator?.url ?? '', 'POST', 'token', tokenRequest)
    return z.object({ access_token: z.string() }).parse(answer).access_token
  }
  return {
    token,
    async call(
      who: Caller,
      method: string,
      path: string,
      { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
    ): Promise<RestAnswer> {
      const response = await fetch(`${service.app.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${await token(who)}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const { status } = response
      const isText = response.headers.get('content-type')?.startsWith('text/') === true
      const read = () => (isText ? text : JSON.parse(text))
      const answer = { status, headers: response.headers, text, body: text === '' ? undefined : read() }
      expect(contractFault({ method, path, body }, answer)).toBeUndefined()
      return answer
    },
    /** Parses the answer as a problem; fails for any other answer. */
    problem({ status, headers, body, text }: RestAnswer): z.output<typeof problemBody> {
      expect(headers.get('content-type'), text).toMatch(/^application\/problem\+json/)
      const problem = problemBody.parse(body)
      expect(problem.status).toBe(status)
      return problem
    },
  }
}
