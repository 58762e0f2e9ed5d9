import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { createLog } from '../../src/app/log.ts'
import { secretsOf } from '../../src/app/settings.ts'

describe('the log masks the shapes of secrets in any text:', () => {
  const logged = (fields: object, message = 'said'): string => {
    let line = ''
    createLog('info', [], (text) => {
      line = text
    }).info(fields, message)
    // A masked line is still one JSON object.
    expect(JSON.parse(line)).toMatchObject({ level: 30 })
    return line
  }
  const secret = 'p4ss~w0rd.of.ours'

  it.each([
    ['a form', `grant_type=x&client_secret=${secret}&scope=y`],
    ['a form with quotes', `client_secret="${secret}"`],
    ['JSON', JSON.stringify({ a: 1, refresh_token: secret, b: 2 })],
    ['JSON with spaces', `{ "access_token" : "${secret}" }`],
    ['JSON in JSON', JSON.stringify({ body: JSON.stringify({ client_secret: secret }) })],
    ['a connection', `host=db password=${secret} user=x`],
  ])('%s', (_, text) => {
    for (const line of [logged({ text }), logged({ err: new Error(text) }), logged({}, text)]) {
      expect(line).not.toContain(secret)
      expect(line).toContain('[secret]')
    }
  })

  it('the passwords of the settings', () => {
    const config = readConfig({
      MICROSOFT_APP_PASSWORD: 'first~secret',
      CLIENT_CERTIFICATE_PASSWORD: 'second "secret"',
    })
    let line = ''
    createLog('info', secretsOf(config), (text) => {
      line = text
    }).info({ text: 'first~secret', err: new Error('it is second "secret"') }, 'second "secret"')
    expect(line).not.toMatch(/first~|second/)
    expect(line).toContain('[secret]')
  })

  it('a field with the name of a secret', () => {
    expect(logged({ password: secret })).not.toContain(secret)
  })

  it('but no other text', () => {
    const line = logged({ text: 'password=' }, 'the password is not right, the access_token has expired')
    expect(line).toContain('the password is not right, the access_token has expired')
  })
})
