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
    ['the connection’s own', '203.0.113.7', [], '203.0.113.7'],
    [
      'the connection’s own when it is no proxy of ours, whatever it says',
      '203.0.113.7',
      ['198.51.100.1'],
      '203.0.113.7',
    ],
    ['what our proxy says', '10.1.2.3', ['198.51.100.1'], '198.51.100.1'],
    [
      'the right-most that is none of ours: what is left of it anybody can write',
      '10.1.2.3',
      ['1.2.3.4, 198.51.100.1'],
      '198.51.100.1',
    ],
    ['behind a chain of our proxies', '10.1.2.3', ['1.2.3.4, 198.51.100.1, 10.9.9.9, 10.8.8.8'], '198.51.100.1'],
    ['in several headers', '10.1.2.3', ['1.2.3.4', '198.51.100.1', '10.8.8.8'], '198.51.100.1'],
    ['the first when all are ours', '10.1.2.3', ['10.4.4.4, 10.5.5.5'], '10.4.4.4'],
    ['that of the proxy when it says nothing', '10.1.2.3', [], '10.1.2.3'],
    ['that of the proxy when it says no address', '10.1.2.3', ['unknown'], '10.1.2.3'],
    [
      'that of the last known hop before what is no address',
      '10.1.2.3',
      ['198.51.100.1, _hidden, 10.5.5.5'],
      '10.5.5.5',
    ],
    ['IPv4 as IPv6 has it', '::ffff:10.1.2.3', ['::ffff:198.51.100.1'], '198.51.100.1'],
    ['with its port', '10.1.2.3', ['198.51.100.1:4711'], '198.51.100.1'],
    ['IPv6 with its port', 'fd00::1', ['[2001:db8::1]:4711'], '2001:db8::1'],
    ['IPv6', 'fd00::1', ['2001:db8::1'], '2001:db8::1'],
    ['without its zone', 'fe80::1%eth0', [], 'fe80::1'],
    ['none, when the connection is gone', undefined, [], ''],
    ['of the nearest twenty hops only', '10.1.2.3', [['1.2.3.4', ...Array(30).fill('10.5.5.5')].join(',')], '10.5.5.5'],
  ])('is %s', (_, peer, forwarded, address) => {
    expect(trusting(from(peer, ...forwarded))).toBe(address)
  })

  it('is never what the header says when nothing is trusted', () => {
    const address = createClientAddress([])
    for (const peer of ['127.0.0.1', '10.0.0.1', '203.0.113.7']) expect(address(from(peer, '198.51.100.1'))).toBe(peer)
  })

  it('is the first in the header when every network is trusted', () => {
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

  it('are told to wait after so many a minute, and then again what is wrong', async () => {
    const { refused, pass } = await limited()
    for (let count = 0; count < 3; count += 1) expect((await refused()).status).toBe(401)
    const answer = await refused()
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([429, 'rate-limited', '20'])
    // Who shares the address still reads that it is the token.
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect(answer.headers.get('ratelimit-policy')).toBe('"refusals";q=3;w=60')
    expect(answer.headers.get('ratelimit')).toBe('"refusals";r=0;t=60')
    pass(21)
    expect([(await refused()).status, (await refused()).status]).toEqual([401, 429])
  })

  it('take nothing from who shows a good token from the same address', async () => {
    const { rest, refused } = await limited()
    for (let count = 0; count < 10; count += 1) await refused()
    // It gets as far as the address, which is nobody's.
    expect((await rest.call('GET', template)).status).toBe(404)
  })

  it('count wrong signatures too', async () => {
    const { rest } = await limited()
    const post = () => rest.call('POST', '/webhooks/provisioning', { body: {} })
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await post()).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('are not hidden behind a header that anybody can write', async () => {
    const { refused } = await limited()
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await refused(`198.51.100.${count}`)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })

  it('are counted by the caller’s own address behind a trusted proxy', async () => {
    const { refused } = await limited(['127.0.0.0/8', '::1/128'])
    for (let count = 0; count < 6; count += 1)
      expect((await refused(`1.2.3.${count}, 198.51.100.${count}`)).status).toBe(401)
    const statuses = []
    for (let count = 0; count < 4; count += 1) statuses.push((await refused(`1.2.3.${count}, 203.0.113.9`)).status)
    expect(statuses).toEqual([401, 401, 401, 429])
  })
})
