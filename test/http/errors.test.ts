import { describe, expect, test } from 'vitest'
import { asWritten, because, errorCodes, ProvisioningError, TenantError } from '../../src/core/index.ts'
import { coreWith, startIssuer, startRest } from '../support/rest.ts'

const requestId = 'aaaaaaaa-0000-4000-8000-000000000001'
const readFailing = async (error: unknown) => {
  const provisioning = coreWith({
    readRequest: async () => {
      throw error
    },
  })
  return startRest(await startIssuer(), { core: provisioning })
}

describe('a refusal of the core', () => {
  const expected: Record<(typeof errorCodes)[number], number> = {
    'validation-failed': 422,
    'name-taken': 409,
    'not-found': 404,
    forbidden: 403,
    'self-approval': 403,
    'second-admin-needed': 403,
    'not-an-approver': 403,
    'already-decided': 409,
    'already-ended': 409,
    'illegal-transition': 409,
    'comment-required': 422,
    'nudged-already': 409,
    'duplicate-request': 409,
    'stale-version': 412,
    'too-many-open-requests': 429,
    unavailable: 503,
  }

  test.each(errorCodes.map((code) => [code]))('%s becomes a problem with its own status and type', async (code) => {
    const faults = [{ pointer: '/owners/0', code: 'unknown-person', reason: asWritten('Nobody.'), suggestion: '' }]
    const rest = await readFailing(new ProvisioningError(code, asWritten('In plain words.'), { faults }))
    const { status, body, headers } = await rest.call('GET', `/requests/v1/${requestId}?secret=1`, { invented: true })
    expect(body).toEqual({
      type: `urn:quartermaster:problem:${code}`,
      title: expect.any(String),
      status: expected[code],
      detail: 'In plain words.',
      instance: `/requests/v1/${requestId}`,
      code,
      traceId: headers.get('x-request-id')?.replaceAll('-', ''),
      errors: [{ pointer: '#/owners/0', code: 'unknown-person', detail: 'Nobody.' }],
    })
    expect([status, headers.has('retry-after')]).toEqual([expected[code], [429, 503].includes(status)])
    expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('includes a suggestion', async () => {
    const faults = [{ pointer: '/alias', code: 'name-taken', reason: asWritten('Taken.'), suggestion: 'apollo-2' }]
    const rest = await readFailing(new ProvisioningError('name-taken', asWritten('Taken.'), { faults }))
    const { body } = await rest.call('GET', `/requests/v1/${requestId}`, { invented: true })
    expect(body.errors[0].suggestion).toBe('apollo-2')
  })
})

describe('the refusal because of too many open requests', () => {
  test('names the limit and the calls that bring a person below it', async () => {
    const error = new ProvisioningError('too-many-open-requests', because('tooManyOpen', { limit: 25 }))
    const rest = await readFailing(error)
    const { status, body } = await rest.call('GET', `/requests/v1/${requestId}`, { invented: true })
    expect(status).toBe(429)
    expect(body.detail).toMatch(/^You have 25 open requests, which is the limit\. .*Failed requests do not count\./)
    for (const call of ['GET /requests/v1/?status=pendingApproval', 'POST /requests/v1/{requestId}/cancel'])
      expect(body.detail).toContain(call)
  })
})

describe('an unexpected error', () => {
  test.each([
    [new Error('select * from requests at /srv/src/store/requests.ts:1:1')],
    [
      new TenantError('unauthorized', asWritten('eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9 is not valid'), {
        retryable: false,
      }),
    ],
    ['text'],
    [undefined],
  ])('%j becomes an opaque 500, and is in the log under its trace id', async (error) => {
    const rest = await readFailing(error)
    const answer = await rest.call('GET', `/requests/v1/${requestId}`)
    expect([answer.status, answer.body.code]).toEqual([500, 'internal'])
    expect(answer.body.detail).toContain(answer.body.traceId)
    expect(answer.text).not.toMatch(/select|eyJ|text/)
    const [line] = rest.lines.filter(({ level }) => level === 'error')
    expect(line).toMatchObject({ traceId: answer.body.traceId, err: error })
  })

  test('of Microsoft 365 becomes 503 with Microsoft’s Retry-After', async () => {
    const rest = await readFailing(
      new TenantError('throttled', asWritten('slow'), { retryable: true, retryAfterSeconds: 17 }),
    )
    const { status, headers } = await rest.call('GET', `/requests/v1/${requestId}`)
    expect([status, headers.get('retry-after')]).toEqual([503, '17'])
  })
})
