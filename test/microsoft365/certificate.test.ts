import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { because } from '../../src/core/index.ts'
import { certificateFromPem, localCertificate, readCertificateFile } from '../../src/microsoft365/index.ts'
import { createCertificateFile } from '../../src/microsoft365/wire/certificate.ts'
import { certificateOf, selfSigned } from '../support/certificates.ts'

const passphrase = 'correct horse'
const one = selfSigned()
const other = selfSigned()
const opened = createPrivateKey(one.key)
const bytes = (text: string) => Buffer.from(text)
const read = (text: string, password?: string) => certificateFromPem(bytes(text), password)
const der = (pem: string) => Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64')
const encrypted = {
  'PKCS #8': opened.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString(),
  'the older RSA form': opened.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase }).toString(),
}
const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000)

describe('the production certificate', () => {
  test('is read from one PEM file in either order, with the thumbprint that Entra ID shows', () => {
    expect(read(one.key + one.certificate)).toEqual({
      ...{ privateKey: one.key, thumbprintSha256: one.thumbprint },
      ...{ startsAt: new Date('2025-01-01T00:00:00Z'), endsAt: new Date('2045-01-01T00:00:00Z') },
    })
    expect(read(`${one.certificate}\n${one.key}`).thumbprintSha256).toBe(one.thumbprint)
  })

  const attributes = 'Bag Attributes\n    localKeyID: 1F B0\nsubject=CN = quartermaster\n'
  test.each([
    ['text before the blocks', bytes(`${attributes}${one.certificate}Key Attributes: <No Attributes>\n${one.key}`)],
    ['Windows line endings', bytes((one.key + one.certificate).replaceAll('\n', '\r\n'))],
    ['a byte order mark', bytes(`\ufeff${one.key}${one.certificate}`)],
    ['UTF-16, as Windows tools write it', Buffer.from(`\ufeff${one.key}${one.certificate}`, 'utf16le')],
    ['the certificates of authorities before its own', bytes(other.certificate + one.certificate + one.key)],
  ])('is read from a file with %s', (_, file) => {
    expect(certificateFromPem(file).thumbprintSha256).toBe(one.thumbprint)
  })

  test('is the one that is valid now and ends last, if several have the same key', () => {
    const of = (startsAt: Date, endsAt: Date) =>
      certificateOf({ publicKey: one.publicKey, signedBy: opened, startsAt, endsAt })
    const [old, current, longer, next] = [
      of(inDays(-90), inDays(-1)),
      of(inDays(-9), inDays(9)),
      of(inDays(-9), inDays(99)),
      of(inDays(1), inDays(900)),
    ].map(({ pem }) => pem)
    const chosen = read([next, old, longer, current, one.key].join(''))
    expect(chosen.thumbprintSha256).toBe(read(`${one.key}${longer}`).thumbprintSha256)
  })

  test.each(Object.entries(encrypted))('is read with an encrypted key and its password: %s', (_, key) => {
    for (const text of [key + one.certificate, (key + one.certificate).replaceAll('\n', '\r\n')])
      expect(read(text, passphrase).privateKey).toBe(one.key)
    expect(() => read(key + one.certificate)).toThrow(/is encrypted\. Set CLIENT_CERTIFICATE_PASSWORD/)
    expect(() => read(key + one.certificate, 'wrong')).toThrow(/CLIENT_CERTIFICATE_PASSWORD does not open/)
  })

  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const pkcs12 = /\.pfx file \(PKCS#12\).* openssl pkcs12 -in service\.pfx -out service\.pem -noenc .*-nodes.*-legacy/
  const pem = (key: typeof ec) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
  /** The first bytes of a PKCS#12 file (RFC 7292 §4): a sequence whose first value is the version 3. */
  const pfx = Buffer.from('30820a5102010330820a0706092a864886f70d010701', 'hex')
  test.each<[string, Buffer, RegExp]>([
    ['without a private key', bytes(one.certificate), /no private key.* cat key\.pem public\.pem > .*pkcs12/],
    ['without a certificate', bytes(one.key), /no certificate\. .* cat key\.pem public\.pem > service\.pem/],
    ['with the key of another certificate', bytes(other.key + one.certificate), /does not belong to the certificate/],
    ['with foreign certificates', bytes(one.key + other.certificate.repeat(2)), /none of the file’s 2 certificates/],
    ['with an EC key', bytes(pem(ec) + one.certificate), /a key of type ec\. Entra ID needs an RSA key.* openssl req/],
    ['with a short key', bytes(pem(short) + one.certificate), /an RSA key of 1024 bits/],
    ['that is a .pfx file', pfx, pkcs12],
    ['that is a .cer file', der(one.certificate), /certificate without its private key \(\.cer\).*Export.*pkcs12/],
    ['that is a key in DER form', der(one.key), /a private key in DER form.* openssl pkey -inform DER/],
    ['with another content', bytes('{"key": 1}'), /is not a PEM file\. The service needs one PEM file.*pkcs12/],
    ['that is empty', bytes(''), /The file is empty.*pkcs12/],
    ['that ends early', bytes((one.key + one.certificate).slice(0, -60)), /is incomplete/],
    ['whose key is damaged', bytes(one.key.replace(/\n.{9}/, '\n') + one.certificate), /private key .* cannot be read/],
    [
      'whose certificate is damaged',
      bytes(one.key + one.certificate.replace(/\n.{9}/, '\n')),
      /certificate in the PEM file cannot be read/,
    ],
  ])('is refused with the command that helps: a file %s', (_, file, text) => {
    const refusal = refusalOf(() => certificateFromPem(file))
    expect(refusal).toMatch(text)
    // The health card shows at most this many characters.
    expect(refusal.length).toBeLessThanOrEqual(300)
    expect(refusal).not.toContain(one.key.split('\n')[3])
  })
})

function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return String(error).replace(/^CertificateError: /, '')
  }
  throw new Error('it was not refused')
}

