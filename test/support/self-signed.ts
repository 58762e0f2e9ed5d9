import { createHash, generateKeyPairSync, sign } from 'node:crypto'

/** DER: one value with its tag and length (X.690 §8.1). */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

/** A moment as UTCTime (X.690 §11.8): two digits of the year, of this century. */
const utcTime = (at: Date): string => `${at.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`

/** The smallest self-signed certificate (RFC 5280 §4.1), so that no key has to lie in the repository. */
export function selfSigned(endsAt = new Date('2045-01-01T00:00:00Z')) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const algorithm = der(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'))
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('test')))))
  const time = (text: string) => der(0x17, Buffer.from(text))
  const validity = der(0x30, time('250101000000Z'), time(utcTime(endsAt)))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const body = der(0x30, der(0x02, Buffer.from([1])), algorithm, name, validity, name, key)
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const certificate = der(0x30, body, algorithm, signature)
  const base64 = certificate.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    thumbprint: createHash('sha256').update(certificate).digest('hex'),
  }
}
