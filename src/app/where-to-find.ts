import type { Environment } from './settings.ts'

const registration = (owner: string): string =>
  `Find it in the Entra admin center, App registrations, ${owner}: Application (client) ID.`
const audience = (api: string): string =>
  `Find it in the Entra admin center, App registrations, the ${api} API: Application (client) ID (docs/app-registrations.md#the-apis).`
const objectId = 'Find the ids in the Entra admin center, on the page of each user or group: Object ID.'

/**
 * Where an operator finds the value of a setting. Settings with a free choice are absent. `npm run setup` finds or creates
 * nearly all values.
 */
export const whereToFind: { readonly [K in keyof Environment]?: string } = {
  BASE_URL: 'This is the https address at which Teams reaches this service: https://<host name>.',
  DATABASE_URL: 'The administrator of your PostgreSQL server knows the address (docs/deploy.md).',
  TENANT_ID: 'Find it in the Entra admin center, Overview: Tenant ID.',
  ADMINS: objectId,
  MICROSOFT_APP_ID: registration('the bot'),
  MICROSOFT_APP_PASSWORD:
    'Create it in the Entra admin center, App registrations, the bot, Certificates & secrets, and copy its value.',
  MICROSOFT_APP_PASSWORD_EXPIRES:
    'Find it in the Entra admin center, App registrations, the bot, Certificates & secrets: Expires.',
  MICROSOFT_APP_TENANT_ID: 'Find it in the Entra admin center, App registrations, the bot: Directory (tenant) ID.',
  CLIENT_ID: registration('the service’s own access'),
  CLIENT_CERTIFICATE_PATH:
    'npm run setup creates the file, or create it yourself (docs/operations.md#the-certificate).',
  TEAMS_APP_ID:
    'Microsoft Graph shows it as the id of the app in the catalogue (docs/app-registrations.md, TEAMS_APP_ID).',
  COLLAB_AUDIENCE: audience('sites'),
  MAIL_AUDIENCE: audience('mailboxes'),
  MAIL_APP_CLIENTS: registration('each application'),
  SHAREPOINT_URL: 'Open any site: the setting is the start of its address, https://<tenant>.sharepoint.com.',
  DIRECTORY_EXTENSION: 'npm run setup creates the extension and writes its name.',
  WEBHOOK_SECRET: 'Create it: whsec_ and the output of openssl rand -base64 32.',
  AUDIT_SECRET:
    'For a new installation, create it: openssl rand -base64 32. An existing installation needs its existing key (docs/audit.md#the-key).',
  EXPORT_SECRET: 'Create it: openssl rand -base64 32.',
}
