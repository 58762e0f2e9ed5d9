import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import type { ClosedLink, ExportFile } from '../../core/index.ts'
import { definePublicRoute, type Scope } from '../define-route.ts'
import { HttpError } from '../problem.ts'
import type { HttpErrorCode } from '../problem-codes.ts'
import { commonHeaders } from '../respond.ts'
import { answered } from '../route-answers.ts'

const page = z.string().describe('A page for people, where the caller takes `text/html`.')
const headers = ['Content-Security-Policy', 'Referrer-Policy'] as const
const closed = (says: string) => ({ says, body: page, mediaTypes: ['text/html'], headers })

/** What a link to an export gives. Whoever has it needs no more, so it works for a quarter of an hour, and for an admin only. */
export const downloadExport = definePublicRoute({
  id: 'downloadExport',
  tag: 'Administration',
  method: 'GET',
  path: '/exports/v1/:token',
  summary: 'The file behind a link that the bot gave to an admin',
  permission: 'public',
  audience: null,
  credential: 'signature',
  anyAccept: true,
  params: z.object({ token: z.string().min(1) }),
  answers: {
    200: {
      says: 'The file, a part at a time.',
      body: z.string(),
      mediaTypes: ['text/csv', 'application/json'],
      headers: ['Content-Disposition', ...headers],
    },
    403: closed('Who had the link made is no admin any more.'),
    404: closed('The link is not as the bot made it.'),
    410: closed('The link has expired.'),
  },
  refusals: ['link-expired', 'link-changed', 'link-refused', 'unavailable'],
  examples: {},
  async handle(scope, { params: { token } }) {
    const isLook = scope.request.method === 'HEAD'
    const found = await scope.services.provisioning.system.openExport(token, isLook)
    if (found.state === 'open') return download(scope, found)
    const { status, code, says } = refusals[found.state]
    if (!/\btext\/html\b/.test(scope.headers.accept ?? '')) throw new HttpError(code, says)
    const body = pageSaying(says)
    return { status, mediaType: 'text/html', headers: { ...quiet, 'Content-Security-Policy': policy }, body }
  },
})

const again = 'Ask the bot for a new one in Teams: type admin export, or admin export person.'
const refusals = {
  expired: { status: 410, code: 'link-expired', says: `This link has expired: it worked for 15 minutes. ${again}` },
  changed: {
    status: 404,
    code: 'link-changed',
    says: `This link is not as I gave it: a part of it is missing or changed. ${again}`,
  },
  refused: { status: 403, code: 'link-refused', says: 'Whoever asked for this link is no admin any more.' },
} as const satisfies Record<ClosedLink['state'], { status: number; code: HttpErrorCode; says: string }>

/** The address is a secret, so it goes to nobody; and nothing that stands in the file is run. */
const quiet = { 'Referrer-Policy': 'no-referrer' } as const
const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
const mediaTypes = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json; charset=utf-8' } as const

/** Written as it is read: what is long fills no memory. A caller who goes away ends it. */
async function download(
  { request, response, requestId }: Scope,
  { name, format, content }: ExportFile,
): Promise<typeof answered> {
  response.writeHead(200, {
    ...commonHeaders(requestId),
    ...quiet,
    'Content-Type': mediaTypes[format],
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': policy,
  })
  if (request.method === 'HEAD') response.end()
  else
    await pipeline(Readable.from(content), response).catch((error: unknown) => {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
      if (!isGone) throw error
    })
  return answered
}

const pageSaying = (says: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quartermaster</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }</style>
<p>${says}</p>
</html>
`
