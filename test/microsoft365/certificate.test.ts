import { createPrivateKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { certificateFromPem, localCertificate } from '../../src/microsoft365/index.ts'
import { selfSigned } from '../support/certificates.ts'

describe('the certificate of production', () => {
  test('is read from one PEM file in either order, with the thumbprint that Entra ID shows', () => {
    const { key, certificate, thumbprint } = selfSigned()
    expect(certificateFromPem(key + certificate)).toEqual({
      ...{ privateKey: key.trim(), thumbprintSha256: thumbprint, endsAt: new Date('2045-01-01T00:00:00Z') },
    })
    expect(certificateFromPem(`${certificate}\n${key}`).thumbprintSha256).toBe(thumbprint)
  })

  test('is refused without its key, without itself, and with the key of another', () => {
    const one = selfSigned()
    expect(() => certificateFromPem(one.certificate)).toThrow('private key')
    expect(() => certificateFromPem(one.key)).toThrow('certificate')
    expect(() => certificateFromPem(selfSigned().key + one.certificate)).toThrow('does not belong')
  })
})

test('the throwaway credential of local mode is a usable key and a thumbprint of its own', () => {
  const { privateKey, thumbprintSha256 } = localCertificate()
  expect(createPrivateKey(privateKey).asymmetricKeyType).toBe('rsa')
  expect(thumbprintSha256).toMatch(/^[0-9a-f]{64}$/)
})
