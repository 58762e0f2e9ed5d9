import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { type PromisedNode, promisedNodes } from '../support/promised-nodes.ts'
import { until } from '../support/until.ts'

const folder = 'docs/integrators'
const receivers = readdirSync(folder).filter((name) => /\.(ts|mjs)$/.test(name))
const runs = promisedNodes.flatMap((node) => receivers.map((file) => ({ file, node, on: node.name })))
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const message = JSON.stringify({
  type: 'site.provisioned',
  timestamp: '2026-11-20T09:00:00.000Z',
  requestId: randomUUID(),
  tenantId: randomUUID(),
  data: { reference: 'REQ-1042', displayName: 'Zürich', url: 'https://contoso.sharepoint.com/sites/zurich' },
})
const line = 'site.provisioned REQ-1042 https://contoso.sharepoint.com/sites/zurich'

/** Returns the receiver's script: JavaScript and the client package for a Node that strips no types. */
function scriptOf(file: string, node: PromisedNode): string {
  const source = join(folder, file)
  if (file.endsWith('.mjs') || node.flag === '--input-type=module-typescript') return source
  const script = join(node.folder(), file.replace('.ts', '.mjs'))
  writeFileSync(
    script,
    node.program(readFileSync(source, 'utf8').replace('../../src/client/index.ts', 'quartermaster')),
  )
  return script
}

/** Runs the receiver in its own process, and collects its output. */
async function start(file: string, node: PromisedNode): Promise<{ url: string; shown(): string[] }> {
  const port = await freePort()
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret }
  const child: ChildProcess = spawn(node.command, [scriptOf(file, node)], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data) => {
      text += String(data)
    })
  onTestFinished(async () => {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  })
  await until(() => text.includes('Listening on') || undefined, `${file} to listen, but: ${text}`)
  return { url: `http://127.0.0.1:${port}/hooks/sites`, shown: () => text.split('\n').slice(1, -1) }
}

function signed(body: string, { id = randomUUID(), at = new Date(), by = secret } = {}) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  }
}

describe.each(runs)('the receiver $file of the pages for integrators, on $on,', ({ file, node }) => {
  it('accepts the service’s signed deliveries, and handles each once', async () => {
    const { url, shown } = await start(file, node)
    const headers = signed(message)
    const other = `v1,${Buffer.alloc(32).toString('base64')}`
    const rotated = { ...headers, 'webhook-signature': `${other} ${headers['webhook-signature']}` }
    for (const each of [headers, headers, rotated])
      expect((await fetch(url, { method: 'POST', headers: each, body: message })).status).toBe(204)
    await until(() => shown().length > 0 || undefined, 'a line')
    expect(shown()).toEqual([line])
  })

  it('refuses everything else', async () => {
    const { url, shown } = await start(file, node)
    const wrong = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
    const calls: [Record<string, string>, string][] = [
      [{}, message],
      [signed(message, { by: wrong }), message],
      [signed(message), message.replace('zurich', 'elsewhere')],
      [signed(message, { at: new Date(Date.now() - 600_000) }), message],
      [{ ...signed(message), 'webhook-id': randomUUID() }, message],
      [{ ...signed(message), 'webhook-signature': 'v1,short' }, message],
    ]
    for (const [headers, body] of calls) expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401)
    expect(shown()).toEqual([])
  })
})
