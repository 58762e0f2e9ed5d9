import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { openApiOf, routes } from '../../src/http/index.ts'
import { contractFault } from '../support/contract.ts'
import { startIssuer, startRest } from '../support/rest.ts'

const scopes = { collab: 'api://sites/App.ReadWrite.All', mail: 'api://mailboxes/App.ReadWrite.All' }
const access = {
  baseUrl: 'https://provisioning.contoso.example',
  authority: 'https://login.contoso.example/t',
  scopes,
}
const document = openApiOf(routes, access)

describe('the API document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(JSON.stringify(document)))).toMatchObject({ valid: true })
  })

  it('follows Redocly’s strict recommendations', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const source = JSON.stringify(document)
    const found = await lintFromString({ source, absoluteRef: '/openapi.json', config })
    // The address of each creation ends with a slash, as in the API document that the service implements.
    const isOurSlash = ({ ruleId }: (typeof found)[number]) => ruleId === 'no-path-trailing-slash'
    expect(found.filter((one) => !isOurSlash(one)).map(({ message }) => message)).toEqual([])
    expect(found.filter(isOurSlash)).toHaveLength(2)
  })

  it('passes spectral:oas without errors and warnings', async () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'spectral-'))
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(document))
    const spectral = 'node_modules/@stoplight/spectral-cli/dist/index.js'
    const options = ['--ruleset', 'test/support/spectral.yaml', '--fail-severity', 'hint', '--format', 'text']
    const { stdout } = await promisify(execFile)(process.execPath, [spectral, 'lint', file, ...options])
    expect(stdout).toContain("No results with a severity of 'hint' or higher found!")
  })

  it('describes the effect of every operation', () => {
    const lacking = routes.filter(({ description }) => !/^[A-Z].{20,}\.$/s.test(description)).map(({ id }) => id)
    expect(lacking).toEqual([])
    expect(new Set(routes.map(({ description }) => description)).size).toBeGreaterThan(routes.length - 2)
  })

  it('uses only formats of JSON Schema', () => {
    const formats = new Set([...JSON.stringify(document).matchAll(/"format":"([^"]*)"/g)].map(([, format]) => format))
    expect([...formats].toSorted()).toEqual(['date', 'date-time', 'uri', 'uri-reference', 'uuid'])
    const { type } = Object(document.components).schemas.Problem.properties
    expect(type).toEqual({ type: 'string', pattern: '^urn:quartermaster:problem:' })
  })

  it('contains every route with its scopes', () => {
    const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(document)
    const known = Object.entries(paths).flatMap(([path, calls]) => Object.keys(calls).map((verb) => `${verb} ${path}`))
    const written = (path: string) =>
      path.replace(/:(\w+)/g, '{$1}').replace(/^\/(collab\/v1\/spo|mail\/v1\/mailboxes)$/, '$&/')
    const wanted = routes.map(({ method, path }) => `${method.toLowerCase()} ${written(path)}`)
    expect(known.toSorted()).toEqual(wanted.toSorted())
    expect(paths['/collab/v1/spo/']?.['post']).toMatchObject({
      security: [{ entra: [scopes.collab] }, { token: [] }],
    })
  })

  it('shows the scopes from the settings, for people and applications', () => {
    const { entra } = Object(document.components).securitySchemes
    expect(Object.keys(entra.flows.authorizationCode.scopes)).toEqual([scopes.collab, scopes.mail])
    expect(Object.keys(entra.flows.clientCredentials.scopes)).toEqual(['api://mailboxes/.default'])
    const named = JSON.stringify(document).match(/[^"]+\/(App\.ReadWrite\.All|\.default)(?=")/g)
    expect(new Set(named)).toEqual(new Set([scopes.collab, scopes.mail, 'api://mailboxes/.default']))
  })

  it('shows a scope once if both APIs share a registration', () => {
    const one = openApiOf(routes, { ...access, scopes: { collab: scopes.collab, mail: scopes.collab } })
    expect(Object(one.paths)['/templates/v1'].get.security).toEqual([
      { entra: [scopes.collab] },
      { entra: ['api://sites/.default'] },
      { token: [] },
    ])
  })

  it('describes the token that each call needs', () => {
    const described = (path: string, method: string) => Object(document['paths'])[path][method].description
    const [collab, mail] = [`\`${scopes.collab}\``, `\`${scopes.mail}\``]
    const person = 'Needs an access token of a person (delegated) for the scope'
    const application = 'An application without a person can use a token for `api://mailboxes/.default`'
    expect(described('/collab/v1/spo/', 'post')).toContain(
      `\n\n${person} ${collab}. Applications without a person cannot make this call.`,
    )
    expect(described('/mail/v1/mailboxes/', 'post')).toContain(`${person} ${mail}. ${application}`)
    expect(described('/templates/v1', 'get')).toContain(`${person} ${collab} or ${mail}. ${application}`)
    expect(described('/requests/v1/{requestId}/approve', 'post')).toMatch(
      /Applications without a person cannot make this call\.$/,
    )
    expect(described('/templates/v1/{templateId}', 'put')).toMatch(
      /of an admin \(delegated\).*cannot make this call\.$/,
    )
    expect(described('/requests/v1/batch', 'post')).toMatch(/for the API of the resource in the body\.$/)
    expect(described('/healthz', 'get')).toMatch(/\n\nNeeds no token\.$/)
    const all = z.record(
      z.string(),
      z.record(z.string(), z.looseObject({ description: z.string(), security: z.array(z.any()) })),
    )
    for (const operation of Object.values(all.parse(document['paths'])).flatMap((calls) => Object.values(calls))) {
      const isForApplications = JSON.stringify(operation.security).includes('.default')
      expect(operation.description.includes('An application without a person can use a token')).toBe(isForApplications)
    }
  })

  it('has no examples of optional headers, which the page would send', () => {
    const { parameters } = z
      .object({ parameters: z.record(z.string(), z.looseObject({ required: z.boolean(), description: z.string() })) })
      .parse(document.components)
    expect(Object.keys(parameters)).toEqual(expect.arrayContaining(['Idempotency-Key', 'traceparent', 'If-Match']))
    for (const { required, example, description } of Object.values(parameters)) {
      expect(example === undefined).toBe(!required)
      expect(description.includes('For example')).toBe(!required)
    }
  })

  it('is public, and is sent once for each version of the service', async () => {
    const get = await startDocs()
    const first = await get('/openapi.json')
    expect([first.body.openapi, first.body.servers[0].url]).toEqual(['3.1.1', access.baseUrl])
    expect(Object.keys(first.body.paths)).toEqual(Object.keys(Object(document['paths'])))
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await get('/openapi.json/', headers)).status).toBe(304)
  })
})

/** Reads an address without a token, like a browser, and compares the answer with the document. */
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

describe('the page with the API document', () => {
  it('loads only files of the service', async () => {
    const get = await startDocs()
    const page = await get('/docs')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = page.headers.get('content-security-policy')?.split('; ')
    const tokenUrl = `${(await get('/openapi.json')).body.components.securitySchemes.entra.flows.clientCredentials.tokenUrl}`
    expect(policy?.toSorted()).toEqual(
      [
        ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
        ...[`connect-src 'self' ${tokenUrl}`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
      ].toSorted(),
    )
    const redirect = await get('/docs/oauth2-redirect.html')
    expect([redirect.status, redirect.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(redirect.headers.get('content-security-policy')).not.toContain('connect-src')
    expect((await get('/docs/oauth2-redirect.js')).status).toBe(200)
    expect((await get('/docs/start.js')).text).toContain('const clientId = ""\n')
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part)
    expect(parts.filter((part) => !part.startsWith('/docs/'))).toEqual(['data:,'])
    for (const part of parts.filter((one) => one.startsWith('/docs/')))
      expect([part, (await get(part)).status]).toEqual([part, 200])
    expect((await get('/docs/package.json')).body.code).toBe('no-such-address')
  })
})
