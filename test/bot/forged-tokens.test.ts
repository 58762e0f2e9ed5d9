import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { botAppId, type ConnectorKey, makeConnectorKey } from '../support/connector-keys.ts'
import { encoded, signedWithPublicKey, tampered, under } from '../support/forged-tokens.ts'
import { refusals, withGuardedBot } from '../support/guarded-bot.ts'
import { apiIds, contosoTenant } from '../support/teams-user.ts'
import { withTrap } from '../support/trap.ts'

const elsewhere = '99999999-9999-4999-8999-999999999999'
/**
 * Tenants and authority of the Bot Framework Emulator, whose tokens the SDK accepts (botframework-connector 4.23.3).
 */
const emulator = ['d6d49420-f39b-4df7-a1dc-d59a935871db', 'f8cdef31-a31e-4b4a-93e4-5f571e91255a']
const skillCaller = randomUUID()

describe('a forged token of the channel', () => {
  const attacker = makeConnectorKey(['msteams'])
  let attackersJwk: ConnectorKey['jwk'] | undefined
  const trap = withTrap(() => (attackersJwk ? [attackersJwk] : []))
  const { keys, service, click, post, postWith, rows } = withGuardedBot()
  const good = () => keys.token()
  const { now } = keys
  const byAttacker = async (header: Record<string, unknown>) => {
    const key = await attacker
    attackersJwk = key.jwk
    return keys.token({}, { key, header })
  }

  type Forgery = () => string | Promise<string>
  const claims = (change: Record<string, unknown>): Forgery => {
    return () => keys.token(change)
  }
  /** Each gets 401 with the same message. */
  const forgeries: Record<string, Forgery> = {
    'no signature': () => tampered(good(), ([header, body]) => [header, body, '']),
    'claims changed after signing': () =>
      tampered(good(), ([header, , sign]) => [header, encoded({ aud: botAppId, serviceurl: 'https://x/' }), sign]),
    'a bit of the signature changed': () =>
      tampered(good(), ([header, body, sign]) => [header, body, `${sign[0] === 'A' ? 'B' : 'A'}${sign.slice(1)}`]),
    'alg none': () => under(good(), { alg: 'none', typ: 'JWT' }),
    'alg none under our key id': () => under(good(), { alg: 'none', typ: 'JWT', kid: keys.keys.good.kid }),
    'alg NONE, capitals': () => under(good(), { alg: 'NONE', kid: keys.keys.good.kid }),
    'HS256 with the public key as secret': () => signedWithPublicKey(good(), keys.keys.good.jwk),
    'RS512 in the header, the RS256 signature behind it': () =>
      tampered(good(), ([, body, sign]) => [encoded({ alg: 'RS512', kid: keys.keys.good.kid }), body, sign]),
    'an unknown critical header': () =>
      tampered(good(), ([, body, sign]) => [
        encoded({ alg: 'RS256', kid: keys.keys.good.kid, crit: ['x'], x: 1 }),
        body,
        sign,
      ]),
    'a key pair of somebody else': () => byAttacker({}),
    'a key pair of somebody else under our key id': () => byAttacker({ kid: keys.keys.good.kid }),
    'no key id': () => byAttacker({ kid: undefined }),
    'no key id, though the key is ours': () => keys.token({}, { header: { kid: undefined } }),
    'a key id that climbs folders': () => byAttacker({ kid: '../../../../etc/passwd' }),
    'a key id that is a list': () =>
      tampered(good(), ([, body, sign]) => [encoded({ alg: 'RS256', kid: [keys.keys.good.kid] }), body, sign]),
    'its own key in the header (jwk)': async () => byAttacker({ jwk: (await attacker).jwk }),
    'the address of its own keys (jku)': () => byAttacker({ jku: `${trap.url}/keys` }),
    'the address of its own certificate (x5u)': () => byAttacker({ x5u: `${trap.url}/cert` }),
    'jku under our key id': () => byAttacker({ kid: keys.keys.good.kid, jku: `${trap.url}/keys` }),
    'expired 301 s ago': () => keys.token({ exp: now() - 301 }),
    'not valid before 6 minutes from now': () => keys.token({ nbf: now() + 360 }),
    'no end': claims({ exp: undefined }),
    'an end that is text': claims({ exp: '2099-01-01' }),
    'another audience': claims({ aud: randomUUID() }),
    'the audience of the APIs': () => keys.token({ aud: apiIds.collab }),
    'no audience': claims({ aud: undefined }),
    'no issuer': claims({ iss: undefined }),
    'the issuer with a slash more': claims({ iss: 'https://api.botframework.com/' }),
    'the issuer in other letters': claims({ iss: 'https://API.botframework.com' }),
    'the issuer of the government cloud': claims({ iss: 'https://api.botframework.us' }),
    'several issuers': claims({ iss: ['https://api.botframework.com'] }),
    'the emulator, version 1': claims({ iss: `https://sts.windows.net/${emulator[0]}/`, ver: '1.0', appid: botAppId }),
    'the emulator, version 2': claims({
      iss: `https://login.microsoftonline.com/${emulator[0]}/v2.0`,
      ver: '2.0',
      azp: botAppId,
    }),
    'the emulator of the other tenant': claims({ iss: `https://sts.windows.net/${emulator[1]}/`, appid: botAppId }),
    'the bot’s own app-only token': claims({
      iss: `https://login.microsoftonline.com/${contosoTenant}/v2.0`,
      azp: botAppId,
      idtyp: 'app',
    }),
    'a person’s token for the bot': claims({
      iss: `https://login.microsoftonline.com/${contosoTenant}/v2.0`,
      scp: 'access_as_user',
      tid: contosoTenant,
    }),
    'a skill’s token': claims({
      iss: `https://login.microsoftonline.com/${elsewhere}/v2.0`,
      ver: '2.0',
      azp: skillCaller,
      appid: skillCaller,
    }),
    'no serviceurl': claims({ serviceurl: undefined }),
    'another serviceurl': claims({ serviceurl: 'https://smba.trafficmanager.net/amer/' }),
    'a serviceurl without its slash': claims({ serviceurl: 'https://smba.trafficmanager.net/emea' }),
    'a list of serviceurls': claims({ serviceurl: ['https://smba.trafficmanager.net/emea/'] }),
    'serviceUrl in the claim’s other spelling': claims({
      serviceurl: undefined,
      serviceUrl: 'https://smba.trafficmanager.net/emea/',
    }),
    'a key that is endorsed for no channel': () => keys.token({}, { key: keys.keys.unendorsed }),
    'a key that is endorsed for other channels': () => keys.token({}, { key: keys.keys.webchat }),
    'five parts, encrypted': () => `${encoded({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`,
    'the words null and undefined': () => 'null.undefined.null',
  }

  async function nothingHappens(attempt: () => Promise<{ status: number; text: string }>) {
    const before = await rows()
    const calls = keys.keyRequests.length
    const answer = await attempt()
    expect(answer).toMatchObject({
      status: 401,
      text: JSON.stringify({ error: { code: '401', message: refusals[401] } }),
    })
    expect(await rows()).toEqual(before)
    expect(trap.hits).toEqual([])
    expect(keys.keyRequests.slice(calls).filter((path) => path !== '/keys')).toEqual([])
    expect(service.connector.calls).toEqual([])
    expect(service.connector.unexpected).toEqual([])
  }

  it('has at least 25 variants', () => expect(Object.keys(forgeries).length).toBeGreaterThanOrEqual(25))

  it('is refused, while the valid token is accepted and writes rows', async () => {
    const before = await rows()
    expect((await postWith(good())).status).toBe(200)
    expect(await rows()).not.toEqual(before)
  })

  it.each(Object.entries(forgeries))('%s: gets 401 and runs, writes and calls nothing', (_, forge) =>
    nothingHappens(async () => postWith(await forge())),
  )

  it('is refused next to a valid one in a second Authorization header, in either order', async () => {
    const forged = await forgeries['another audience']?.()
    for (const tokens of [
      [await good(), forged],
      [forged, await good()],
      [await good(), await good()],
    ])
      await nothingHappens(() => postTwo(`${service.app.url}/api/messages`, tokens.map(String), click()))
  })

  it('is refused outside of the Authorization header', async () => {
    const token = await good()
    await nothingHappens(() => post({ ...click(), access_token: token }))
    await nothingHappens(() => post(click(), { cookie: `authorization=Bearer ${token}` }))
    await nothingHappens(() => post(click(), { 'x-authorization': `Bearer ${token}` }))
    await nothingHappens(() => post(click(), { authorization: `bearer ${token} ${token}` }))
    await nothingHappens(() => post(click(), { authorization: `Bearer  ${token}` }))
  })

  it('is refused before the activity is checked, so that only the connector learns about a malformed activity', async () => {
    await nothingHappens(() => post({}))
    await nothingHappens(async () => postWith(await keys.token({ aud: undefined }), { type: 5 }))
  })
})

/** Sends a call with one header line for each token. `fetch` would join them. */
function postTwo(url: string, tokens: readonly string[], body: object): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const lines = tokens.flatMap((token) => ['Authorization', `Bearer ${token}`])
    const length = String(Buffer.byteLength(text))
    const headers = ['Host', new URL(url).host, 'Content-Type', 'application/json', 'Content-Length', length, ...lines]
    const call = httpRequest(url, { method: 'POST', headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
    })
    call.once('error', reject)
    call.end(text)
  })
}
