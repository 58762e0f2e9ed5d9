import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** A stream of emscripten's NODEFS; only the members used here (emscripten library_nodefs.js). */
interface Stream {
  /** The descriptor of a file; absent for a folder. */
  readonly nfd?: number
  readonly node: unknown
}
interface FileSystem {
  readonly ErrnoError: new (errno: number) => Error
}
interface Attributes {
  mode?: number | null
}
interface NodeFiles {
  readonly stream_ops: { fsync?: (stream: Stream) => number; setattr: (stream: Stream, change: Attributes) => void }
  readonly node_ops: {
    mknod: (parent: unknown, name: string, mode: number, device: number) => unknown
    setattr: (node: unknown, change: Attributes) => void
  }
  realPath(node: unknown): string
}
type Start = Parameters<NodeFS['init']>[1]
type Module = Parameters<Exclude<NonNullable<Start['preRun']>, (...args: never) => unknown>[number]>[0]

/**
 * EIO in emscripten's numbering (WASI). PostgreSQL panics on it, as it should when the disk cannot store a commit.
 */
const INPUT_OUTPUT_ERROR = 29

/**
 * PGlite's NodeFS with a real fsync: PGlite has no fsync, so a power failure would lose commits. Only the owner can
 * read its files: PGlite sets modes such as 0666 explicitly and ignores the umask.
 */
export class DurableFiles extends NodeFS {
  /** How often PostgreSQL has flushed data to disk. */
  flushes = 0

  override async init(...[pglite, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pglite, options)
    const change = (module: Module) => {
      // PGlite's types lack these two members of the emscripten module.
      const FS: FileSystem = Reflect.get(module, 'FS')
      const NODEFS: NodeFiles = Reflect.get(module, 'NODEFS')
      keepPrivate(NODEFS)
      NODEFS.stream_ops.fsync = (stream) => {
        this.flushes += 1
        try {
          if (stream.nfd === undefined) syncFolder(NODEFS.realPath(stream.node))
          else fdatasyncSync(stream.nfd)
          return 0
        } catch {
          throw new FS.ErrnoError(INPUT_OUTPUT_ERROR)
        }
      }
    }
    const before = emscriptenOpts.preRun ?? []
    const preRun = [...(Array.isArray(before) ? before : [before]), change]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }
}

/** Limits the mode of everything that PostgreSQL creates or changes to its owner. */
function keepPrivate({ node_ops, stream_ops }: NodeFiles): void {
  const own = (mode: number): number => mode & ~0o077
  const { mknod, setattr } = node_ops
  const { setattr: setStream } = stream_ops
  const narrowed = (change: Attributes): Attributes =>
    typeof change.mode === 'number' ? { ...change, mode: own(change.mode) } : change
  node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, own(mode), device)
  node_ops.setattr = (node, change) => setattr(node, narrowed(change))
  stream_ops.setattr = (stream, change) => setStream(stream, narrowed(change))
}

/** Flushes a folder's own entries (new, renamed and deleted names). */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Gives a file a second name. Throws `EEXIST` if the name exists. */
export type Link = (file: string, name: string) => void

/** Codes of `link` on disks without hard links, such as exFAT, SMB and FUSE. */
const withoutLinks: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * Renames a finished draft to a new name and flushes the folder. Throws `EEXIST` if another process has created the name
 * meanwhile. The draft may stay next to it. On a disk without hard links, the new file is empty for a moment.
 */
export function renameToNew(draft: string, name: string, link: Link = linkSync): void {
  try {
    // A link, unlike a rename, never replaces a file.
    link(draft, name)
  } catch (error) {
    if (!withoutLinks.includes(Object(error).code)) throw error
    closeSync(openSync(name, 'wx', 0o600))
    try {
      renameSync(draft, name)
    } catch (failure) {
      rmSync(name)
      throw failure
    }
  }
  syncFolder(dirname(name))
}

/** Flushes every file and folder below a folder: PGlite copies a new store into its folder without a flush. */
export function syncTree(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() || entry.isDirectory()) syncFolder(join(entry.parentPath, entry.name))
  }
  syncFolder(folder)
}

/** Measures one flush of this folder's disk, which every commit needs. Milliseconds. */
export function measureFlush(folder: string): number {
  const probe = join(folder, 'flush.probe')
  const descriptor = openSync(probe, 'w', 0o600)
  try {
    writeSync(descriptor, 'probe')
    const start = performance.now()
    fdatasyncSync(descriptor)
    return performance.now() - start
  } finally {
    closeSync(descriptor)
    rmSync(probe)
  }
}

/** Returns the path of a restored store, complete and flushed, until it replaces `folder`. */
const waiting = (folder: string): string => `${folder}.restored`

/**
 * Replaces the store in `folder` by the store in `fresh`, and keeps the replaced files in `kept`. If the process dies
 * meanwhile, {@link finishRestore} makes up for it.
 */
export function replaceStore(folder: string, fresh: string, kept: string): void {
  const parent = dirname(folder)
  renameSync(fresh, waiting(folder))
  syncFolder(parent)
  if (existsSync(folder)) {
    renameSync(folder, kept)
    syncFolder(parent)
  }
  renameSync(waiting(folder), folder)
  syncFolder(parent)
}

/** Whether a folder exists and is not empty. */
export const isOccupied = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0

/**
 * Ends a replacement of the store that a dead process started. Finishes it if `folder` has no store. Otherwise the old
 * store is still in use and stays: the restored one is deleted, because later it would be stale, and its backup still
 * exists. The caller holds the store's lock.
 */
export function finishRestore(folder: string): void {
  if (!existsSync(waiting(folder))) return
  if (isOccupied(folder)) rmSync(waiting(folder), { recursive: true, force: true })
  else renameSync(waiting(folder), folder)
  syncFolder(dirname(folder))
}
