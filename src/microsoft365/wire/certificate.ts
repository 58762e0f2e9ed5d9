import { createHash, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { CertificateFacts, CertificateReading } from '../../core/index.ts'

/** What proves that we are the registered application. SharePoint refuses secrets, so there is no other way in. */
export interface ClientCertificate {
  /** PKCS #8 private key, PEM. */
  readonly privateKey: string
  /** SHA-256 of the certificate, in hexadecimal, as Entra ID knows it. */
  readonly thumbprintSha256: string
  /** When it ends; what has no such moment never does. */
  readonly endsAt?: Date
}

/**
 * The certificate of production: a PEM text (the file at CLIENT_CERTIFICATE_PATH) that holds the private key and the
 * certificate. Throws when one of them is missing or they do not belong together.
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
 * A throwaway credential of local mode: an RSA key, and in place of a certificate's thumbprint the digest of its public
 * part, since the simulator knows no certificates. Whoever calls keeps it, so that a restart is the same application.
 */
export function localCertificate(): ClientCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const thumbprintSha256 = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), thumbprintSha256 }
}

interface Options {
  /** The PEM file; without one there is nothing that could be read again. */
  readonly path: string | undefined
  /** What the service was started with. */
  readonly first: ClientCertificate
  /** Signs in with it from now on, or throws and leaves all as it was. */
  readonly use: (certificate: ClientCertificate) => Promise<void>
  readonly warn: (message: string, fields: object) => void
}

/** How often a process looks whether the file has changed, in milliseconds. */
const lookEvery = 60_000

/** The certificate in use, and its file: when another stands there it is taken, and one that cannot be used is told of. */
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
    // Two clicks, or a click and the look of the minute, are one reading.
    reading ??= read(path).finally(() => {
      reading = undefined
    })
    return reading
  }
  return {
    facts: (): CertificateFacts => ({ endsAt: inUse.endsAt ?? null, problem }),
    read: readAgain,
    /** Looks every minute until the returned function is called. */
    watch(): () => void {
      const timer = setInterval(() => void readAgain(), lookEvery)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** Without its path, which is no matter of a chat. */
function unreadableFile(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  throw new Error(`The file at CLIENT_CERTIFICATE_PATH cannot be read (${code}).`, { cause: error })
}
