/** A page for people, as an answer of a route. */
export interface Page {
  readonly mediaType: 'text/html'
  readonly body: string
  readonly headers: { readonly 'Content-Security-Policy': string; readonly 'Referrer-Policy': string }
}
export const pageHeaders = ['Content-Security-Policy', 'Referrer-Policy'] as const

/** The page loads and runs nothing; a form posts only to the page's own address. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Returns a page with this HTML in it. `referrer`: what browsers send to the links of the page. */
export const pageOf = (content: string, referrer = 'no-referrer'): Page => ({
  mediaType: 'text/html',
  headers: { 'Content-Security-Policy': policy, 'Referrer-Policy': referrer },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Quartermaster</title>
<style>
html { background: Canvas; color: CanvasText }
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0.5rem }
p { margin: 0 0 1rem }
ul { margin: 0 0 1rem; padding: 0 0 0 1.25rem }
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
