import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { CertificateFacts, CertificateReading } from '../../core/index.ts'
import { CertificateError, keyPairFromPem } from './pem.ts'

/** Proves that the caller is the registered application. SharePoint refuses secrets, so a certificate is required. */
export interface ClientCertificate {
  /** PKCS #8 private key, PEM. */
  readonly privateKey: string
  /** SHA-256 of the certificate, in hexadecimal, as Entra ID knows it. */
  readonly thumbprintSha256: string
  /** When it becomes valid, and when it expires; absent for a credential that does not expire. */
  readonly startsAt?: Date
  readonly endsAt?: Date
}

/**
 * Reads the certificate of production from the content of the file at CLIENT_CERTIFICATE_PATH. `password` opens an encrypted
 * key. Accepts a certificate that has expired or is not valid yet: the caller decides. Throws a `CertificateError`.
 */
export function certificateFromPem(file: Uint8Array, password?: string): ClientCertificate {
  const { key, certificate } = keyPairFromPem(file, password)
  return {
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    thumbprintSha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    startsAt: certificate.validFromDate,
    endsAt: certificate.validToDate,
  }
}

/** Reads the certificate of production from its file at start. Throws a `CertificateError`, which does not show the path. */
export function readCertificateFile(path: string, password?: string): ClientCertificate {
  let file: Uint8Array
  try {
    file = readFileSync(path)
  } catch (error) {
    unreadableFile(error)
  }
  return certificateFromPem(file, password)
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
  /** Opens the private key in the file, also when the file has been replaced. */
  readonly password: string | undefined
  /** The certificate at start. */
  readonly first: ClientCertificate
  /** Signs in with another certificate from now on, or throws and keeps the current one. */
  readonly use: (certificate: ClientCertificate) => Promise<void>
  readonly warn: (message: string, fields: object) => void
}

/** How often a process checks whether the file has changed. Milliseconds. */
const pollMilliseconds = 60_000

/** Watches the certificate's file: uses a new certificate, and reports one that cannot be used. */
export function createCertificateFile({ path, password, first, use, warn }: Options) {
  let inUse = first
  let problem: string | undefined
  let reading: Promise<CertificateReading> | undefined

  async function read(file: string): Promise<CertificateReading> {
    try {
      const found = certificateFromPem(await readFile(file).catch(unreadableFile), password)
      if (found.thumbprintSha256 === inUse.thumbprintSha256) {
        problem = undefined
        return 'same'
      }
      assertValid(found, new Date())
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

  // The service starts anyway, so that the health can say what is wrong.
  try {
    assertValid(first, new Date())
  } catch (error) {
    warn('the certificate cannot be used now', { err: error })
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
    facts: (): CertificateFacts => ({ startsAt: inUse.startsAt, endsAt: inUse.endsAt ?? null, problem }),
    read: readAgain,
    /** Checks every minute until the returned function is called. */
    watch(): () => void {
      const timer = setInterval(() => void readAgain(), pollMilliseconds)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}

/** Refuses a certificate that would replace a better one. One that is not valid yet is accepted later, by the next poll. */
function assertValid({ startsAt, endsAt }: ClientCertificate, now: Date): void {
  if (endsAt && endsAt <= now)
    throw new CertificateError(`The certificate in the file expired on ${shown(endsAt)}. Replace it by a new one.`)
  if (startsAt && startsAt > now)
    throw new CertificateError(
      `The certificate in the file is not valid before ${shown(startsAt)}. The service uses it from then on.`,
    )
}

const shown = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Omits the path: the message is shown in a chat. */
function unreadableFile(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
  const reason = reasons[code] ?? 'Check the path and the file.'
  throw new CertificateError(`The file at CLIENT_CERTIFICATE_PATH cannot be read (${code}). ${reason}`, {
    cause: error,
  })
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file. Check the path.',
  ENOTDIR: 'There is no such file. Check the path.',
  EISDIR: 'The path names a folder. Add the name of the file.',
  EACCES: 'The user of the service may not read it. Change its owner, or allow its group to read it and nobody else.',
}
