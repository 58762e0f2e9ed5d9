import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose'
import { z } from 'zod'

/**
 * One claim of a refused token and what the API expects there. All of it is public: the caller sent the claim, and
 * `/openapi.json` has the expected values. The token itself is never part of it.
 */
export const tokenClaim = z.strictObject({
  claim: z.string().describe('The name in the token: `aud`, `iss`, `ver`, `tid`, `scp`, `roles`, `exp`, …'),
  got: z.string().optional().describe('The value in the token. Absent: the token does not have the claim.'),
  expected: z.array(z.string()).min(1).describe('One of these values is required.'),
})
export type TokenClaim = z.output<typeof tokenClaim>

export const requiredScope = 'App.ReadWrite.All'
export const skewSeconds = 60
const objectId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isObjectId = (value: unknown): value is string => typeof value === 'string' && objectId.test(value)

/** The only version of tokens of an issuer of Entra ID. */
export const versionOf = (issuer: string): string => (issuer.startsWith('https://sts.windows.net/') ? '1.0' : '2.0')

/**
 * Entra, "Access token claims": `idtyp` is present if the API requests it. Otherwise an application has roles, no
 * scope, and its object id as its subject; a person has another subject.
 */
export function isAppOnly({ scp, roles, idtyp, sub, oid }: JWTPayload): boolean {
  if (idtyp !== undefined) return idtyp === 'app'
  return scp === undefined && roles !== undefined && sub !== undefined && sub === oid
}

/** Longer values are cut: a caller may write anything into a token that is refused. */
const longestValue = 200

export function claimOf(claims: JWTPayload, claim: string, expected: readonly string[]): TokenClaim {
  const value = claims[claim]
  const got = typeof value === 'string' ? value : JSON.stringify(value)
  return {
    claim,
    ...(got !== undefined && { got: got.replace(/\p{C}/gu, '\ufffd').slice(0, longestValue) }),
    expected: [...expected],
  }
}

interface ExpectedClaims {
  readonly audiences: readonly string[]
  readonly issuers: readonly string[]
  readonly tenantId: string
}

/**
 * Compares the claims of a refused token with the expected claims of a route. Does not check the signature, so that it
 * also explains tokens for another API; it shows nothing that the sender does not know. Returns undefined for text that is
 * not a JWT, and an empty list if all claims are right and the signature is wrong.
 */
export function wrongClaims(
  token: string,
  { audiences, issuers, tenantId }: ExpectedClaims,
  now: number,
): readonly TokenClaim[] | undefined {
  const claims = decoded(token)
  if (!claims) return undefined
  const wrong: TokenClaim[] = []
  const expect = (isRight: boolean, claim: string, expected: readonly string[]) => {
    if (!isRight) wrong.push(claimOf(claims, claim, expected))
  }
  const { aud, iss, ver, tid, exp, nbf, scp, oid, azp, appid } = claims
  expect(
    [aud].flat().some((one) => audiences.some((known) => known === one)),
    'aud',
    audiences,
  )
  const isOurs = issuers.some((known) => known === iss)
  expect(isOurs, 'iss', issuers)
  if (isOurs && iss !== undefined) expect(ver === undefined || ver === versionOf(iss), 'ver', [versionOf(iss)])
  expect(tid === tenantId, 'tid', [tenantId])
  const at = (milliseconds: number) => new Date(milliseconds).toISOString()
  expect(typeof exp === 'number' && exp + skewSeconds > now / 1000, 'exp', [
    `later than ${Math.floor(now / 1000)} (${at(now)})`,
  ])
  expect(nbf === undefined || (typeof nbf === 'number' && nbf - skewSeconds <= now / 1000), 'nbf', [
    `not later than ${Math.floor(now / 1000)} (${at(now)})`,
  ])
  if (isAppOnly(claims)) {
    const client = ver === '1.0' ? 'appid' : 'azp'
    expect(isObjectId(client === 'appid' ? appid : azp), client, ['the client id of the application'])
  } else expect(typeof scp === 'string' && scp.split(' ').includes(requiredScope), 'scp', [requiredScope])
  expect(isObjectId(oid), 'oid', ['an object id'])
  return wrong
}

function decoded(token: string): JWTPayload | undefined {
  try {
    decodeProtectedHeader(token)
    return decodeJwt(token)
  } catch {
    return undefined
  }
}

const labels: Readonly<Record<string, string>> = {
  ...{ aud: 'audience', iss: 'issuer', ver: 'version', tid: 'tenant', exp: 'expiry time', nbf: 'start time' },
  ...{ scp: 'scope', roles: 'role', oid: 'object id', azp: 'client id', appid: 'client id' },
}

/** Describes wrong claims as sentences: `Its audience (aud) is “x”; expected “y” or “z”.` */
export const sentencesOf = (claims: readonly TokenClaim[]): string =>
  claims
    .map(({ claim, got, expected }) => {
      const name = `${labels[claim] ?? 'claim'} (${claim})`
      const has = got === undefined ? `It has no ${name}` : `Its ${name} is “${got}”`
      return `${has}; expected ${expected.map((value) => `“${value}”`).join(' or ')}.`
    })
    .join(' ')
