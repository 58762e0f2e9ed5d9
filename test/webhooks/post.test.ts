import { once } from 'node:events'
import http, { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { reasonText } from '../../src/cards/index.ts'
import { createWebhookPoster, type PosterOptions } from '../../src/jobs/webhooks/post.ts'
import { selfSigned } from '../support/certificates.ts'
import { addressesToRefuse } from '../support/webhook-addresses.ts'

const loopback = ['127.0.0.0/8', '::1/128']
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A receiver on this machine that records the requests it gets. */
async function receiver(listener: RequestListener, tls?: { key: string; cert: string }) {
  let met = 0
  const count: RequestListener = (request, response) => {
    met += 1
    listener(request, response)
  }
  const server = tls ? createTlsServer(tls, count) : createServer(count)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((closed) => server.close(closed))
  })
  return { port: (server.address() as AddressInfo).port, met: () => met, server }
}

/** Resolves at the end of the next connection, with or without an error. */
const nextCut = (server: Server): Promise<void> =>
  new Promise((ended) =>
    server.once('connection', (socket) => socket.on('error', () => undefined).once('close', () => ended())),
  )

const never = new AbortController().signal
const nobody = async (): Promise<never> => {
  throw new Error('nobody expected a look-up')
}
function poster(more: Partial<PosterOptions> = {}) {
  const post = createWebhookPoster({
    allowCidrs: loopback,
    resolveHost: nobody,
    assertOutside: () => undefined,
    texts: { reason: reasonText },
    ...more,
  })
  return (url: string, anywhere = false, signal = never) =>
    post({ url, headers: { 'content-type': 'application/json' }, body: '{"a":1}', anywhere, signal })
}
const answerWith =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end()
  }

describe('posting a webhook', () => {
  it('sends it unchanged and returns the answer with its Retry-After', async () => {
    const bodies: string[] = []
    const { port } = await receiver(async (request, response) => {
      for await (const chunk of request) bodies.push(String(chunk))
      response.writeHead(503, { 'retry-after': '120' })
      response.end('busy')
    })
    expect(await poster()(`http://127.0.0.1:${port}/hook`)).toEqual({ status: 503, retryAfter: '120' })
    expect(bodies).toEqual(['{"a":1}'])
  })

  it.each([301, 302, 303, 307, 308])('returns a redirect (%i) as the answer and does not follow it', async (status) => {
    const target = await receiver(answerWith(200))
    const { port } = await receiver(answerWith(status, { location: `http://127.0.0.1:${target.port}/` }))
    expect(await poster()(`http://127.0.0.1:${port}/`)).toMatchObject({ status })
    expect(target.met()).toBe(0)
  })

  it('ignores the proxy of the environment', async () => {
    const proxy = await receiver(answerWith(200))
    const { port, met } = await receiver(answerWith(204))
    const before = http.globalAgent
    http.globalAgent = new http.Agent({ proxyEnv: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` } })
    try {
      const [answer] = await once(http.get(`http://127.0.0.1:${port}/`), 'response')
      answer.resume()
      expect([proxy.met(), met()]).toEqual([1, 0])
      expect(await poster()(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 204 })
    } finally {
      http.globalAgent = before
    }
    expect([proxy.met(), met()]).toEqual([1, 1])
  })

  it('refuses an untrusted certificate, regardless of the environment', async () => {
    const { key, certificate } = selfSigned()
    const { port, met } = await receiver(answerWith(204), { key, cert: certificate })
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      expect(await poster()(`https://127.0.0.1:${port}/`)).toEqual({
        ...{ problem: 'unreachable', text: expect.stringMatching(/^not reachable \([A-Z_]*CERT[A-Z_]*\)$/) },
      })
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
    expect(met()).toBe(0)
  })

  it('is allowed outside transactions only', () => {
    const assertOutside = (what: string) => {
      throw new Error(`${what} inside a transaction`)
    }
    expect(() => poster({ assertOutside })('http://127.0.0.1/')).toThrow('a webhook inside')
  })
})

describe('the answer to a webhook', () => {
  it.each<[string, RequestListener]>([
    ['that never begins', () => undefined],
    ['whose headers never end', (_, response) => void response.socket?.write('HTTP/1.1 200 OK\r\nx-a: b\r\n')],
    [
      'whose body never ends',
      (_, response) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write('.'), 20)
        response.on('close', () => clearInterval(drip))
      },
    ],
  ])('is cut at the time-out: %s', async (_, listener) => {
    const { port, server } = await receiver(listener)
    const cut = nextCut(server)
    const answer = await poster({ timeoutMilliseconds: 200 })(`http://127.0.0.1:${port}/`)
    expect(answer).toEqual({ problem: 'timeout', text: 'no answer in 0.2 s' })
    await cut
  })

  it('is cut when the name lookup takes too long', async () => {
    const resolveHost = () => new Promise<never>(() => undefined)
    expect(await poster({ resolveHost, timeoutMilliseconds: 100 })('https://slow.example/')).toMatchObject({
      problem: 'timeout',
    })
  })

  it('is read up to 64 KiB, and its status counts', async () => {
    let sent = 0
    const { port, server } = await receiver((_, response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write(Buffer.alloc(16_384))) sent += 16_384
      }
      response.on('drain', more)
      more()
    })
    const cut = nextCut(server)
    expect(await poster()(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 })
    await cut
    // The kernel's buffers hold more bytes that nobody reads.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it.each<[string, RequestListener]>([
    ['that breaks off before it begins', (_, response) => response.destroy()],
    [
      'that breaks off in its body',
      (_, response) => {
        response.writeHead(200, { 'content-length': '10' })
        response.write('half', () => response.destroy())
      },
    ],
    ['that is none', (_, response) => void response.socket?.end('hello\r\n\r\n')],
  ])('is an error: %s', async (_, listener) => {
    const { port } = await receiver(listener)
    expect(await poster()(`http://127.0.0.1:${port}/`)).toMatchObject({ problem: 'unreachable' })
  })

  it('is unknown when the process stops, so the post rejects', async () => {
    const { port } = await receiver(() => undefined)
    const stopping = new AbortController()
    const posted = poster()(`http://127.0.0.1:${port}/`, false, stopping.signal)
    stopping.abort(new Error('stopping'))
    await expect(posted).rejects.toThrow('stopping')
  })
})

