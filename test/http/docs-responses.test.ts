import { describe, expect, test } from 'vitest'
import { readDocsFile, readOpenApi } from '../../src/http/routes/operations/docs.ts'
import { startIssuer, startRest } from '../support/rest.ts'

const nothing = { params: undefined, query: {}, body: undefined }

describe('a public file', () => {
  test('of the page is read once, and all callers get the same bytes', async () => {
    const ask = () =>
      readDocsFile.prepare({ ...nothing, params: { file: 'swagger-ui-bundle.js' } })(
        {} as Parameters<ReturnType<typeof readDocsFile.prepare>>[0],
      )
    const [one, other] = await Promise.all([ask(), ask()])
    if (typeof one !== 'object' || typeof other !== 'object') throw new Error('nothing was answered')
    expect(one.body).toBeInstanceOf(Uint8Array)
    expect(one.body).toBe(other.body)
  })

  test('with the API document is JSON, and is not sent again to callers who have it', async () => {
    const rest = await startRest(await startIssuer())
    const ask = (init: RequestInit = {}) => fetch(`${rest.server.url}${readOpenApi.path}`, init)
    const first = await ask()
    const text = await first.text()
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.1' })
    const again = await ask({ headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const head = await ask({ method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
  })
})
