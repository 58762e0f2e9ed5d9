/** Exports by single-use links. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import {
  type ClosedLink,
  type ExportFile,
  type ExportKind,
  type ExportPreview,
  linkMinutes,
} from '../../../core/index.ts'
import { answered } from '../../server/answers.ts'
import { definePublicRoute, type Scope } from '../../server/define-route.ts'
import { HttpError } from '../../server/problem.ts'
import type { HttpErrorCode } from '../../server/problem-codes.ts'
import { commonHeaders } from '../../server/respond.ts'
import { pageHeaders as headers, type Page, pageOf } from './pages.ts'

const page = z.string().describe('A page for people, if the caller accepts `text/html`.')
const showing = (description: string) => ({ description, body: page, mediaTypes: ['text/html'], headers }) as const
const notAdmin = showing('The person who requested the link is no longer an admin.')
const unknown = showing('The link was not issued, or its key has changed.')
const ended = showing('The link was already used or has expired.')
const link = {
  tag: 'Administration',
  path: '/exports/v1/:token',
  permission: 'public',
  audience: null,
  anyAccept: true,
  params: z.object({ token: z.string().min(1) }),
  examples: {},
} as const
const refused = ['link-used', 'link-expired', 'link-changed', 'link-refused', 'unavailable'] as const

/** Shows the file that a link downloads. The link stays unused, because link scanners and previews call this. */
const showExport = definePublicRoute({
  ...link,
  id: 'showExport',
  method: 'GET',
  summary: 'Show the page of an export link, with the download button',
  description: 'Returns a page with a button. The link stays valid, because only a POST returns the file.',
  answers: { 200: showing('The page. The link stays unused.'), 403: notAdmin, 404: unknown, 410: ended },
  refusals: [...refused, 'link-needs-post'],
  async handle(scope, { params: { token } }) {
    const found = await scope.services.core.system.previewExport(token)
    if (found.state !== 'open') return refusal(scope, found)
    if (acceptsPage(scope)) return { status: 200 as const, ...pageOfLink(found) }
    const detail =
      'Send a POST to this address to download the file: curl -X POST -OJ and the address. The link works once.'
    throw new HttpError('link-needs-post', detail, { headers: { Allow: 'POST' } })
  },
})

/** Uses a link and returns its file. The link is the only credential. */
const downloadExport = definePublicRoute({
  ...link,
  id: 'downloadExport',
  method: 'POST',
  summary: 'Download the file of an export link, once',
  description: 'Returns the file of the export once. The link ends with this call.',
  answers: {
    200: {
      description: 'The file, streamed. The link is used up, even if the download breaks off.',
      body: z.string(),
      mediaTypes: ['text/csv', 'application/json'],
      headers: ['Content-Disposition', ...headers],
    },
    403: notAdmin,
    404: unknown,
    410: ended,
  },
  refusals: refused,
  async handle(scope, { params: { token } }) {
    const found = await scope.services.core.system.openExport(token)
    return found.state === 'open' ? download(scope, found) : refusal(scope, found)
  },
})

const newLink = 'For a new link, type admin export or admin export person to the bot in Teams.'
const refusals = {
  used: { status: 410, code: 'link-used', detail: `This link was already used. It works only once. ${newLink}` },
  expired: {
    status: 410,
    code: 'link-expired',
    detail: `This link has expired. It works for ${linkMinutes} minutes. ${newLink}`,
  },
  changed: {
    status: 404,
    code: 'link-changed',
    detail: `This link is unknown: a part of it is missing, or it expired more than a day ago. ${newLink}`,
  },
  refused: { status: 403, code: 'link-refused', detail: 'The person who requested this link is no longer an admin.' },
} as const satisfies Record<ClosedLink['state'], { status: number; code: HttpErrorCode; detail: string }>

const acceptsPage = ({ headers }: Scope): boolean => /\btext\/html\b/.test(headers.accept ?? '')

function refusal(scope: Scope, { state }: ClosedLink) {
  const { status, code, detail } = refusals[state]
  if (!acceptsPage(scope)) throw new HttpError(code, detail)
  return { status, ...pageSaying(detail) }
}

/** Browsers send the secret address to no other site, and run nothing in the file. */
const ofFile = {
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
} as const
const mediaTypes = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json; charset=utf-8' } as const

/** Streams the file, so a long one fills no memory. A caller who disconnects ends the stream. */
async function download(
  { response, requestId }: Scope,
  { name, format, content }: ExportFile,
): Promise<typeof answered> {
  response.writeHead(200, {
    ...commonHeaders(requestId),
    ...ofFile,
    'Content-Type': mediaTypes[format],
    'Content-Disposition': `attachment; filename="${name}"`,
  })
  await pipeline(Readable.from(content), response).catch((error: unknown) => {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
    if (!isGone) throw error
  })
  return answered
}

const titles: Readonly<Record<ExportKind, string>> = {
  requests: 'Requests',
  audit: 'Audit entries',
  person: 'Stored data of one person',
}

/**
 * Requires a click before the link is used: link scanners read pages and send no forms. The form needs no CSRF token,
 * because its address is the secret: a page that knows it could open the link anyway.
 */
function pageOfLink({ name, content, until }: ExportPreview): Page {
  const { what, format, from, to } = content
  const days = what === 'person' ? '' : `<p>${from === to ? from : `${from} to ${to}`}, UTC.</p>\n`
  const [day, time] = until.toISOString().split('T')
  return pageOf(
    `<h1>${titles[what]}, ${format.toUpperCase()}</h1>
${days}<p class="file">${name}</p>
<p>This link works once, until <time datetime="${until.toISOString()}">${time?.slice(0, 5)} UTC</time> on ${day}. The audit records your download.</p>
<form method="post"><button>Download</button></form>
<p class="small">If the download breaks off, ask the bot for a new link.</p>`,
    // With no-referrer a browser sends no Origin with the form, and local mode refuses calls of unknown pages.
    'same-origin',
  )
}

/** Returns a page with one text, for example why a link returns no file. */
const pageSaying = (text: string): Page => pageOf(`<p>${text}</p>`)

export const exportRoutes = [showExport, downloadExport] as const
