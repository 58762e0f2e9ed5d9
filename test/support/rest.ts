import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { expect, onTestFinished } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import {
  type Core,
  type IdempotencyStore,
  parsedJson,
  provisioningRequest,
  type Request,
} from '../../src/core/index.ts'
import { createHttpServer, type HttpOptions, problemBody } from '../../src/http/index.ts'
import { contractFault } from './contract.ts'
import { sendJson, startServer } from './http-server.ts'
import { loud } from './loud.ts'

export const tenantId = '0a1b2c3d-1111-4111-8111-000000000001'
export const personId = '11111111-aaaa-4aaa-8aaa-000000000001'
/** The application that may request mailboxes without a person. */
export const appClientId = 'a0000000-0000-4000-8000-000000000001'
export const baseUrl = 'https://provisioning.contoso.example'
export const webhookSecret = `whsec_${Buffer.from('a secret of thirty-two bytes, yes').toString('base64')}`
const issuer = `https://login.contoso.example/${tenantId}/v2.0`
const v1Issuer = `https://sts.windows.net/${tenantId}/`

type Key = Awaited<ReturnType<typeof generateKeyPair>> & { readonly kid: string }

/**
 * The key pairs of a worker. Creating one takes longer than most tests, and issuers of different tests may share them.
 */
const pairs: ReturnType<typeof generateKeyPair>[] = []

/** Registers the end of a resource: with the test, or with the block. */
export type AtEnd = (close: () => unknown) => void
const withTheTest: AtEnd = (close) => onTestFinished(async () => void (await close()))

/** Starts our own token issuer: its keys over HTTP, and any valid or invalid token. */
export async function startIssuer(atEnd: AtEnd = withTheTest) {
  let made = 0
  const makeKey = async (kid: string): Promise<Key> => {
    const place = made
    made += 1
    pairs[place] ??= generateKeyPair('RS256')
    return { ...(await pairs[place]), kid }
  }
  const first = await makeKey('first')
  let published: readonly Key[] = [first]
  let status = 200
  let requestCount = 0
  const { url, close } = await startServer(async (_, response) => {
    requestCount += 1
    const shown = published.map(async (key) => ({ ...(await exportJWK(key.publicKey)), kid: key.kid, use: 'sig' }))
    sendJson(response, status, { keys: await Promise.all(shown) })
  })
  atEnd(close)
  const now = () => Math.floor(Date.now() / 1000)
  const claims = (more: Record<string, unknown> = {}): JWTPayload => ({
    ...{ iss: issuer, aud: 'api://contoso/collab', tid: tenantId, oid: personId, scp: 'App.ReadWrite.All' },
    ...{ ver: '2.0', iat: now(), nbf: now(), exp: now() + 3600, azp: randomUUID() },
    ...more,
  })
  return {
    key: first,
    makeKey,
    claims,
    v1Issuer,
    now,
    /** Returns how often the keys were fetched. */
    keyRequests: () => requestCount,
    publish: (...keys: Key[]) => {
      published = keys
    },
    answerWith: (next: number) => {
      status = next
    },
    /** Creates a valid token with changes; `undefined` removes a claim. */
    token: (more: Record<string, unknown> = {}, header: Record<string, unknown> = {}, key: Key = first) =>
      new SignJWT(JSON.parse(JSON.stringify(claims(more))))
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...header })
        .sign(key.privateKey),
    options: {
      authority: issuer.replace('/v2.0', ''),
      issuers: [issuer, v1Issuer],
      jwksUrl: `${url}/keys`,
      tenantId,
      collab: {
        audiences: ['api://contoso/collab', 'c0ffee00-0000-4000-8000-000000000001'],
        scope: 'api://contoso/collab/App.ReadWrite.All',
      },
      mail: { audiences: ['api://contoso/mail'], scope: 'api://contoso/mail/App.ReadWrite.All' },
      mailAppClients: [appClientId],
    },
  }
}
export type Issuer = Awaited<ReturnType<typeof startIssuer>>

type Known<Calls> = { readonly [Name in keyof Calls]?: unknown }
/** Creates a core with the use cases that a test expects. Any other call fails with its name. */
export function coreWith(parts: Known<Omit<Core, 'system'>> & { readonly system?: Known<Core['system']> } = {}): Core {
  const known = {
    settings: { tenantId, followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 } },
    actor: async (identity: { tenantId: string; id: string }) => ({ ...identity, ...kim, isAdmin: false }),
    ...parts,
  }
  return loud('provisioning', known) as Core
}
const kim = { displayName: 'Kim Lee', userPrincipalName: 'kim@contoso.example' }
/** Makes the caller of `coreWith` an admin. */
export const asAdmin = {
  actor: async (identity: { tenantId: string; id: string }) => ({ ...identity, ...kim, isAdmin: true }),
}

