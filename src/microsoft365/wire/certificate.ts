import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import {
  asWritten,
  because,
  type CertificateFacts,
  type CertificateReading,
  type Reason,
  sentenceOf,
  TenantError,
} from '../../core/index.ts'

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
 * Creates a temporary credential for local mode: an RSA key, with the digest of its public part as thumbprint, because the
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
  let problem: Reason | undefined
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
      problem = reasonOf(error)
      if (before === undefined || sentenceOf(problem) !== sentenceOf(before))
        warn('The certificate file could not be used. The current certificate stays in use.', { err: error })
      return 'refused'
    }
  }

  // The service starts anyway, so that the health check can report the fault.
  try {
    assertValid(first, new Date())
  } catch (error) {
    warn('The certificate cannot be used now', { err: error })
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

/**
 * Refuses a certificate that would replace a better one. A certificate that is not valid yet is accepted by a later
 * poll.
 */
function assertValid({ startsAt, endsAt }: ClientCertificate, now: Date): void {
  if (endsAt && endsAt <= now) throw new CertificateError(because('certificateExpired', { at: shown(endsAt) }))
  if (startsAt && startsAt > now) throw new CertificateError(because('certificateTooEarly', { at: shown(startsAt) }))
}

/** The reason of an error while a file is read or tried. */
function reasonOf(error: unknown): Reason {
  if (error instanceof CertificateError || error instanceof TenantError) return error.reason
  return asWritten(error instanceof Error ? error.message : String(error))
}

const shown = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Omits the path: the message is shown in a chat. */
function unreadableFile(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  throw new CertificateError(because('certificateUnreadable', { error: code }), { cause: error })
}

/** A private key and the certificate that belongs to it. */
interface KeyPair {
  readonly key: KeyObject
  readonly certificate: X509Certificate
}

/** The reason why a file cannot be used, for admins, with the command that creates a correct file. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
  readonly reason: Reason
  constructor(reason: Reason, options?: ErrorOptions) {
    super(sentenceOf(reason), options)
    this.reason = reason
  }
}

/** Commands for the operator's shell. */
const fromPfx =
  'openssl pkcs12 -in service.pfx -out service.pem -noenc (OpenSSL 1.1: -nodes; add -legacy if OpenSSL 3 reports "unsupported")'
const joined = 'cat key.pem public.pem > service.pem'
const decrypted = 'openssl pkey -in service.pem -out key.pem && openssl x509 -in service.pem >> key.pem'
const encryptedAgain =
  'openssl pkey -provider legacy -provider default -in service.pem -aes256 -out key.pem && openssl x509 -in service.pem >> key.pem'
const created =
  'openssl req -x509 -newkey rsa:2048 -noenc -days 365 -subj /CN=quartermaster -keyout key.pem -out public.pem'

/** Minimum length of keys for Entra ID and for the sign-in library. Bits. */
const shortestKey = 2048

/**
 * Reads a private key and its certificate from a PEM file (RFC 7468): in any order, among other text, with certificates
 * of authorities. Of several certificates of the key, returns the one that is valid now and ends last. Throws a
 * {@link CertificateError}.
 */
function keyPairFromPem(file: Uint8Array, password: string | undefined): KeyPair {
  const text = textOf(file)
  if (!text.includes('-----BEGIN ')) throw new CertificateError(notPem(file))
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)]
  const [keyBlock] = blocks.filter(([, label = '']) => label.endsWith('PRIVATE KEY'))
  const certificateBlocks = blocks.filter(([, label]) => label === 'CERTIFICATE')
  if (text.split('-----BEGIN ').length !== blocks.length + 1) throw new CertificateError(because('pemIncomplete'))
  if (!keyBlock) throw new CertificateError(because('pemWithoutKey', { joining: joined, converting: fromPfx }))
  if (certificateBlocks.length === 0) throw new CertificateError(because('pemWithoutCertificate', { joining: joined }))
  const key = readKey(keyBlock[0], password)
  const certificates = certificateBlocks.map(([block]) => readCertificate(block))
  const ofTheKey = certificates.filter((one) => one.checkPrivateKey(key))
  const now = new Date()
  const isValid = ({ validFromDate, validToDate }: X509Certificate) => validFromDate <= now && now < validToDate
  const certificate = ofTheKey.toSorted(
    (one, other) =>
      Number(isValid(other)) - Number(isValid(one)) || other.validToDate.getTime() - one.validToDate.getTime(),
  )[0]
  if (!certificate)
    throw new CertificateError(because('pemOfOtherKey', { count: certificates.length, converting: fromPfx }))
  return { key, certificate }
}

function readKey(block: string, password: string | undefined): KeyObject {
  const isEncrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: *4, *ENCRYPTED/m.test(block)
  if (isEncrypted && password === undefined)
    throw new CertificateError(because('pemEncrypted', { decrypting: decrypted }))
  const key = parsed(
    () => createPrivateKey({ key: block, ...(isEncrypted && { passphrase: password }) }),
    (error) => (isEncrypted ? notDecrypted(error) : because('pemKeyUnreadable', { error })),
  )
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  const type = key.asymmetricKeyType ?? ''
  if (type === 'rsa' && bits >= shortestKey) return key
  const facts = { least: shortestKey, creating: `${created} && ${joined}` }
  throw new CertificateError(
    type === 'rsa' ? because('pemKeyTooShort', { bits, ...facts }) : because('pemKeyOfOtherType', { type, ...facts }),
  )
}

/** Returns the reason of a failed decryption. A wrong password causes the same errors as a damaged key. */
const notDecrypted = (error: string): Reason =>
  error.includes('UNSUPPORTED')
    ? because('pemOldEncryption', { error, encrypting: encryptedAgain })
    : because('pemPasswordWrong', { error })

const readCertificate = (block: string): X509Certificate =>
  parsed(
    () => new X509Certificate(block),
    (error) => because('pemCertificateUnreadable', { error }),
  )

/** Omits the original message, which may quote the file. */
function parsed<T>(read: () => T, explain: (error: string) => Reason): T {
  try {
    return read()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new CertificateError(explain(code))
  }
}

/** Windows tools also write UTF-16 with a byte order mark. */
function textOf(file: Uint8Array): string {
  const [first, second] = file
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(file)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(file)
  return new TextDecoder().decode(file)
}

/** PKCS#12 (RFC 7292 §4): the version 3 follows the header of the outermost sequence. */
const pfxVersion = Buffer.from([0x02, 0x01, 0x03])

/** Names the format of a file that is not PEM. */
function notPem(file: Uint8Array): Reason {
  const facts = { converting: fromPfx }
  if (file.length === 0) return because('fileEmpty', facts)
  if (Buffer.from(file.subarray(0, 10)).includes(pfxVersion)) return because('fileIsPfx', facts)
  if (isReadable(() => new X509Certificate(file))) return because('fileIsCer', facts)
  if (['pkcs8', 'pkcs1'].some((type) => isReadable(() => createPrivateKey(derKey(file, type)))))
    return because('fileIsDerKey', { converting: `openssl pkey -inform DER -in key.der -out key.pem && ${joined}` })
  return because('fileIsNotPem', facts)
}

const derKey = (file: Uint8Array, type: string) =>
  ({ key: Buffer.from(file), format: 'der', type: type === 'pkcs1' ? 'pkcs1' : 'pkcs8' }) as const

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
