import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openApiOf, routes } from '../src/http/index.ts'
import { contractFault } from './support/contract.ts'
import { startIssuer, startRest } from './support/rest.ts'

const access = { baseUrl: 'https://provisioning.contoso.example', authority: 'https://login.contoso.example/t' }
const document = openApiOf(routes, access)

/** A tool that judges the document; undefined where it is not installed. */
const tool = (name: string): Promise<unknown> => import(name).catch(() => undefined)
const [validator, linter, viewer] = await Promise.all([
  tool('@seriousme/openapi-schema-validator'),
  tool('@redocly/openapi-core'),
  tool('swagger-ui-dist/absolute-path.js'),
])
const call = <T>() => z.custom<T>((value) => typeof value === 'function')

describe('the API document', () => {
  it.skipIf(!validator)('is OpenAPI 3.1, by its own schema', async () => {
    type Validator = new () => { validate(given: unknown): Promise<{ valid: boolean; errors?: unknown }> }
    const { Validator } = z.object({ Validator: call<Validator>() }).parse(validator)
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toMatchObject({ valid: true })
  })

  it.skipIf(!linter)('has nothing that Redocly’s strict recommendations mind', async () => {
    type CreateConfig = (config: { extends: string[] }) => Promise<unknown>
    type Lint = (given: { source: string; absoluteRef: string; config: unknown }) => Promise<{ message: string }[]>
    const { createConfig, lintFromString } = z
      .object({ createConfig: call<CreateConfig>(), lintFromString: call<Lint>() })
      .parse(linter)
    const config = await createConfig({ extends: ['recommended-strict'] })
    const source = JSON.stringify(document)
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    expect(found.map(({ message }) => message)).toEqual([])
  })

  it('has every route, with its scopes', () => {
    const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(document)
    const known = Object.entries(paths).flatMap(([path, calls]) => Object.keys(calls).map((verb) => `${verb} ${path}`))
    const wanted = routes.map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(known.toSorted()).toEqual(wanted.toSorted())
    expect(paths['/collab/v1/spo']?.['post']).toMatchObject({
      security: [{ entra: [`${access.baseUrl}/collab/App.ReadWrite.All`] }, { token: [] }],
    })
  })

  it('is served to everybody, once for each version of the service', async () => {
    const get = await startDocs()
    const first = await get('/openapi.json')
    expect([first.body.openapi, first.body.servers[0].url]).toEqual(['3.1.1', access.baseUrl])
    expect(Object.keys(first.body.paths)).toEqual(Object.keys(Object(document['paths'])))
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await get('/openapi.json/', headers)).status).toBe(304)
  })
})

/** Asks without a token, as a browser does; each answer is held against the document. */
async function startDocs() {
  const { server } = await startRest(await startIssuer())
  return async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, { headers })
    const text = await response.text()
    const body = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined
    const answer = { status: response.status, headers: response.headers, text, body }
    expect(contractFault({ method: 'GET', path }, answer)).toBeUndefined()
    return answer
  }
}

describe('the page that shows it', () => {
  it.skipIf(!viewer)('comes whole from the service, which lets it load nothing else', async () => {
    const get = await startDocs()
    const page = await get('/docs')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part)
    expect(parts.filter((part) => !part.startsWith('/docs/'))).toEqual(['data:,'])
    for (const part of parts.filter((one) => one.startsWith('/docs/')))
      expect([part, (await get(part)).status]).toEqual([part, 200])
    expect((await get('/docs/package.json')).body.code).toBe('no-such-address')
  })

  it.skipIf(viewer)('is not there where the viewer is not installed', async () => {
    const get = await startDocs()
    expect((await get('/docs')).body.code).toBe('no-such-address')
  })
})