describe('connecting to a forbidden address is refused', () => {
  it.each(addressesToRefuse)('%s', async (url) => {
    expect(await poster({ allowCidrs: [] })(url)).toMatchObject({ problem: 'forbidden' })
  })

  it.each([
    ['one public and one private answer', ['93.184.216.34', '10.0.0.1']],
    ['a private answer behind many public ones', ['93.184.216.34', '2606:4700::1111', '8.8.8.8', 'fd00::1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['a link-local address with its zone', ['fe80::1%eth0']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['IPv4 behind a translator', ['64:ff9b::7f00:1']],
    ['something that is no address', ['localhost']],
  ])('for a name with %s', async (_, addresses) => {
    const answer = await poster({ allowCidrs: [], resolveHost: async () => addresses })(
      'https://hooks.contoso.example/',
    )
    expect(answer).toMatchObject({ problem: 'refused' })
  })

  it.each(['printer.local', 'metadata.google.internal', 'kubernetes.default.svc', 'hooks', 'xn--bcher-kva.example'])(
    'for a name of the internal network: %s',
    async (name) => {
      const post = poster({ allowCidrs: [], resolveHost: async () => ['169.254.169.254'] })
      expect(await post(`https://${name}/`)).toMatchObject({ problem: 'refused' })
    },
  )

  it('for a changing name: one lookup, and a connection to its checked address', async () => {
    const { port, met } = await receiver(answerWith(204))
    const replies = [['127.0.0.1'], ['127.0.0.2'], ['10.0.0.1']]
    let lookups = 0
    const resolveHost = async () => replies[lookups++] ?? []
    const post = poster({ resolveHost })
    expect(await post(`http://localhost:${port}/`)).toMatchObject({ status: 204 })
    expect([lookups, met()]).toEqual([1, 1])
    // Nobody listens at the second address, so the connection went to this one.
    expect(await post(`http://localhost:${port}/`)).toMatchObject({ problem: 'unreachable' })
    expect(await post(`http://localhost:${port}/`)).toMatchObject({ problem: 'refused' })
    expect([lookups, met()]).toEqual([3, 1])
  })

  it('not for a name without an address, which is only unreachable', async () => {
    const gone = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    const text = 'not reachable (ENOTFOUND)'
    const post = (resolveHost: PosterOptions['resolveHost']) => poster({ resolveHost })('https://gone.example/')
    expect(await post(() => Promise.reject(gone))).toEqual({ problem: 'unreachable', text })
    expect(await post(async () => [])).toEqual({ problem: 'unreachable', text })
  })

  it('not for the service’s own receiver', async () => {
    const { port } = await receiver(answerWith(204))
    const post = poster({ allowCidrs: [], resolveHost: async () => ['127.0.0.1'] })
    expect(await post(`http://127.0.0.1:${port}/webhooks/provisioning`, true)).toMatchObject({ status: 204 })
    expect(await post(`http://quartermaster.internal:${port}/`, true)).toMatchObject({ status: 204 })
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ problem: 'forbidden' })
  })
})
