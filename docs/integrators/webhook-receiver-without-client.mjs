import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

/** The key is the base64 text after `whsec_`. */
const key = Buffer.from((process.env['WEBHOOK_SECRET'] ?? '').replace(/^whsec_/, ''), 'base64')
if (key.length < 24) throw new Error('WEBHOOK_SECRET is the secret of the template: whsec_ and base64.')
const port = Number(process.env['PORT'] ?? 8080)
/** The ids of handled messages. Keep them for some days in your database, because a message may come again. */
const known = new Set()

/** Returns the original bytes, because parsed and rewritten JSON has another signature. Our bodies are far below 64 KiB. */
async function bodyOf(request) {
  const chunks = []
  for await (const chunk of request) {
    chunks.push(chunk)
    if (chunks.reduce((size, { length }) => size + length, 0) > 65_536) throw new Error('The body is too large.')
  }
  return Buffer.concat(chunks)
}

/** Standard Webhooks 1.0.0: HMAC-SHA256 of `{id}.{timestamp}.{body}`. One of several signatures must be right. */
function isGenuine(headers, body) {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]))
  // An older signature may be a replay by an attacker. A timestamp that is not a number fails as well.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(' ').some((one) => {
    const given = one.startsWith('v1,') ? Buffer.from(one.slice(3), 'base64') : Buffer.alloc(0)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

/** Verifies the message and handles it. Returns the status of the answer. */
async function take(request) {
  const body = await bodyOf(request)
  if (!isGenuine(request.headers, body)) return 401
  const id = String(request.headers['webhook-id'])
  const { type, data } = JSON.parse(body.toString())
  // A test by an admin needs no work.
  if (type === 'webhook.test') return 204
  if (!known.has(id)) console.log(type, data.reference, data.url ?? data.address ?? '')
  known.add(id)
  return 204
}

const server = createServer((request, response) => {
  take(request).then(
    (status) => response.writeHead(status).end(),
    (error) => {
      console.error(error)
      response.destroy()
    },
  )
})
server.listen(port, '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${port}/hooks/sites`))
