import { describe, expect, test } from 'vitest'
import { redirectTarget } from '../../src/microsoft365/wire/exchange.ts'
import { exchangeThat, nothing, type ReceivedCall } from '../support/exchange-that.ts'
import { send, sendJson } from '../support/http-server.ts'

describe('a list in pages', () => {
  const page = (call: ReceivedCall) => Number(new URL(call.url, 'http://x').searchParams.get('page') ?? 0)
  const free = ({ directory }: Awaited<ReturnType<typeof exchangeThat>>) =>
    directory.isMailAddressFree('a@contoso.example')

  test('is read to its end by the same call for each page', async () => {
    const exchange = await exchangeThat((call, response, url) =>
      page(call) < 19
        ? sendJson(response, 200, { value: [], '@odata.nextLink': `${url}/next?page=${page(call) + 1}` })
        : sendJson(response, 200, { value: [{}] }),
    )
    expect(await free(exchange)).toBe(false)
    expect(exchange.received.map(page)).toEqual(Array.from({ length: 20 }, (_, index) => index))
    for (const { parameters, headers } of exchange.received) {
      expect(parameters).toEqual(exchange.received[0]?.parameters)
      expect(headers).toMatchObject({ authorization: 'Bearer token', 'x-cmdletname': 'Get-Recipient' })
    }
  })

  test('that never ends causes an error after twenty pages', async () => {
    const exchange = await exchangeThat((_, response, url) =>
      sendJson(response, 200, { value: [], '@odata.nextLink': `${url}/again` }),
    )
    await expect(free(exchange)).rejects.toMatchObject({ code: 'foreign-page', retryable: false })
    expect(exchange.received).toHaveLength(20)
  })

  test.each(['elsewhere', 'nowhere'])('that continues %s causes an error, and our token is not sent', async (where) => {
    const thief = await exchangeThat(nothing)
    const next = where === 'elsewhere' ? thief.url : 'http://'
    const exchange = await exchangeThat((_, response) =>
      sendJson(response, 200, { value: [], '@odata.nextLink': next }),
    )
    await expect(free(exchange)).rejects.toMatchObject({ code: 'foreign-page', retryable: false })
    expect(thief.received).toEqual([])
  })
})

describe('a redirect', () => {
  test('within the same origin is followed once, with a new sign-in', async () => {
    const { directory, received } = await exchangeThat((call, response, url) =>
      call.url.includes('region')
        ? nothing(call, response, url)
        : send(response, 302, undefined, { location: `${url}/region` }),
    )
    expect(await directory.isMailAddressFree('a@contoso.example')).toBe(true)
    expect(received.map(({ url, headers }) => [url.split('/').at(-1), headers.authorization])).toEqual([
      ['InvokeCommand', 'Bearer token'],
      ['region', 'Bearer token'],
    ])
    expect(received[1]?.parameters).toEqual(received[0]?.parameters)
  })

  test('is not followed in a loop, nor to another origin', async () => {
    const round = await exchangeThat((_, response, url) => send(response, 302, undefined, { location: `${url}/again` }))
    await expect(round.directory.isMailAddressFree('a@contoso.example')).rejects.toMatchObject({ code: 'http-302' })
    expect(round.received).toHaveLength(2)
    const thief = await exchangeThat(nothing)
    const away = await exchangeThat((_, response) => send(response, 302, undefined, { location: thief.url }))
    await expect(away.directory.isMailAddressFree('a@contoso.example')).rejects.toMatchObject({ code: 'http-302' })
    expect(thief.received).toEqual([])
  })

  test.each([
    ['https://zrp278.outlook.office365.com:446/adminapi?x=1', 'https://zrp278.outlook.office365.com/adminapi?x=1'],
    ['https://outlook.office365.com/x', 'https://outlook.office365.com/x'],
    ['https://eur03.outlook.com/x', 'https://eur03.outlook.com/x'],
    ['https://outlook.office365.com:8443/x', undefined],
    ['http://outlook.office365.com/x', undefined],
    ['https://outlook.office365.com.evil.example/x', undefined],
    ['https://eviloutlook.com/x', undefined],
    ['https://name:word@outlook.office365.com/x', undefined],
  ])('to %s leads to %s', (to, where) => {
    expect(redirectTarget(new URL('https://outlook.office365.com/adminapi'), new URL(to))?.href).toBe(where)
  })

  test('stays in the cloud of the first address', () => {
    const [ours, region] = [new URL('https://outlook.office365.us/adminapi'), new URL('https://gov01.office365.us/x')]
    expect(redirectTarget(ours, region)?.href).toBe(region.href)
    expect(redirectTarget(ours, new URL('https://eur03.outlook.com/x'))).toBeUndefined()
    expect(redirectTarget(new URL('https://outlook.office365.com/x'), region)).toBeUndefined()
  })
})
