import { createHmac, randomUUID } from 'node:crypto'
import { exportSPKI, importJWK, type JWK } from 'jose'

type Parts = readonly [header: string, claims: string, signature: string]

/** Encodes a part of a JWT. */
export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns a token with changed parts, which its signature no longer covers. */
export async function tampered(token: string | Promise<string>, change: (parts: Parts) => Parts): Promise<string> {
  const [header = '', claims = '', signature = ''] = (await token).split('.')
  return change([header, claims, signature]).join('.')
}

/** Returns the same claims with a header of another algorithm; `sign` signs them. */
export const under = (token: string | Promise<string>, header: object, sign: (signed: string) => string = () => '') =>
  tampered(token, ([, claims]) => [encoded(header), claims, sign(`${encoded(header)}.${claims}`)])

/** Signs a token with the public key, which everybody has, as a shared secret (RFC 8725 §2.1). */
export async function signedWithPublicKey(token: string | Promise<string>, jwk: JWK): Promise<string> {
  const key = await importJWK(jwk, 'RS256')
  if (key instanceof Uint8Array) throw new Error('an RSA key was expected')
  const pem = await exportSPKI(key)
  const sign = (signed: string) => createHmac('sha256', pem).update(signed).digest('base64url')
  return under(token, { alg: 'HS256', typ: 'JWT', kid: jwk.kid }, sign)
}

/** Creates a cheap token that is different each time: of another tenant, with an unknown key id. */
export function cheapForgery(claims: object): string {
  const tid = randomUUID()
  const header = { alg: 'RS256', typ: 'JWT', kid: randomUUID() }
  const mine = { ...claims, tid, iss: `https://login.microsoftonline.com/${tid}/v2.0`, jti: randomUUID() }
  return `${encoded(header)}.${encoded(mine)}.${Buffer.alloc(256, tid).toString('base64url')}`
}
