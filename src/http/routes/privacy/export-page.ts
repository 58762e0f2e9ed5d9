import type { ExportKind, ExportPreview } from '../../../core/index.ts'

/** A page of a link to an export, as a route answers it. */
export interface ExportPage {
  readonly mediaType: 'text/html'
  readonly body: string
  readonly headers: { readonly 'Content-Security-Policy': string; readonly 'Referrer-Policy': string }
}

/** The page loads nothing and runs nothing; its form leads to its own address only. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const titles: Readonly<Record<ExportKind, string>> = {
  requests: 'Requests',
  audit: 'Audit entries',
  person: 'Stored data of one person',
}

/**
 * Asks for a click before the link is used: scanners and previews of links read pages and send no forms. The form needs no
 * token against forged requests: its address is the secret, and a page that knows the address could open the link anyway.
 */
export function pageOfLink({ name, content, until }: ExportPreview): ExportPage {
  const { what, format, from, to } = content
  const days = what === 'person' ? '' : `<p>${from === to ? from : `${from} to ${to}`}, UTC.</p>\n`
  const [day, time] = until.toISOString().split('T')
  return page(
    `<h1>${titles[what]}, ${format.toUpperCase()}</h1>
${days}<p class="file">${name}</p>
<p>This link works once, until <time datetime="${until.toISOString()}">${time?.slice(0, 5)} UTC</time> on ${day}. Your download is recorded in the audit.</p>
<form method="post"><button>Download</button></form>
<p class="small">If the download breaks off, ask the bot for a new link.</p>`,
    // With no-referrer a browser names no origin for the form, and local mode refuses calls of unknown pages.
    'same-origin',
  )
}

/** Says why a link gives nothing. */
export const pageSaying = (says: string): ExportPage => page(`<p>${says}</p>`, 'no-referrer')

const page = (content: string, referrer: string): ExportPage => ({
  mediaType: 'text/html',
  headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': referrer },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quartermaster</title>
<style>
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
p { margin: 0 0 1rem }
.file { font-family: ui-monospace, monospace; font-size: 0.95rem }
.small { font-size: 0.95rem }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.5rem 1.5rem; margin: 0.5rem 0 1.5rem; border: 0; border-radius: 0.375rem; background: #0f5ea8; color: #fff; cursor: pointer }
button:hover { background: #0c4d8a }
button:focus-visible { outline: 3px solid; outline-offset: 3px }
</style>
<main>
${content}
</main>
</html>
`,
})
