import { readFile } from 'node:fs/promises'
import type { CertificateFacts, CertificateReading } from '../core/index.ts'
import { type ClientCertificate, certificateFromPem } from './sign-in.ts'

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
