import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from './certificates.ts'

/** An address without a listener, as of an unavailable tenant. */
const nowhere = 'https://127.0.0.1:9'

/**
 * Returns the settings that production requires, as setup writes them, with a certificate and templates in `folder`.
 * The tenant is unavailable.
 */
export function productionSettings(folder: string, databaseUrl: string): Record<string, string> {
  const { key, certificate } = selfSigned()
  const files = {
    CLIENT_CERTIFICATE_PATH: join(folder, 'certificate.pem'),
    TEMPLATES_FILE: join(folder, 'templates.json'),
  }
  writeFileSync(files.CLIENT_CERTIFICATE_PATH, key + certificate, { mode: 0o400 })
  writeFileSync(files.TEMPLATES_FILE, '[]', { mode: 0o400 })
  return {
    ...{ MODE: 'production', HOST: '127.0.0.1', BASE_URL: 'https://quartermaster.contoso.example' },
    ...{ DATABASE_URL: databaseUrl, AUDIT_SECRET: Buffer.alloc(32, 7).toString('base64') },
    ...{ TENANT_ID: '0c0ffee0-1111-4111-8111-000000000365', ADMINS: '22222222-bbbb-4bbb-8bbb-000000000002' },
    ...{ LOGIN_URL: nowhere, DIRECTORY_URL: nowhere, SHAREPOINT_URL: nowhere, EXCHANGE_URL: nowhere },
    ...{ MICROSOFT_APP_ID: '0c0ffee0-4444-4444-8444-000000000001', MICROSOFT_APP_PASSWORD: 'the bot’s secret' },
    ...{ CLIENT_ID: '0c0ffee0-2222-4222-8222-000000000001', DIRECTORY_EXTENSION: 'svc_group' },
    ...{ METRICS_TOKEN: 'a-token-for-prometheus', ...files },
  }
}
