import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Processes hold a lock for milliseconds, so an older lock belongs to a killed process. */
const staleMilliseconds = 10_000
const longestWaitMilliseconds = 30_000

/** The folder of private files cannot be created, read or written. */
export class PrivateFolderError extends Error {
  override readonly name = 'PrivateFolderError'
  readonly folder: string
  /** The system's error code, such as EACCES. */
  readonly why: string
  constructor(folder: string, cause: unknown) {
    const why = String(Object(cause).code ?? cause)
    super(`The folder ${folder} cannot be used (${why}).`, { cause })
    this.folder = folder
    this.why = why
  }
}

/** Replaces a file that only its owner may read. Throws {@link PrivateFolderError}. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await makePrivateFolder(dirname(path))
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    throw new PrivateFolderError(dirname(path), error)
  }
}

/** Creates a folder that only its owner may read. Throws {@link PrivateFolderError}. */
export async function makePrivateFolder(folder: string): Promise<void> {
  try {
    // The mode applies to a new folder; an existing one is narrowed.
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
  } catch (error) {
    throw new PrivateFolderError(folder, error)
  }
}

/**
 * Takes the lock of a file, and waits while another process has it. Returns the function that releases it. Throws
 * {@link PrivateFolderError}.
 */
export async function lock(path: string): Promise<() => Promise<void>> {
  const held = `${path}.lock`
  await makePrivateFolder(dirname(path))
  const giveUpAt = Date.now() + longestWaitMilliseconds
  for (;;) {
    try {
      await (await open(held, 'wx', 0o600)).close()
      return () => rm(held, { force: true })
    } catch (error) {
      if (!isTaken(error) || Date.now() > giveUpAt) throw new PrivateFolderError(dirname(path), error)
    }
    const since = await stat(held).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    )
    if (Date.now() - since > staleMilliseconds) await rm(held, { force: true })
    else await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 30))
  }
}

/** Windows reports EPERM while a deleted file is still open. */
const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'EPERM')