function temporaryFile(): string {
  const folder = mkdtempSync(join(inject('runFolder'), 'certificate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'service.pem')
}

describe('the file at CLIENT_CERTIFICATE_PATH', () => {
  test('is read at start; the error for a path without a readable file names the reason', () => {
    const path = temporaryFile()
    expect(() => readCertificateFile(path)).toThrow(/cannot be read \(ENOENT\)\. There is no such file\./)
    writeFileSync(path, one.key + one.certificate)
    expect(readCertificateFile(path).thumbprintSha256).toBe(one.thumbprint)
    expect(() => readCertificateFile(join(path, 'below'))).toThrow(/\(ENOTDIR\)\. There is no such file\./)
    expect(() => readCertificateFile(join(path, '..'))).toThrow(/\(EISDIR\)\. The path names a folder\./)
    chmodSync(path, 0)
    // Root may read every file, so this check does not apply to root.
    if (process.getuid?.() !== 0)
      expect(() => readCertificateFile(path)).toThrow(/\(EACCES\)\. The user of the service may not read it\./)
  })

  const watched = (path: string, password?: string) => {
    const warnings: string[] = []
    const warn = (message: string, { err }: { err?: Error }) => warnings.push(`${message}: ${err?.message}`)
    const first = readCertificateFile(path, password)
    const file = createCertificateFile({ path, password, first, use: async () => undefined, warn })
    return { file, warnings }
  }

  test('is opened with the same password after a replacement', async () => {
    const path = temporaryFile()
    writeFileSync(path, encrypted['PKCS #8'] + one.certificate)
    const { file } = watched(path, passphrase)
    const next = createPrivateKey(other.key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase })
    writeFileSync(path, next + other.certificate)
    expect(await file.read()).toBe('taken')
    expect(file.facts().problem).toBeUndefined()
  })

  test('replaces the current certificate only once the new one is valid and has not expired', async () => {
    const path = temporaryFile()
    writeFileSync(path, one.key + one.certificate)
    const { file } = watched(path)
    const expired = selfSigned(inDays(-1))
    writeFileSync(path, expired.key + expired.certificate)
    expect(await file.read()).toBe('refused')
    expect(file.facts().problem).toEqual(
      because('certificateExpired', { at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/) }),
    )
    const next = selfSigned(inDays(400), inDays(1))
    writeFileSync(path, next.key + next.certificate)
    expect(await file.read()).toBe('refused')
    expect(file.facts().problem?.key).toBe('certificateTooEarly')
    expect(file.facts().endsAt).toEqual(read(one.key + one.certificate).endsAt)
  })

  test('causes a warning at start when its certificate has expired or is not valid yet', () => {
    for (const [dates, text] of [
      [[inDays(-1)], 'expired on'],
      [[inDays(9), inDays(1)], 'is not valid before'],
    ] as const) {
      const path = temporaryFile()
      const { key, certificate } = selfSigned(...dates)
      writeFileSync(path, key + certificate)
      expect(watched(path).warnings).toEqual([expect.stringContaining(text)])
    }
  })
})

test('the temporary credential of local mode is a usable key with its own thumbprint', () => {
  const { privateKey, thumbprintSha256 } = localCertificate()
  expect(createPrivateKey(privateKey).asymmetricKeyType).toBe('rsa')
  expect(thumbprintSha256).toMatch(/^[0-9a-f]{64}$/)
})
