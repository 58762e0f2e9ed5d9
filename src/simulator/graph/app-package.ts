import { inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import type { Call } from '../tenant/index.ts'
import { refuse } from './wire.ts'

const https = z.url({ protocol: /^https$/ })
/** The parts of a manifest that Teams requires (schema 1.17). Further properties are accepted. */
const manifestSchema = z.looseObject({
  manifestVersion: z.string().regex(/^(\d+\.\d+|devPreview)$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  id: z.guid().toLowerCase(),
  developer: z.looseObject({
    name: z.string().min(1).max(32),
    websiteUrl: https,
    privacyUrl: https,
    termsOfUseUrl: https,
  }),
  name: z.looseObject({ short: z.string().min(1).max(30), full: z.string().max(100).optional() }),
  description: z.looseObject({ short: z.string().min(1).max(80), full: z.string().min(1).max(4000) }),
  icons: z.looseObject({ color: z.string(), outline: z.string() }),
  accentColor: z.string().regex(/^#[0-9a-fA-F]{6}$/),
  bots: z
    .array(
      z.looseObject({
        botId: z.guid(),
        scopes: z.array(z.enum(['personal', 'team', 'groupChat', 'groupchat', 'copilot'])).nonempty(),
        commandLists: z
          .array(z.looseObject({ commands: z.array(z.looseObject({ title: z.string().max(128) })).max(10) }))
          .optional(),
      }),
    )
    .max(1)
    .optional(),
})
export type Manifest = z.output<typeof manifestSchema>

/** Reads an app package: a zip with the manifest and two icons. Ends the call with 400 for any other body. */
export function readAppPackage(call: Call): Manifest {
  const bad = (message: string) => refuse(call, 400, 'BadRequest', message)
  if (!Buffer.isBuffer(call.body)) return bad('The request must have the content type application/zip.')
  let files: ReadonlyMap<string, Buffer>
  try {
    files = unzip(call.body)
  } catch {
    return bad('The app package is not a valid zip archive.')
  }
  const text = files.get('manifest.json')?.toString('utf8')
  if (text === undefined) return bad('The app package has no manifest.json in its root folder.')
  const result = manifestSchema.safeParse(parsed(text))
  if (!result.success) {
    const [issue] = result.error.issues
    return bad(`Manifest parsing has failed: ${issue?.path.join('.') || 'manifest.json'}: ${issue?.message}.`)
  }
  const { color, outline } = result.data.icons
  for (const [name, size] of [
    [color, 192],
    [outline, 32],
  ] as const) {
    const icon = files.get(name)
    if (!icon) return bad(`The app package has no icon '${name}'.`)
    if (sizeOf(icon) !== `${size}x${size}`) return bad(`The icon '${name}' must be a PNG of ${size} by ${size} pixels.`)
  }
  return result.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns width and height of a PNG (the first chunk is IHDR). */
function sizeOf(png: Buffer): string | undefined {
  const isPng = png.length > 24 && png.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))
  return isPng ? `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}` : undefined
}

const limit = { files: 100, bytes: 30 * 1024 * 1024 }

/** Returns the files of a zip archive (PKWARE APPNOTE.TXT 6.3), stored or deflated. Throws for anything else. */
function unzip(archive: Buffer): ReadonlyMap<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from('504b0506', 'hex'))
  if (end < 0) throw new Error('no directory')
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = Math.min(archive.readUInt16LE(end + 10), limit.files); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== 0x02014b50) throw new Error('no entry')
    const method = archive.readUInt16LE(at + 10)
    const size = archive.readUInt32LE(at + 20)
    const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((field) =>
      archive.readUInt16LE(at + field),
    )
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const content = archive.subarray(start, start + size)
    if (method !== 0 && method !== 8) throw new Error('unknown method')
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    files.set(name, method === 0 ? content : inflateRawSync(content, { maxOutputLength: limit.bytes }))
    at += 46 + nameLength + extraLength + commentLength
  }
  return files
}
