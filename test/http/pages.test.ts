import { describe, expect, it } from 'vitest'
import { manifestFor } from '../../manifest/build.ts'
import { contractFault } from '../support/contract.ts'
import { coreWith, startIssuer, startRest } from '../support/rest.ts'

const { developer } = manifestFor({
  MICROSOFT_APP_ID: '0c0ffee0-3333-4333-8333-000000000001',
  BASE_URL: 'https://quartermaster.contoso.example',
})
const paths = [developer.websiteUrl, developer.privacyUrl, developer.termsOfUseUrl].map((url) => new URL(url).pathname)

async function startPages(options: Parameters<typeof startRest>[1] = {}) {
  const { server } = await startRest(await startIssuer(), options)
  return async (path: string, method = 'GET') => {
    const response = await fetch(server.url + path, { method, redirect: 'manual' })
    const answer = { status: response.status, headers: response.headers, text: await response.text(), body: undefined }
    if (method === 'GET') expect(contractFault({ method, path }, answer)).toBeUndefined()
    return answer
  }
}

describe('the pages that the Teams app links to', () => {
  it.each(paths)('%s need no token, load nothing and link to each other', async (path) => {
    const get = await startPages()
    const { status, headers, text } = await get(path)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual(['nosniff', 'no-referrer'])
    expect(text).toContain('<h1>')
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link)
    expect(links).toEqual(expect.arrayContaining(paths))
    for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200])
    expect((await get(path, 'HEAD')).text).toBe('')
  })

  it('show the configured retention of requests', async () => {
    const settings = { tenantId: 't', followUp: { firstSeconds: 20, everySeconds: 10, stopSeconds: 30 } }
    const page = async (retentionDays?: number) => {
      const core = coreWith({ settings: { ...settings, ...(retentionDays && { retentionDays }) } })
      return (await (await startPages({ core }))('/privacy')).text
    }
    expect(await page(90)).toContain('90 days after it has ended')
    expect(await page()).toContain('Requests are kept.')
  })

  it('redirect to the organisation’s own pages if they are set', async () => {
    const own = { privacy: 'https://contoso.example/privacy', terms: 'https://contoso.example/terms?of=use' }
    const get = await startPages({ ownPages: own })
    for (const [path, to] of [
      ['/privacy', own.privacy],
      ['/terms', own.terms],
    ] as const) {
      const { status, headers } = await get(path)
      expect([status, headers.get('location')]).toEqual([302, to])
    }
    expect((await get('/about')).status).toBe(200)
  })
})
