import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const groupAndOthers = 0o077
const writeOfOthers = 0o022
const searchOfOthers = 0o011
const sticky = 0o1000

/** Result of {@link makePrivate}. */
interface Tightened {
  /** Files and folders that had permission bits for group or others. */
  readonly changed: number
  /** Those of them that other users could write to. */
  readonly wereWritable: number
  /** Those whose bits cannot be removed, each with the reason: another owner, or a disk without permissions. */
  readonly refused: readonly string[]
}

/**
 * Creates a folder that only its owner can enter, or removes all bits for group and others from an existing folder and from
 * everything below it. Symbolic links are not followed. On Windows, where the folder inherits its permissions, it only
 * creates the folder. Throws when the folder is shared by design, or contains this program.
 */
export function makePrivate(folder: string): Tightened {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (process.platform === 'win32') return { changed: 0, wereWritable: 0, refused: [] }
  const home = realpathSync(folder)
  assertOwnFolder(home)
  const found = { changed: 0, wereWritable: 0 }
  const refused = new Map<string, string>()
  const restrict = (path: string, isFolder: boolean): void => {
    // The folder first: then nobody else can reach the files below it.
    const outcome = takeBits(path)
    if (outcome?.reason !== undefined) refused.set(path, outcome.reason)
    else if (outcome) found.changed += 1
    if (outcome?.wasWritable) found.wereWritable += 1
    if (!isFolder) return
    try {
      for (const entry of readdirSync(path, { withFileTypes: true }))
        if (entry.isFile() || entry.isDirectory()) restrict(join(path, entry.name), entry.isDirectory())
    } catch (error) {
      const reason = whyUnreadable(path, error)
      if (reason !== undefined) refused.set(path, reason)
    }
  }
  restrict(home, true)
  return { ...found, refused: [...refused].map(([path, reason]) => `${path} (${reason})`) }
}

/**
 * Returns why this process cannot read a folder. Undefined if the folder was deleted meanwhile, or only root can enter it,
 * such as `lost+found` of a volume.
 */
function whyUnreadable(folder: string, error: unknown): string | undefined {
  const code: unknown = Object(error).code
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  if (code === 'ENOENT' || !stat || (stat.uid === 0 && (stat.mode & groupAndOthers) === 0)) return undefined
  return String(code)
}

function takeBits(path: string): { wasWritable: boolean; reason?: string } | undefined {
  try {
    if ((lstatSync(path).mode & groupAndOthers) === 0) return undefined
    // By descriptor, because the name could have become a link meanwhile.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { mode } = fstatSync(descriptor)
      const wasWritable = (mode & writeOfOthers) !== 0
      fchmodSync(descriptor, mode & 0o7700)
      const remains = (fstatSync(descriptor).mode & groupAndOthers) !== 0
      return { wasWritable, ...(remains && { reason: 'the disk stores no permissions' }) }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const code: unknown = Object(error).code
    // Another process of the service has deleted it.
    if (code === 'ENOENT') return undefined
    return { wasWritable: false, reason: String(code) }
  }
}

function assertOwnFolder(home: string): void {
  const remedy = `use a separate folder, such as ${join(home, 'quartermaster-data')}.`
  if ((statSync(home).mode & sticky) !== 0) throw new Error(`DATA_DIR ${home} is shared by all users: ${remedy}`)
  const program = `${realpathSync(import.meta.dirname)}${sep}`
  if (program.startsWith(home.endsWith(sep) ? home : `${home}${sep}`))
    throw new Error(`DATA_DIR ${home} contains the program itself: ${remedy}`)
}

/**
 * Returns how other users, except root, could change the contents of a folder: one sentence for each way, with the
 * command that fixes it. The folder may not exist yet. Readable files are no fault: {@link makePrivate} fixes them.
 *
 * Parent folders count too, because users who can write to them can replace the folder; with the sticky bit only owners
 * can. The group of a parent is accepted if this process belongs to it, as with private groups (umask 002) and volumes
 * of a group.
 */
