import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { certificateFromPem } from '../../src/microsoft365/index.ts'
import { administrator, emptyTenant } from '../support/administrator.ts'
import { installation } from '../support/setup-run.ts'

const day = 24 * 3600_000
const answers = (tenant: { sharePointUrl: string }) => [
  ...['--yes', '--base-url', 'https://provisioning.contoso.example', '--database-url', 'embedded'],
  ...['--sharepoint-url', tenant.sharePointUrl],
]
const slow = { timeout: 60_000 }

describe('credentials that expire soon:', slow, () => {
  it('a certificate is replaced, and the former one stays valid until its end', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const path = join(own.folder, 'certificate.pem')
    const certificates = async () =>
      (await (await administrator(tenant)).api("/applications(uniqueName='quartermaster-service')").get())
        .keyCredentials
    // A year, of which 340 days are over.
    const first = await own.run({ now: () => new Date(Date.now() - 340 * day) })
    expect(first.exit, first.text).toBe(0)
    const pem = readFileSync(path, 'utf8')
    expect(certificateFromPem(Buffer.from(pem)).endsAt?.getTime()).toBeLessThan(Date.now() + 26 * day)

    const second = await own.run()
    expect(second.exit, second.text).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toBe(pem)
    expect(existsSync(`${path}.next`)).toBe(false)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await certificates()).toHaveLength(2)
    expect((await own.run()).writes).toEqual([])

    const third = await own.run({ now: () => new Date(Date.now() + 30 * day) })
    expect(third.text).toContain('Remove 1 expired certificate(s)')
    expect(await certificates()).toHaveLength(1)
  })

  it('a secret is replaced, and the former one stays valid until its end', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const args = [...answers(tenant), '--certificate-days', '730']
    await own.run({ args })
    const before = own.settings()
    const { exit, text } = await own.run({ args, now: () => new Date(Date.now() + 340 * day) })
    expect(exit, text).toBe(0)
    const after = own.settings()
    expect(after['MICROSOFT_APP_PASSWORD']).not.toBe(before['MICROSOFT_APP_PASSWORD'])
    expect(Date.parse(after['MICROSOFT_APP_PASSWORD_EXPIRES'] ?? '')).toBeGreaterThan(Date.now() + 700 * day)
    const bot = await (await administrator(tenant)).api("/applications(uniqueName='quartermaster-bot')").get()
    expect(bot.passwordCredentials).toHaveLength(2)
  })

  it('the current certificate stays in use while the new one does not work', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    await own.run({ now: () => new Date(Date.now() - 340 * day) })
    const path = join(own.folder, 'certificate.pem')
    const pem = readFileSync(path, 'utf8')
    const refusing: typeof fetch = async (url, init) =>
      String(init?.body).includes('client_assertion=')
        ? Response.json({ error: 'invalid_client', error_description: 'AADSTS700027: unknown' }, { status: 401 })
        : fetch(url, init)
    const { exit, text } = await own.run({ fetch: refusing, patience: 500 })
    expect(exit).toBe(1)
    expect(text).toContain('Microsoft does not accept the new certificate yet.')
    expect(readFileSync(path, 'utf8')).toBe(pem)
    const next = await own.run()
    expect(next.exit, next.text).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toBe(pem)
    const service = await (await administrator(tenant)).api("/applications(uniqueName='quartermaster-service')").get()
    expect(service.keyCredentials).toHaveLength(2)
  })

  it('a lifetime of a few days is allowed, without an immediate replacement', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    const args = [...answers(tenant), '--certificate-days', '20', '--secret-days', '20']
    expect((await own.run({ args })).exit).toBe(0)
    expect((await own.run({ args })).writes).toEqual([])
  })
})

describe('the certificate', slow, () => {
  it('is self-signed with an RSA key that the password encrypts', async () => {
    const tenant = await emptyTenant()
    const own = await installation(tenant)
    writeFileSync(own.path, 'CLIENT_CERTIFICATE_PASSWORD=open sesame\n', { mode: 0o600 })
    expect((await own.run()).exit).toBe(0)
    const pem = readFileSync(join(own.folder, 'certificate.pem'))
    expect(pem.toString()).toContain('BEGIN ENCRYPTED PRIVATE KEY')
    expect(() => certificateFromPem(pem)).toThrow('encrypted')
    expect(certificateFromPem(pem, 'open sesame').endsAt).toBeInstanceOf(Date)
    const certificate = new X509Certificate(pem)
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBeGreaterThanOrEqual(2048)
  })

  it('of another person in the same folder is not overwritten', async () => {
    const own = await installation(await emptyTenant())
    const path = join(own.folder, 'certificate.pem')
    writeFileSync(path, 'something else')
    const { exit, text } = await own.run()
    expect(exit).toBe(1)
    expect(text).toContain(`Cannot use the certificate in ${path}.`)
    expect(readFileSync(path, 'utf8')).toBe('something else')
  })
})

