import { describe, expect, it } from 'vitest'
import { webhookNameFault, webhookSecret, webhookTargetFault } from '../../src/core/index.ts'
import { textOf } from '../support/refusal.ts'
import { addressesToRefuse } from '../support/webhook-addresses.ts'

const allowed = ['10.1.0.0/16', '127.0.0.0/8', 'fd00::/8']

describe('the address of a webhook', () => {
  it.each([
    'https://hooks.contoso.example/sites',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
    'http://10.1.2.3:8080/hook',
    'https://10.1.2.3/',
    'http://[fd00::1]/',
    'http://localhost:9000/',
    'http://127.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://127.0.0.1:80/',
    'https://hooks.contoso.example:8443/sites?code=abc',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://hooks.contoso.example./',
    'https://[64:ff9b::8.8.8.8]/',
  ])('may be %s when 10.1.0.0/16, loopback and fd00::/8 are allowed', (url) => {
    expect(webhookTargetFault(url, allowed)).toBeUndefined()
  })

  it.each([
    ['http://hooks.contoso.example/', 'https://'],
    ['http://93.184.216.34/', 'https://'],
    ['http://10.2.0.1/', 'https://'],
    ['http://[fe80::1]/', 'https://'],
    ['no address', 'https://'],
    ['https://10.2.0.1/', 'private address'],
    ['https://172.16.0.1/', 'private address'],
    ['https://172.31.255.255/', 'private address'],
    ['https://192.168.1.1/', 'private address'],
    ['https://100.64.0.1/', 'private address'],
    ['https://169.254.169.254/latest/meta-data', 'private address'],
    ['https://0.0.0.0/', 'private address'],
    ['https://[::]/', 'private address'],
    ['https://[::1]/', 'private address'],
    ['https://[fe80::1]/', 'private address'],
    ['https://[fc00::1]/', 'private address'],
    ['https://[::ffff:10.2.0.1]/', 'private address'],
    ['https://[::ffff:93.184.216.34]/', 'private address'],
    ['https://[64:ff9b::a02:1]/', 'private address'],
    ['https://0xa020001/', 'private address'],
    ['https://012.2.0.1/', 'private address'],
  ])('may not be %s', (url, text) => {
    expect(textOf(webhookTargetFault(url, allowed))).toContain(text)
  })

  it.each(addressesToRefuse)('may not be %s without allowed networks', (url) => {
    expect(textOf(webhookTargetFault(url, []))).toMatch(/^A webhook.+\.$/)
  })

  it('may be next to a private network, but not inside it', () => {
    for (const url of ['https://172.15.255.255/', 'https://172.32.0.0/', 'https://100.128.0.0/'])
      expect(webhookTargetFault(url, [])).toBeUndefined()
  })
})

describe('a host name', () => {
  const fault = (addresses: string[], networks: string[] = []) =>
    webhookNameFault('https://hooks.contoso.example/', addresses, networks)

  it('is allowed with only public addresses, or without an address yet', () => {
    expect(fault(['93.184.216.34', '2606:4700::1111'])).toBeUndefined()
    expect(fault([])).toBeUndefined()
  })

  it('is refused with one private address, unless this network is allowed', () => {
    expect(textOf(fault(['93.184.216.34', '10.1.0.1']))).toContain('private address')
    expect(textOf(fault(['10.1.0.1', '93.184.216.34']))).toContain('private address')
    expect(fault(['93.184.216.34', '10.1.0.1'], allowed)).toBeUndefined()
    expect(textOf(fault(['93.184.216.34', '10.1.0.1', '10.2.0.1'], allowed))).toContain('private address')
  })
})

describe('the secret of a webhook', () => {
  const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 251).toString('base64')}`

  it('is whsec_ with 24 to 64 bytes in base64', () => {
    for (const bytes of [24, 25, 32, 64]) expect(webhookSecret.safeParse(of(bytes)).success).toBe(true)
    for (const bytes of [0, 23, 65]) expect(webhookSecret.safeParse(of(bytes)).success).toBe(false)
  })

  it.each([
    `whsec_${'='.repeat(32)}`,
    `whsec_${'A'.repeat(33)}`,
    of(25).replace(/=+$/, ''),
    of(32).replaceAll('+', '-').replaceAll('/', '_'),
    `${of(32)}\n`,
    of(32).slice('whsec_'.length),
    `WHSEC_${of(32).slice('whsec_'.length)}`,
  ])('cannot be %j', (secret) => {
    expect(webhookSecret.safeParse(secret).success).toBe(false)
  })
})
