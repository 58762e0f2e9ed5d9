import 'reflect-metadata'
import { createHash, createPrivateKey, webcrypto, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { type ClientCertificate, certificateFromPem } from '../../microsoft365/index.ts'

/** A certificate of the service, from a PEM file. */
export interface CertificateFile {
  readonly path: string
  readonly client: ClientCertificate
  readonly startsAt: Date
  readonly endsAt: Date
  /** The public part (DER) in base64, which the registration gets. */
  readonly publicPart: string
  /** SHA-1 of the public part. Entra ID shows it, in hexadecimal or as base64 of its bytes. */
  readonly thumbprint: string
}

/** Reads a PEM file with key and certificate; undefined without a file. Throws for a file that cannot be used. */
export async function readCertificate(path: string, password?: string): Promise<CertificateFile | undefined> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (content === undefined) return undefined
  const client = certificateFromPem(content, password)
  const blocks = content.toString('utf8').match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []
  const fingerprint = ({ fingerprint256 }: X509Certificate) => fingerprint256.replaceAll(':', '').toLowerCase()
  const found = blocks
    .map((block) => new X509Certificate(block))
    .find((one) => fingerprint(one) === client.thumbprintSha256)
  if (!found) throw new Error('the certificate is not in its own file')
  const thumbprint = createHash('sha1').update(found.raw).digest('hex')
  const dates = { startsAt: found.validFromDate, endsAt: found.validToDate }
  return { path, client, ...dates, publicPart: found.raw.toString('base64'), thumbprint }
}

/** Whether a key credential of a registration is this certificate. */
export function isCredentialOf(
  { publicPart, thumbprint }: CertificateFile,
  { key, customKeyIdentifier: shown }: { readonly key?: string | null; readonly customKeyIdentifier?: string | null },
): boolean {
  if (key) return key === publicPart
  const bytes = Buffer.from(thumbprint, 'hex').toString('base64')
  return shown === bytes || shown?.toLowerCase() === thumbprint
}

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 3072,
}

/** Creates a key and a self-signed certificate, as one PEM text. A password encrypts the key. */
export async function newCertificate(title: string, from: Date, days: number, password?: string): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [title] }],
    keys,
    notBefore: from,
    notAfter: new Date(from.getTime() + days * 24 * 3600 * 1000),
    signingAlgorithm: algorithm,
    extensions: [
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const encrypted = password === undefined ? {} : { cipher: 'aes-256-cbc', passphrase: password }
  const pem = key.export({ type: 'pkcs8', format: 'pem', ...encrypted }).toString()
  return `${pem}${certificate.toString('pem')}\n`
}
