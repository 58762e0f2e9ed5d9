import { crc32 } from 'node:zlib'

/** One file of an archive. */
export interface ZipEntry {
  readonly name: string
  readonly content: Buffer
}

/** The first date of the format, for all entries: the same content gives the same archive. */
const date = (1 << 5) | 1
const version = 20
const utf8Names = 0x0800

/**
 * Creates a zip archive without compression (PKWARE APPNOTE.TXT 6.3, method 0), which suffices for an app package of three
 * small files, two of them PNGs that are already compressed.
 */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const fields = fieldsOf(name, content)
    const file = Buffer.concat([long(0x04034b50), ...fields, short(0), Buffer.from(name), content])
    // Fields of the directory only: comment, disk and attributes, which are empty, and the offset of the file.
    const only = [short(0), short(0), short(0), short(0), long(0), long(offset)]
    directory.push(Buffer.concat([long(0x02014b50), short(version), ...fields, ...only, Buffer.from(name)]))
    files.push(file)
    offset += file.length
  }
  const central = Buffer.concat(directory)
  const count = short(entries.length)
  const end = [long(0x06054b50), short(0), short(0), count, count, long(central.length), long(offset), short(0)]
  return Buffer.concat([...files, central, ...end])
}

/** Returns the fields of a file's header and directory entry: flags, method, time, date, checksum, sizes, length of the name. */
function fieldsOf(name: string, content: Buffer): Buffer[] {
  const size = long(content.length)
  const checksum = long(crc32(content))
  return [
    short(version),
    short(utf8Names),
    short(0),
    short(0),
    short(date),
    checksum,
    size,
    size,
    short(Buffer.byteLength(name)),
  ]
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
