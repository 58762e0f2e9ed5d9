import { randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, beforeAll } from 'vitest'
import { sendJson, startServer } from './http-server.ts'

export interface ConnectorKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  /** The key as published: with the channels that it may sign for, unless it endorses none. */
  readonly jwk: JWK & { endorsements?: string[] }
}

export async function makeConnectorKey(endorsements?: string[]): Promise<ConnectorKey> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const kid = randomUUID()
  const jwk = { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256', ...(endorsements && { endorsements }) }
  return { kid, privateKey, jwk }
}

export const connectorUrl = 'https://smba.trafficmanager.net/emea/'
export const botAppId = '5b0a0c7e-0000-4c86-8f0f-3a1d5f1a2b99'

/** Publishes keys like the Bot connector, on our own server, from `beforeAll` to `afterAll` of the block. */
export function withConnectorKeys() {
  const keyRequests: string[] = []
  let keys: { good: ConnectorKey; webchat: ConnectorKey; unendorsed: ConnectorKey } | undefined
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  let away = false
  const answer: Parameters<typeof startServer>[0] = (request, response) => {
    keyRequests.push(request.url ?? '')
    const published = keys ? [keys.good.jwk, keys.webchat.jwk, keys.unendorsed.jwk] : []
    // The path is `/v1/.well-known/keys` at Microsoft's host.
    const isKeys = request.url?.endsWith('/keys') ?? false
    sendJson(response, away ? 503 : isKeys ? 200 : 404, { keys: isKeys ? published : [] })
  }
  const known = () => {
    if (!keys) throw new Error('the keys exist only while the tests of their block run')
    return keys
  }
  beforeAll(async () => {
    keys = {
      good: await makeConnectorKey(['msteams']),
      webchat: await makeConnectorKey(['webchat', 'directline']),
      unendorsed: await makeConnectorKey(),
    }
    server = await startServer(answer)
  })
  afterAll(() => server?.close())
  const now = () => Math.floor(Date.now() / 1000)
  return {
    /** Every requested path. */
    keyRequests,
    /** Sets whether the keys are published. */
    publish(yes: boolean): void {
      away = !yes
    },
    get url() {
      return server?.url ?? ''
    },
    get keys() {
      return known()
    },
    now,
    /** Creates a token of the connector with changes; `undefined` removes a claim. */
    async token(
      claims: Record<string, unknown> = {},
      { key = known().good, header = {} }: { key?: ConnectorKey; header?: Record<string, unknown> } = {},
    ): Promise<string> {
      const usual = { iss: 'https://api.botframework.com', aud: botAppId, serviceurl: connectorUrl }
      const times = { iat: now(), nbf: now(), exp: now() + 3600 }
      return new SignJWT(JSON.parse(JSON.stringify({ ...usual, ...times, ...claims })))
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...header })
        .sign(key.privateKey)
    },
  }
}
