import { expect } from 'vitest'
import { clicking } from './bot-activities.ts'
import { botAppId, connectorUrl, withConnectorKeys } from './connector-keys.ts'
import { rowCounts } from './rows.ts'
import { templates, withService } from './service.ts'

export const refusals = {
  400: 'This is not a Bot Framework activity.',
  401: 'The token is missing or not valid.',
} as const

/**
 * Starts the service with an app id, so that its bot accepts only activities that the connector has signed, with our
 * own keys.
 */
export function withGuardedBot(variables: Record<string, string> = {}) {
  const keys = withConnectorKeys()
  const credentials = { MICROSOFT_APP_ID: botAppId, MICROSOFT_APP_PASSWORD: 'not a real secret' }
  const service = withService({ ...credentials, ...variables }, () => ({
    connectorKeysUrl: `${keys.url}/keys`,
    // The health watch calls Microsoft 365 at its own times. Tests that count calls cannot distinguish those.
    watchTimes: { checkEvery: 86_400, confirmAfter: 86_400, wellAfter: 86_400 },
  }))

  /** A click without data: its answer is the form, and it creates a draft. */
  const click = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
    ...clicking('kim', 'request.choose', { templateId: templates.projectSite }, { serviceUrl: connectorUrl }),
    ...change,
  })
  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${service.app.url}/api/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const postWith = async (token: string | Promise<string>, body: unknown = click()) => post(body, bearer(await token))
  /** Returns the number of rows of each table, to compare before and after a turn. */
  const rows = async (): Promise<Record<string, number>> => rowCounts(service.app.database)
  async function refused(
    status: 400 | 401 | 403 | 503,
    message: string,
    attempt: () => Promise<{ status: number; text: string; headers: Headers }>,
  ) {
    const before = await rows()
    const answer = await attempt()
    expect({ status: answer.status, text: answer.text }).toEqual({
      status,
      text: JSON.stringify({ error: { code: String(status), message } }),
    })
    expect(await rows()).toEqual(before)
  }

  return { keys, service, click, post, postWith, bearer, rows, refused }
}
