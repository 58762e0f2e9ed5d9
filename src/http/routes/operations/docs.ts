import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { z } from 'zod'
import { entityTag } from '../../server/answers.ts'
import { definePublicRoute } from '../../server/define-route.ts'
import examples from './examples.json' with { type: 'json' }

/** An OpenAPI 3.1.1 document. A test validates its form. */
const openApiBody = z.looseObject({ openapi: z.literal('3.1.1') })

const about = { tag: 'Service', permission: 'public', audience: null } as const
/** Public and unchanged until the service changes: clients keep it and revalidate it. */
const kept = { 'Cache-Control': 'no-cache' } as const

export const readOpenApi = definePublicRoute({
  ...about,
  id: 'readOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This description of the API, as OpenAPI 3.1',
  answers: {
    200: {
      description: 'The description.',
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

/** The page loads and calls nothing from other addresses. Swagger UI has its icons as data. */
const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

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
<script src="/docs/start.js"></script>
</body>
</html>
`
/** Swagger UI's validator would call another address, so it is off. */
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('page'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
})
`

const readDocs = definePublicRoute({
  ...about,
  id: 'readDocs',
  method: 'GET',
  path: '/docs',
  summary: 'A page to read this description and to try the API',
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
  async handle() {
    const headers = { ...kept, ETag: entityTag(page), 'Content-Security-Policy': policy }
    return { status: 200, mediaType: 'text/html' as const, headers, body: page }
  },
})

const files = {
  'start.js': 'text/javascript',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
} as const
const fileName = z.enum(Object.keys(files) as [keyof typeof files, ...(keyof typeof files)[]])

export const readDocsFile = definePublicRoute({
  ...about,
  id: 'readDocsFile',
  method: 'GET',
  path: '/docs/:file',
  summary: 'What that page is made of',
  params: z.object({ file: fileName }),
  answers: {
    200: {
      description: 'The file.',
      body: z.string(),
      mediaTypes: ['text/javascript', 'text/css'],
      headers: ['ETag', 'Cache-Control'],
    },
  },
  refusals: [],
  examples: {},
  anyAccept: true,
  async handle(_, { params: { file } }) {
    const { body, etag } = await fileOf(file)
    return { status: 200, mediaType: files[file], headers: { ...kept, ETag: etag }, body }
  },
})

const require = createRequire(import.meta.url)
/** Each path is written out, so that the build of the bundle finds and copies the files. */
const paths = {
  'swagger-ui-bundle.js': require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'swagger-ui.css': require.resolve('swagger-ui-dist/swagger-ui.css'),
}

/** Files of the public page: read once, the same bytes for all. */
const read = new Map<keyof typeof files, Promise<{ readonly body: Uint8Array; readonly etag: string }>>()

function fileOf(name: keyof typeof files) {
  const known = read.get(name)
  if (known !== undefined) return known
  const text = name === 'start.js' ? Promise.resolve(start) : readFile(paths[name], 'utf8')
  const file = text.then((content) => ({ body: Buffer.from(content), etag: entityTag(content) }))
  read.set(name, file)
  // Reads a file that could not be read again on the next call.
  file.catch(() => read.delete(name))
  return file
}

export const docsRoutes = [readOpenApi, readDocs, readDocsFile] as const
