import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** Encodes one DER value with its tag and length (X.690 §8.1). */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}
const hex = (digits: string) => Buffer.from(digits, 'hex')

/** Encodes a time as UTCTime (X.690 §11.8): two digits of the year, of this century. */
const utcTime = (at: Date): Buffer => der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))

/** Encodes a distinguished name that has only a common name. */
const nameOf = (text: string): Buffer =>
  der(0x30, der(0x31, der(0x30, hex('0603550403'), der(0x0c, Buffer.from(text)))))

const sha256WithRsa = der(0x30, hex('06092a864886f70d01010b0500'))

/** Creates a certificate (RFC 5280 §4.1): version 3 with extensions, otherwise version 1. */
export function certificateOf(content: {
  subject?: string
  issuer?: string
  serial?: number
  startsAt?: Date
  endsAt: Date
  publicKey: KeyObject
  signedBy: KeyObject
  extensions?: Buffer[]
}): { pem: string; bytes: Buffer } {
  const { subject = 'test', issuer = 'test', serial = 1, startsAt = past, extensions = [] } = content
  const body = der(
    0x30,
    ...(extensions.length > 0 ? [der(0xa0, der(0x02, Buffer.from([2])))] : []),
    der(0x02, Buffer.from([serial])),
    sha256WithRsa,
    nameOf(issuer),
    der(0x30, utcTime(startsAt), utcTime(content.endsAt)),
    nameOf(subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, der(0x30, ...extensions))] : []),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, content.signedBy))
  const bytes = der(0x30, body, sha256WithRsa, signature)
  const base64 = bytes.toString('base64').replace(/.{64}/g, '$&\n')
  return { bytes, pem: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n` }
}

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const past = new Date('2025-01-01T00:00:00Z')
const far = new Date('2045-01-01T00:00:00Z')

/** Creates the smallest self-signed certificate, so that the repository contains no key. */
export function selfSigned(endsAt = far, startsAt = past) {
  const { privateKey, publicKey } = newKeys()
  const { pem, bytes } = certificateOf({ startsAt, endsAt, publicKey, signedBy: privateKey })
  return {
    publicKey,
    key: pemOf(privateKey),
    certificate: pem,
    thumbprint: createHash('sha256').update(bytes).digest('hex'),
  }
}

export interface Authority {
  /** The authority's own certificate, the value of `sslrootcert`. */
  readonly certificate: string
  /** Issues a key and a certificate for a server with these host names or IPv4 addresses. */
  issue(hosts: readonly string[], endsAt?: Date): { key: string; certificate: string }
}

/** Creates an authority that signs certificates of servers. */
export function newAuthority(name: string): Authority {
  const own = newKeys()
  const isAuthority = der(0x30, hex('0603551d13'), hex('0101ff'), der(0x04, hex('30030101ff')))
  const names = { subject: name, issuer: name, serial: 1 }
  const root = { ...names, endsAt: far, publicKey: own.publicKey, signedBy: own.privateKey, extensions: [isAuthority] }
  return {
    certificate: certificateOf(root).pem,
    issue(hosts, endsAt = far) {
      const { privateKey, publicKey } = newKeys()
      const alternatives = hosts.map((host) =>
        isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
      )
      const extensions = [der(0x30, hex('0603551d11'), der(0x04, der(0x30, ...alternatives)))]
      const content = { subject: hosts[0] ?? '', issuer: name, serial: 2, endsAt, publicKey, extensions }
      return { key: pemOf(privateKey), certificate: certificateOf({ ...content, signedBy: own.privateKey }).pem }
    },
  }
}
