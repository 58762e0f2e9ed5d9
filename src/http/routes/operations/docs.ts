import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { z } from 'zod'
import { entityTag } from '../../server/answers.ts'
import { definePublicRoute } from '../../server/define-route.ts'
import examples from './examples.json' with { type: 'json' }

/** An OpenAPI 3.1.1 document. A test validates its form. */
const openApiBody = z.looseObject({ openapi: z.literal('3.1.1') })

const about = { tag: 'Service', permission: 'public', audience: null } as const
/** For content that changes only with the service: clients store it and revalidate it. */
const kept = { 'Cache-Control': 'no-cache' } as const

export const readOpenApi = definePublicRoute({
  ...about,
  id: 'readOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Read the API document (OpenAPI 3.1)',
  description: 'Returns this document. Its ETag changes with the version of the service.',
  answers: {
    200: {
      description: 'The API document.',
      body: openApiBody,
      mediaTypes: ['application/json'],
      headers: ['ETag', 'Cache-Control'],
    },
  },
  refusals: [],
  examples: examples.readOpenApi,
  async handle({ services }) {
    const { text, etag } = services.openApi()
    return { status: 200, mediaType: 'application/json' as const, headers: { ...kept, ETag: etag }, body: text }
  },
})

const lockedUp = [
  "default-src 'none'",
  "script-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]
/**
 * The policy of the page: it loads only its own files, and calls only the service and the token endpoint. Swagger UI has
 * its icons as data.
 */
const policyOf = (tokenUrl: string): string =>
  [...lockedUp, "style-src 'self'", "img-src 'self' data:", `connect-src 'self' ${tokenUrl}`].join('; ')

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quartermaster API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script type="module" src="/docs/start.js"></script>
</body>
</html>
`
/**
 * The script that shows the API document. Authorize offers a sign-in for each API, because a token is for one API, and a
 * field for a token. The first sign-in gets the focus, which Swagger UI would give to the last field. Swagger UI's
 * validator is off, because it would call another address.
 */
const startOf = (clientId: string | undefined): string => `const clientId = ${JSON.stringify(clientId ?? '')}
const redirectUrl = new URL('/docs/oauth2-redirect.html', location.href).href
const enter = 'Enter the client id of a registration that has the single-page redirect URI ' + redirectUrl + '. '
const description = (clientId ? '' : enter) + 'Leave client_secret empty.'
const forPeople = (document) => {
  const { entra, token, metrics } = document.components.securitySchemes
  const { authorizationCode } = entra.flows
  const names = authorizationCode.scopes
  const signIns = Object.entries(names).map(([scope, name]) => {
    const flows = { authorizationCode: { ...authorizationCode, scopes: { [scope]: name } } }
    return [name, { type: entra.type, description, flows }]
  })
  const schemes = { ...Object.fromEntries(signIns), token, metrics }
  document.components.securitySchemes = schemes
  for (const operation of Object.values(document.paths).flatMap(Object.values))
    operation.security = operation.security
      .map(({ entra: [scope] = [], ...other }) => (scope === undefined ? other : { [names[scope]]: [scope] }))
      .filter((credentials) => Object.keys(credentials).every((name) => name in schemes))
  return document
}
const chooseScopes = (Original, { React }) => (props) => {
  const scopes = [...props.schema.get('scopes').keys()]
  const getConfigs = () => ({ ...props.authSelectors.getConfigs(), scopes })
  return React.createElement(Original, { ...props, authSelectors: { ...props.authSelectors, getConfigs } })
}
const focusFirst = (showDefinitions) => (definitions) => {
  if (definitions) setTimeout(() => document.querySelector('.modal-ux-content input, .modal-ux-content button')?.focus())
  return showDefinitions(definitions)
}
const response = await fetch('/openapi.json')
const page = SwaggerUIBundle({
  // After an error, Swagger UI loads the document itself and shows the error.
  ...(response.ok ? { spec: forPeople(await response.json()) } : { url: '/openapi.json' }),
  domNode: document.getElementById('page'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  oauth2RedirectUrl: redirectUrl,
  plugins: [
    {
      wrapComponents: { oauth2: chooseScopes },
      statePlugins: { auth: { wrapActions: { showDefinitions: focusFirst } } },
    },
  ],
})
page.initOAuth({ clientId, usePkceWithAuthorizationCodeGrant: true })
`

const readDocs = definePublicRoute({
  ...about,
  id: 'readDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Show the API document as a page, with sign-in and test calls',
  description: 'Returns a page that shows this document, signs people in and sends calls.',
  answers: {
    200: {
      description: 'The page.',
      body: z.string(),
      mediaTypes: ['text/html'],
      headers: ['Content-Security-Policy', 'ETag', 'Cache-Control'],
    },
  },
  refusals: [],
  examples: {},
  anyAccept: true,
  async handle({ services }) {
    const policy = policyOf(services.docs.tokenUrl)
    const headers = { ...kept, ETag: entityTag(page + policy), 'Content-Security-Policy': policy }
    return { status: 200, mediaType: 'text/html' as const, headers, body: page }
  },
})

const files = {
  'start.js': 'text/javascript',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
  'oauth2-redirect.html': 'text/html',
  'oauth2-redirect.js': 'text/javascript',
} as const
const fileName = z.enum(Object.keys(files) as [keyof typeof files, ...(keyof typeof files)[]])

export const readDocsFile = definePublicRoute({
  ...about,
  id: 'readDocsFile',
  method: 'GET',
  path: '/docs/:file',
  summary: 'Read a file of the page /docs',
  description: 'Returns a script, style or image of the page.',
  params: z.object({ file: fileName }),
  answers: {
    200: {
      description: 'The file.',
      body: z.string(),
      mediaTypes: ['text/javascript', 'text/css', 'text/html'],
      headers: ['Content-Security-Policy', 'ETag', 'Cache-Control'],
    },
  },
  refusals: [],
  examples: {},
  anyAccept: true,
  async handle({ services }, { params: { file } }) {
    const { body, etag } = file === 'start.js' ? served(startOf(services.docs.clientId)) : await fileOf(file)
    const headers = { ...kept, ETag: etag, 'Content-Security-Policy': lockedUp.join('; ') }
    return { status: 200, mediaType: files[file], headers, body }
  },
})

const require = createRequire(import.meta.url)
/** Each path is written out, so that the build of the bundle finds and copies the files. */
const paths = {
  'swagger-ui-bundle.js': require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'swagger-ui.css': require.resolve('swagger-ui-dist/swagger-ui.css'),
  'oauth2-redirect.html': require.resolve('swagger-ui-dist/oauth2-redirect.html'),
  'oauth2-redirect.js': require.resolve('swagger-ui-dist/oauth2-redirect.js'),
}
const served = (content: string) => ({ body: Buffer.from(content), etag: entityTag(content) })

/** Files of the public page. Each is read once, and all callers get the same bytes. */
const read = new Map<keyof typeof paths, Promise<ReturnType<typeof served>>>()

function fileOf(name: keyof typeof paths) {
  const known = read.get(name)
  if (known !== undefined) return known
  const file = readFile(paths[name], 'utf8').then(served)
  read.set(name, file)
  // After an error, the next call reads the file again.
  file.catch(() => read.delete(name))
  return file
}

export const docsRoutes = [readOpenApi, readDocs, readDocsFile] as const
