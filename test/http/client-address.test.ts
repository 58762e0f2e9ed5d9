import { describe, expect, it } from 'vitest'
import { createClientAddress, networkOf } from '../../src/http/server/limits.ts'
import { startIssuer, startRest } from '../support/rest.ts'

const from = (peer: string | undefined, ...forwarded: string[]) => ({
  socket: { remoteAddress: peer },
  headersDistinct: forwarded.length > 0 ? { 'x-forwarded-for': forwarded } : {},
})

describe('the address of a caller', () => {
  const trusting = createClientAddress(['10.0.0.0/8', '127.0.0.0/8', 'fd00::/8'])

  it.each([
    ['of the connection without the header', '203.0.113.7', [], '203.0.113.7'],
    ['of the connection if it is not a trusted proxy', '203.0.113.7', ['198.51.100.1'], '203.0.113.7'],
    ['in the header of a trusted proxy', '10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
    [
      'the right-most untrusted address, because anybody can write the addresses before it',
      '10.1.2.3',
      ['1.2.3.4, 198.51.100.1'],
      '198.51.100.1',
    ],
    ['before a chain of trusted proxies', '10.1.2.3', ['1.2.3.4, 198.51.100.1, 10.9.9.9, 10.8.8.8'], '198.51.100.1'],
    ['in several headers', '10.1.2.3', ['1.2.3.4', '198.51.100.1', '10.8.8.8'], '198.51.100.1'],
    ['the first if all are trusted', '10.1.2.3', ['10.4.4.4, 10.5.5.5'], '10.4.4.4'],
    ['of the proxy without the header', '10.1.2.3', [], '10.1.2.3'],
    ['of the proxy if the header has no address', '10.1.2.3', ['unknown'], '10.1.2.3'],
    ['of the hop after an invalid address', '10.1.2.3', ['198.51.100.1, _hidden, 10.5.5.5'], '10.5.5.5'],
    ['IPv4 in IPv6 form', '::ffff:10.1.2.3', ['::ffff:198.51.100.1'], '198.51.100.1'],
    ['with its port', '10.1.2.3', ['198.51.100.1:4711'], '198.51.100.1'],
    ['IPv6 with its port', 'fd00::1', ['[2001:db8::1]:4711'], '2001:db8::1'],
    ['IPv6', 'fd00::1', ['2001:db8::1'], '2001:db8::1'],
    ['without its zone', 'fe80::1%eth0', [], 'fe80::1'],
    ['empty if the connection is closed', undefined, [], ''],
    [
      'among the nearest twenty hops only',
      '10.1.2.3',
      [['1.2.3.4', ...Array(30).fill('10.5.5.5')].join(',')],
      '10.5.5.5',
    ],
  ])('is %s', (_, peer, forwarded, address) => {
    expect(trusting(from(peer, ...forwarded))).toBe(address)
  })

  it('never comes from the header without trusted proxies', () => {
    const address = createClientAddress([])
    for (const peer of ['127.0.0.1', '10.0.0.1', '203.0.113.7']) expect(address(from(peer, '198.51.100.1'))).toBe(peer)
  })

  it('is the first in the header if every network is trusted', () => {
    const address = createClientAddress(['0.0.0.0/0', '::/0'])
    expect(address(from('203.0.113.7', '198.51.100.1, 2001:db8::1, 10.1.2.3'))).toBe('198.51.100.1')
    expect(address(from('fd00::1', '198.51.100.1, 2001:db8::1'))).toBe('198.51.100.1')
    expect(createClientAddress(['0.0.0.0/0'])(from('fd00::1', '198.51.100.1'))).toBe('fd00::1')
  })

  it('counts as its /64 in IPv6', () => {
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(networkOf('::1')).toBe('0:0:0:0::/64')
    expect([networkOf('198.51.100.1'), networkOf('')]).toEqual(['198.51.100.1', ''])
  })
})

describe('refused calls', () => {
  const limits = {
    writesPerMinute: 0,
    writeBurst: 0,
    readsPerMinute: 0,
    tenantWritesPerMinute: 0,
    refusalsPerMinute: 3,
  }
  const template = '/templates/v1/1'
  async function limited(trustedProxies: string[] = []) {
    let at = Date.now()
    const rest = await startRest(await startIssuer(), { limits, trustedProxies, clock: { now: () => new Date(at) } })
    const refused = (forwarded?: string, path = '/requests/v1') =>
      rest.call('GET', path, {
        headers: { authorization: 'Bearer a.b.c', ...(forwarded && { 'x-forwarded-for': forwarded }) },
      })
    const pass = (seconds: number) => {
      at += seconds * 1000
    }
    return { rest, refused, pass }
  }

  it('above the limit get 429, and later the reason again', async () => {
    const { refused, pass } = await limited()
    for (let count = 0; count < 3; count += 1) expect((await refused()).status).toBe(401)
    const answer = await refused()
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([429, 'rate-limited', '20'])
    // Another caller at the same address still gets the reason in a header.
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(answer.headers.get('ratelimit-policy')).toBe('"refusals";q=3;w=60')
    expect(answer.headers.get('ratelimit')).toBe('"refusals";r=0;t=60')
    pass(21)
    expect([(await refused()).status, (await refused()).status]).toEqual([401, 429])
  })

  it('do not limit callers with a valid token at the same address', async () => {
    const { rest, refused } = await limited()
    for (let count = 0; count < 10; count += 1) await refused()
    // The call reaches routing: the address is unknown.
    expect((await rest.call('GET', template)).status).toBe(404)
  })

  it('include wrong signatures of webhooks', async () => {
    const { rest } = await limited()
    const post = () => rest.call('POST', '/webhooks/provisioning', { body: {} })
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await post()).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('are counted by connection, not by an untrusted header', async () => {
    const { refused } = await limited()
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await refused(`198.51.100.${count}`)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('behind a trusted proxy are counted by the caller’s address', async () => {
    const { refused } = await limited(['127.0.0.0/8', '::1/128'])
    for (let count = 0; count < 6; count += 1)
      expect((await refused(`1.2.3.${count}, 198.51.100.${count}`)).status).toBe(401)
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await refused(`1.2.3.${count}, 203.0.113.9`)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })
})
