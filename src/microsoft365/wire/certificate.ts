import { createHash, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { CertificateFacts, CertificateReading } from '../../core/index.ts'

/** Proves that the caller is the registered application. SharePoint refuses secrets, so a certificate is required. */
export interface ClientCertificate {
  /** PKCS #8 private key, PEM. */
  readonly privateKey: string
  /** SHA-256 of the certificate, in hexadecimal, as Entra ID knows it. */
  readonly thumbprintSha256: string
  /** Expiry; absent for a credential that does not expire. */
  readonly endsAt?: Date
}

/**
 * Reads the production certificate from PEM text (the file at CLIENT_CERTIFICATE_PATH) with private key and certificate.
 * Throws when one of them is missing or the two do not match.
 */
export function certificateFromPem(pem: string): ClientCertificate {
  const privateKey = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]+?-----END \1PRIVATE KEY-----/.exec(pem)?.[0]
  const text = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(pem)?.[0]
  if (!privateKey || !text) throw new Error('The PEM file has to hold a private key and its certificate.')
  const certificate = new X509Certificate(text)
  const publicKey = createPublicKey(privateKey)
  if (publicKey.asymmetricKeyType !== 'rsa') throw new Error('Entra ID signs applications in by RSA keys only.')
  const inKey = publicKey.export({ type: 'spki', format: 'der' })
  if (!inKey.equals(certificate.publicKey.export({ type: 'spki', format: 'der' })))
    throw new Error('The private key does not belong to the certificate in the same PEM file.')
  return {
    privateKey,
    thumbprintSha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    endsAt: new Date(certificate.validTo),
  }
}

/**
 * Creates a temporary credential for local mode: an RSA key, with the digest of its public part as thumbprint, since the
 * simulator does not check certificates. The caller stores it, so that a restart is the same application.
 */
export function localCertificate(): ClientCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const thumbprintSha256 = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), thumbprintSha256 }
}

interface Options {
  /** The PEM file; without it the certificate never changes. */
  readonly path: string | undefined
  /** The certificate at start. */
  readonly first: ClientCertificate
  /** Signs in with another certificate from now on, or throws and keeps the current one. */
  readonly use: (certificate: ClientCertificate) => Promise<void>
  readonly warn: (message: string, fields: object) => void
}

/** How often a process checks whether the file has changed. Milliseconds. */
const pollMilliseconds = 60_000

/** Watches the certificate's file: uses a new certificate, and reports one that cannot be used. */
export function createCertificateFile({ path, first, use, warn }: Options) {
  let inUse = first
  let problem: string | undefined
  let reading: Promise<CertificateReading> | undefined

  async function read(file: string): Promise<CertificateReading> {
    try {
      const found = certificateFromPem(await readFile(file, 'utf8').catch(unreadableFile))
      if (found.thumbprintSha256 === inUse.thumbprintSha256) {
        problem = undefined
        return 'same'
      }
      if (found.endsAt && found.endsAt.getTime() <= Date.now())
        throw new Error('The certificate in it has ended already.')
      await use(found)
      inUse = found
      problem = undefined
      return 'taken'
    } catch (error) {
      const before = problem
      problem = error instanceof Error ? error.message : String(error)
      if (problem !== before) warn('the certificate could not be read again', { err: error })
      return 'refused'
    }
  }

  const readAgain = async (): Promise<CertificateReading> => {
    if (path === undefined) return 'none'
    // Concurrent calls share one reading.
    reading ??= read(path).finally(() => {
      reading = undefined
    })
    return reading
  }
  return {
    facts: (): CertificateFacts => ({ endsAt: inUse.endsAt ?? null, problem }),
    read: readAgain,
    /** Checks every minute until the returned function is called. */
    watch(): () => void {
      const timer = setInterval(() => void readAgain(), pollMilliseconds)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** Omits the path: the message is shown in a chat. */
function unreadableFile(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  throw new Error(`The file at CLIENT_CERTIFICATE_PATH cannot be read (${code}).`, { cause: error })
}
