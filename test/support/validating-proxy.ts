import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, inject } from 'vitest'
import { freePort } from '../../src/app/free-port.ts'
import { startServer } from './http-server.ts'
import { type ProductProcess, startProcess } from './process.ts'
import type { Service } from './service.ts'

const prism = fileURLToPath(new URL('../../node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url))

export interface ValidatingProxy {
  readonly url: string
  /** Removes a field from the next answers, until the returned function is called. */
  dropField(name: string): () => void
}

/**
 * Starts Prism in front of a service, with the service's own OpenAPI document, once for the tests of a block. Prism answers with
 * its own error if a request or an answer violates the document.
 */
export function withValidatingProxy(service: Service): ValidatingProxy {
  let proxy: ProductProcess | undefined
  let relay: Awaited<ReturnType<typeof startServer>> | undefined
  let url = ''
  let dropped = ''
  beforeAll(async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'prism-'))
    const file = join(folder, 'openapi.json')
    writeFileSync(file, await (await fetch(`${service.app.url}/openapi.json`)).text())
    relay = await startServer(async (request, response) => {
      const body = await buffer(request)
      const { host: _, connection: __, 'content-length': ___, ...sent } = request.headers
      const answer = await fetch(`${service.app.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(sent).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
        redirect: 'manual',
        ...(body.length > 0 && { body }),
      })
      const text = await answer.text()
      const headers = Object.fromEntries(answer.headers)
      delete headers['content-length']
      delete headers['transfer-encoding']
      response.writeHead(answer.status, headers)
      response.end(dropped === '' ? text : without(text, dropped))
    })
    const port = await freePort()
    const command = [process.execPath, prism, 'proxy', '--errors', '-p', String(port), file, relay.url]
    proxy = await startProcess(command, { cwd: folder, variables: {}, up: /Prism is listening/ })
    url = `http://127.0.0.1:${port}`
  }, 120_000)
  afterAll(async () => {
    await proxy?.stop()
    await relay?.close()
  })
  return {
    get url() {
      return url
    },
    dropField(name) {
      dropped = name
      return () => {
        dropped = ''
      }
    },
  }
}

function without(text: string, field: string): string {
  const { [field]: _, ...rest } = JSON.parse(text)
  return JSON.stringify(rest)
}
