import { anyWebhookBody } from '../../core/index.ts'
import examples from '../routes/webhooks/examples.json' with { type: 'json' }
import { type Route, tags } from './define-route.ts'
import { type Access, type Books, headerParameters, operationOf, securitySchemes } from './openapi-operation.ts'
import {
  createRefusalBook,
  createSchemaBook,
  headerComponents,
  type Part,
  problemExampleComponents,
  type SchemaBook,
} from './openapi-schemas.ts'
import { problemBody } from './problem.ts'

const description = `Asks for Microsoft 365 mailboxes and SharePoint sites by templates and their policies.

A request is **accepted at once and made later**: the answer is 202 with a \`requestId\`. Read the request at \`Location\`
after \`Retry-After\` seconds, then every ten, until its \`status\` is one of succeeded, failed, rejected, expired or
cancelled; or have the template’s webhook tell you.

- Send an **Idempotency-Key** with every POST: a repeat under the same key does nothing twice.
- **Errors** are RFC 9457 problems: branch on \`code\`, show \`detail\` to people.
- **Times** are ISO 8601 in UTC; **ids** are UUIDs, in any case.
- Addresses answer with and without a slash at the end. GET answers HEAD too; any other method is answered with 405
  \`method-not-allowed\` and Allow.
- Answers may get more fields; bodies with a field that is not described are refused.`

/** The API document: everything that stands in the routes, as OpenAPI 3.1.1 (https://spec.openapis.org/oas/v3.1.1). */
export function openApiOf(routes: readonly Route[], access: Access): Part & { readonly openapi: '3.1.1' } {
  const books = { schemas: createSchemaBook(), refusals: createRefusalBook() }
  books.schemas.answered(problemBody)
  const paths = pathsOf(routes, books, access)
  const webhooks = { provisioning: webhookOf(books.schemas) }
  return withoutUnused({
    openapi: '3.1.1' as const,
    info: {
      title: 'Quartermaster',
      version: '1.0.0',
      summary: 'Mailboxes and sites for people who ask, by templates and their policies.',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: access.baseUrl, description: 'This service' }],
    tags: Object.entries(tags).map(([name, about]) => ({ name, description: about })),
    paths,
    webhooks,
    components: {
      schemas: books.schemas.components,
      responses: books.refusals.components,
      parameters: headerParameters(),
      headers: headerComponents(),
      examples: problemExampleComponents(),
      securitySchemes: securitySchemes(access),
    },
  })
}

/** Parts that nothing refers to are left out, but for the security schemes, which are referred to by name. */
function withoutUnused<D extends { readonly components: Readonly<Record<string, Part>> }>(document: D): D {
  const text = JSON.stringify(document)
  const components = Object.entries(document.components).map(([kind, parts]) => {
    const isUsed = (name: string) => kind === 'securitySchemes' || text.includes(`"#/components/${kind}/${name}"`)
    return [kind, Object.fromEntries(Object.entries(parts).filter(([name]) => isUsed(name)))]
  })
  return { ...document, components: Object.fromEntries(components) }
}

/** As OpenAPI writes a path: `/requests/v1/{requestId}`. */
const openApiPath = (path: string): string => path.replace(/:([^/]+)/g, '{$1}')

function pathsOf(routes: readonly Route[], books: Books, access: Access): Part {
  const paths: Record<string, Record<string, Part>> = {}
  for (const route of routes) {
    const path = openApiPath(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, books, access) }
  }
  return paths
}

/** What we send to the subscriber of a template (DESIGN §5). */
function webhookOf(book: SchemaBook): Part {
  const headers = (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }))
  return {
    post: {
      operationId: 'provisioningWebhook',
      tags: ['Webhooks'],
      summary: 'What the webhook of a template is sent, signed by Standard Webhooks',
      security: [{ signature: [] }],
      parameters: headers,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: book.taken(anyWebhookBody),
            examples: {
              provisioned: { summary: 'A site is ready', value: examples.receiveWebhook.ready.body },
              test: { summary: 'An admin tries the receiver', value: examples.receiveWebhook.test.body },
            },
          },
        },
      },
      responses: {
        '2XX': { description: 'Taken. Anything else is tried again: after 5 s, 5 min, 30 min, then for three days.' },
        410: { description: 'The receiver is gone: nothing is sent to it any more.' },
      },
    },
  }
}
