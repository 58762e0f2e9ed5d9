import type { Route } from './define-route.ts'
import type { Part } from './openapi-problems.ts'

/** Where callers get tokens, and for what. */
export interface Access {
  /** The address that callers know: scopes are named by it. */
  readonly baseUrl: string
  /** `{login}/{tenant}`: where people and applications sign in. */
  readonly authority: string
}

const scopesOf = ({ baseUrl }: Access) => ({
  collab: `${baseUrl}/collab/App.ReadWrite.All`,
  mail: `${baseUrl}/mail/App.ReadWrite.All`,
  application: `${baseUrl}/mail/.default`,
})

/** What a caller has to show for a route: any one of these. */
export function securityOf({ audience, ...route }: Route, access: Access): Part[] {
  if (audience === null) return route.permission === 'public' && route.credential ? [{ [route.credential]: [] }] : []
  const { collab, mail, application } = scopesOf(access)
  const scopes = { collab: [collab], mail: [mail, application], any: [collab, mail, application] }[audience]
  return [...scopes.map((scope) => ({ entra: [scope] })), { token: [] }]
}

/** The security schemes of the document (API document, "Authentication"). */
export function securitySchemes(access: Access): Part {
  const { collab, mail, application } = scopesOf(access)
  const tokenUrl = `${access.authority}/oauth2/v2.0/token`
  const people = { [collab]: 'Sites, on behalf of a person', [mail]: 'Mailboxes, on behalf of a person' }
  return {
    entra: {
      type: 'oauth2',
      description:
        'Register an application with Microsoft Entra ID and sign people in, by device code ' +
        `(${access.authority}/oauth2/v2.0/devicecode) or by code with PKCE. Applications may ask for mailboxes without ` +
        'a person when they are listed in `MAIL_APP_CLIENTS`; sites always take a person.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${access.authority}/oauth2/v2.0/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes: people,
        },
        clientCredentials: { tokenUrl, scopes: { [application]: 'Mailboxes, without a person' } },
      },
    },
    token: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token that you have already.',
    },
    signature: {
      type: 'apiKey',
      in: 'header',
      name: 'webhook-signature',
      description: 'The signature of Standard Webhooks 1.0.0.',
    },
    metrics: {
      type: 'http',
      scheme: 'bearer',
      description: 'The value of `METRICS_TOKEN`. None in local mode without it, which is on loopback only.',
    },
    connector: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'A token of the Bot connector, for the app id of the bot. None in local mode, which is on loopback only.',
    },
  }
}