/** An idempotency store for tests without keys: no call is expected. */
const noKeys = loud('idempotency', {}) as IdempotencyStore

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

/** Starts a server on its own port until the test ends, and records its log. */
export async function startRest(issuer: Issuer, options: Partial<HttpOptions> = {}, atEnd: AtEnd = withTheTest) {
  const lines: LogLine[] = []
  const note = (level: string) => (fields: object, message: string) => void lines.push({ ...fields, level, message })
  const server = await createHttpServer({
    port: 0,
    host: '127.0.0.1',
    farewellMilliseconds: 10,
    baseUrl,
    core: coreWith(),
    texts: apiTexts,
    tokens: issuer.options,
    idempotency: noKeys,
    webhookSecret,
    messages: async () => {
      throw new Error('nobody expected an activity')
    },
    health: { ready: async () => ({ ok: true, checks: { store: 'ok' } }) },
    limits: { writesPerMinute: 0, writeBurst: 0, readsPerMinute: 0, tenantWritesPerMinute: 0 },
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    ...options,
  })
  atEnd(() => server.close())
  const token = await issuer.token()
  return {
    server,
    lines,
    /** Sends one call, signed in unless `authorization` is set, and checks the answer against the contract. */
    async call(
      method: string,
      path: string,
      { body, headers = {}, invented = false }: CallOptions = {},
    ): Promise<RestAnswer> {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && json), ...headers },
        redirect: 'manual',
        ...(body !== undefined && { body: asBody(body), duplex: 'half' }),
      })
      const text = await response.text()
      const answer = {
        status: response.status,
        headers: response.headers,
        text,
        body: text ? parsedJson(text) : undefined,
      }
      if (method !== 'HEAD') conforms(method, path, answer)
      if (!invented) expect(contractFault({ method, path, body }, answer)).toBeUndefined()
      return answer
    },
    /** Sends raw bytes on their own connection, and returns all data until the server ends it. */
    raw: (text: string | Buffer) => exchange(server.port, text),
  }
}
export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /**
   * Whether the core of this test does something that no core does, so the API document does not declare the answer.
   */
  readonly invented?: boolean
}
export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects and fails on the others
  readonly body: any
}

const json = { 'content-type': 'application/json' }
const asBody = (body: unknown): RequestInit['body'] =>
  typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
    ? (body as RequestInit['body'])
    : JSON.stringify(body)

/** Checks every answer: it contains no internals and has an id; a problem has the id of its trace. */
function conforms(method: string, path: string, { status, headers, text, body }: RestAnswer): void {
  const about = `${method} ${path} answered ${status} ${text}`
  expect(headers.get('x-request-id'), about).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('x-content-type-options'), about).toBe('nosniff')
  expect(headers.get('server'), about).toBeNull()
  expect(text, about).not.toMatch(/\bat .+:\d+:\d+|node_modules|\/src\/|select .+ from|eyJ[\w-]{20}/i)
  if (headers.get('content-type')?.startsWith('application/problem+json')) {
    const problem = problemBody.parse(body)
    expect(problem.status, about).toBe(status)
    expect(problem.traceId, about).toBe(headers.get('x-request-id')?.replaceAll('-', ''))
  }
}

async function exchange(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    socket.once('error', () => resolve())
  })
  socket.write(text)
  await ended
  return Buffer.concat(chunks).toString()
}

/** Creates a request as the core returns it. */
export function requestOf(more: Partial<Request> = {}): Request {
  const at = '2026-03-02T09:00:00.000Z'
  const template = { id: 'bbbbbbbb-0000-4000-8000-000000000001', version: 1, kind: 'teamSite', name: 'Project site' }
  return provisioningRequest.parse({
    ...{ v: 1, requestId: 'aaaaaaaa-0000-4000-8000-000000000001', number: 1042, tenantId, kind: 'teamSite', template },
    ...{ status: 'queued', requester: { id: personId, ...kim }, channel: 'rest', reason: '', alias: 'apollo' },
    ...{ details: { displayName: 'Apollo' }, owners: [{ id: personId, ...kim }], approvals: [], steps: [] },
    ...{ progress: {}, resource: null, problem: null, followUp: { state: 'none' }, cancelledBy: null },
    ...{ submittedAt: at, updatedAt: at, queuedAt: at, finishedAt: null, version: 1 },
    ...more,
  })
}