/** Answers `addPassword` like a tenant whose policy refuses the lifetimes in `isRefused`. */
const withPolicy = (code: string, isRefused: (days: number) => boolean): typeof fetch => {
  return async (url, init) => {
    if (!String(url).endsWith('/addPassword')) return fetch(url, init)
    const { passwordCredential } = JSON.parse(String(init?.body)) as { passwordCredential: { endDateTime: string } }
    const days = Math.round((Date.parse(passwordCredential.endDateTime) - Date.now()) / day)
    if (!isRefused(days)) return fetch(url, init)
    return Response.json({ error: { code, message: 'A policy says no.' } }, { status: 400 })
  }
}

describe('organisation policies in setup', slow, () => {
  it('allow a shorter lifetime of secrets', async () => {
    const own = await installation(await emptyTenant())
    const { exit, text } = await own.run({
      fetch: withPolicy('CredentialInvalidLifetimeAsPerAppPolicy', (days) => days > 90),
    })
    expect(exit, text).toBe(0)
    const left = Date.parse(own.settings()['MICROSOFT_APP_PASSWORD_EXPIRES'] ?? '') - Date.now()
    expect(Math.round(left / day)).toBeLessThanOrEqual(90)
    expect(text).toContain('Trying 90 days.')
  })

  it('without secrets cause a message with the next action', async () => {
    const own = await installation(await emptyTenant())
    const { exit, text } = await own.run({ fetch: withPolicy('CredentialTypeNotAllowedAsPerAppPolicy', () => true) })
    expect(exit).toBe(1)
    expect(text).toContain('A policy of your organisation does not allow secrets for applications.')
    expect(text).toContain('UserAssignedMSI')
    expect(text).toContain('A policy says no.')
  })
})

describe('existing settings', slow, () => {
  it('are used: registrations of the organisation, comments and unknown lines stay', async () => {
    const tenant = await emptyTenant()
    const graph = await administrator(tenant)
    const bot = await graph.api('/applications').post({ displayName: 'Our bot' })
    const [ours, added] = [
      'https://ours.contoso.example/',
      'https://provisioning.contoso.example/docs/oauth2-redirect.html',
    ]
    const client = await graph.api('/applications').post({ displayName: 'Our client', spa: { redirectUris: [ours] } })
    const own = await installation(tenant)
    const lines = [
      ...['# Ours', `MICROSOFT_APP_ID=${bot.appId}`, '', 'METRICS_TOKEN=a-token-of-ours # kept'],
      ...[`DOCS_CLIENT_ID=${client.appId}`, 'MODE=local'],
    ]
    writeFileSync(own.path, lines.join('\n'))
    const { exit, text } = await own.run()
    expect(exit, text).toBe(0)
    expect(text).toContain('“Our bot”')
    const written = readFileSync(own.path, 'utf8')
    expect(written.split('\n').slice(0, 4)).toEqual(lines.slice(0, 4))
    expect(own.settings()).toMatchObject({ MODE: 'production', MICROSOFT_APP_ID: bot.appId })
    expect(statSync(own.path).mode & 0o777).toBe(0o600)
    const changed = await graph.api(`/applications/${bot.id}`).get()
    expect(changed.passwordCredentials).toHaveLength(1)
    expect(changed.displayName).toBe('Our bot')
    const { spa } = await graph.api(`/applications/${client.id}`).get()
    expect(spa.redirectUris).toEqual([ours, added])
  })

  it.each([
    ['CLIENT_ID', '99999999-0000-4000-8000-000000000001'],
    ['DIRECTORY_EXTENSION', 'svc_group'],
  ])('stop setup when the tenant does not have %s', async (name, value) => {
    const own = await installation(await emptyTenant())
    writeFileSync(own.path, `${name}=${value}\n`)
    const { exit, text, writes } = await own.run({ patience: 100 })
    expect([exit, writes]).toEqual([1, []])
    expect(text).toContain(name)
    expect(text).toContain(value)
    expect(text).toMatch(/[Rr]emove the line/)
  })

  it('stop setup when they belong to another tenant', async () => {
    const own = await installation(await emptyTenant())
    writeFileSync(own.path, 'TENANT_ID=99999999-1111-4111-8111-000000000365\n')
    const { exit, text } = await own.run()
    expect(exit).toBe(1)
    expect(text).toContain('99999999-1111-4111-8111-000000000365')
  })
})
