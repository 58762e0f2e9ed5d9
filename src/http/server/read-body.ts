import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from './problem.ts'

/** The largest bodies, in bytes (DESIGN §5). */
export const largestBody = { api: 64 * 1024, messages: 256 * 1024 } as const

/** How much more than allowed is read and thrown away, so that the sender gets to read the refusal. Bytes. */
const discardedAtMost = 1024 * 1024

/**
 * Reads a JSON body as raw bytes, or gives undefined when there is none. Nothing is decompressed: restify's own parser
 * ends the process on garbage that calls itself gzip, and counts bytes before they are inflated. Throws 415 for another
 * media type, charset or any content coding, and 413 when there are more than `limit` bytes, announced or not.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer | undefined> {
  const { headers } = request
  const announced = Number(headers['content-length'] ?? 0)
  if (announced === 0 && headers['transfer-encoding'] === undefined) return undefined
  refuseOtherMedia(request)
  if (announced > limit + discardedAtMost) throw tooLarge(limit)
  if (headers.expect !== undefined) response.writeContinue()
  const chunks: Buffer[] = []
  let size = 0
  try {
    // The socket must outlive the reading, for it carries the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else if (size > limit + discardedAtMost) break
    }
  } catch (cause) {
    throw new HttpError('malformed-request', 'The body ended before it was whole.', { cause })
  }
  if (size > limit) throw tooLarge(limit)
  return Buffer.concat(chunks)
}

const tooLarge = (limit: number): HttpError =>
  new HttpError('body-too-large', `The body may have at most ${limit / 1024} KiB.`, {
    headers: { Connection: 'close' },
  })

function refuseOtherMedia({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'identity') {
    throw new HttpError('unsupported-media-type', 'Send the body without a content coding.', {
      headers: { 'Accept-Encoding': 'identity' },
    })
  }
  const [type, ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.replace(/^charset="?|"$/g, '')
  if (type === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return
  throw new HttpError('unsupported-media-type', 'Send the body as application/json in UTF-8.', {
    headers: { Accept: 'application/json' },
  })
}