export function foreignWriters(folder: string): string[] {
  const user = process.getuid?.()
  if (user === undefined) return []
  const home = futurePath(folder)
  const isForeign = ({ uid }: { uid: number }): boolean => uid !== user && uid !== 0
  const entries = [...reachable(home)]
  const faults: string[] = []
  const writable = entries.filter(({ stat }) => (stat.mode & writeOfOthers) !== 0)
  if (writable.length > 0)
    faults.push(
      `Other users can change DATA_DIR: ${named(writable)}. Check that nobody has changed it, then run: chmod -R go-rwx ${quoted(home)}`,
    )
  const foreign = entries.filter(({ stat }) => isForeign(stat))
  if (foreign.length > 0)
    faults.push(
      `Parts of DATA_DIR belong to another user: ${named(foreign)}. As root, run: chown -R ${user}:${process.getgid?.()} ${quoted(home)}`,
    )
  return [...faults, ...foldersAbove(home).flatMap((above) => faultsAbove(above, home, isForeign))]
}

/** Returns the real path of a folder, which may not exist yet. */
function futurePath(folder: string): string {
  const path = resolve(folder)
  return existsSync(path) ? realpathSync(path) : join(futurePath(dirname(path)), basename(path))
}

/**
 * Yields a folder and everything below it that other users can reach. They reach nothing in a folder that they cannot
 * search.
 */
function* reachable(path: string): Generator<{ path: string; stat: Stats }> {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  // Another process of the service has deleted it.
  if (!stat || stat.isSymbolicLink()) return
  yield { path, stat }
  if (!stat.isDirectory() || (stat.mode & searchOfOthers) === 0) return
  for (const name of readdirSync(path)) yield* reachable(join(path, name))
}

function faultsAbove(above: string, home: string, isForeign: (stat: { uid: number }) => boolean): string[] {
  const stat = statSync(above, { throwIfNoEntry: false })
  // Missing folders are created for the service's user alone.
  if (!stat) return []
  if (isForeign(stat))
    return [
      `DATA_DIR ${home} is in ${above}. This folder belongs to another user (${stat.uid}), who can replace DATA_DIR. Move it, or as root run: chown ${process.getuid?.()} ${quoted(above)}`,
    ]
  if ((stat.mode & sticky) !== 0) return []
  const isOwnGroup = stat.gid === 0 || stat.gid === process.getegid?.() || process.getgroups?.().includes(stat.gid)
  if ((stat.mode & (isOwnGroup ? 0o002 : writeOfOthers)) === 0) return []
  return [
    `DATA_DIR ${home} is in ${above}, where other users can replace it (mode ${modeOf(stat)}). Run: chmod ${isOwnGroup ? 'o-w' : 'go-w'} ${quoted(above)}`,
  ]
}

function foldersAbove(path: string): string[] {
  const above = dirname(resolve(path))
  return above === path ? [] : [above, ...foldersAbove(above)]
}

type Found = { readonly path: string; readonly stat: { readonly mode: number; readonly uid: number } }

/** Names the first three files: the command fixes all. */
const named = (found: readonly Found[]): string =>
  `${found
    .slice(0, 3)
    .map(({ path, stat }) => `${path} (mode ${modeOf(stat)}, user ${stat.uid})`)
    .join(', ')}${found.length > 3 ? ` and ${found.length - 3} more` : ''}`

const modeOf = ({ mode }: { mode: number }): string => (mode & 0o777).toString(8)

/** Quotes a path for a shell. */
const quoted = (path: string): string => (/^[\w./:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

/** An exclusive lock on a data folder, released by `release` or by any end of the process. */
interface StoreLock {
  release(): void
}

/** Another process, or another store of this process, has locked the data folder. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse'
}

/**
 * Locks a data folder for this process. Two processes on one PGlite folder silently lose data, and PGlite has no lock.
 * SQLite uses a lock of the operating system, which ends with the process, also after `kill -9`. Throws {@link
 * StoreInUse} with the name of a locked folder.
 */
export function lockStore(folder: string, lockFile: string): StoreLock {
  // SQLite would create a file that others can read. Its other files get the mode of this one.
  closeSync(openSync(lockFile, 'a', 0o600))
  const database = new DatabaseSync(lockFile)
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw error
    throw new StoreInUse(
      `The data folder ${folder} is in use by another process: the service probably runs already. Stop it, or set PORT, SIMULATOR_PORT and DATA_DIR to run a second one.`,
      {
        cause: error,
      },
    )
  }
  return { release: () => database.close() }
}

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
