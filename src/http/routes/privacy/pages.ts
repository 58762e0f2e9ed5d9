import { z } from 'zod'
import { definePublicRoute, type Services } from '../../server/define-route.ts'

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

type PageName = 'about' | 'privacy' | 'terms'

const links =
  '<p class="small"><a href="/about">About</a> · <a href="/privacy">Privacy</a> · <a href="/terms">Terms of use</a></p>'

const contents: Readonly<Record<PageName, (services: Services) => string>> = {
  about: () => `<h1>Quartermaster</h1>
<p>Quartermaster creates mailboxes and SharePoint sites in your organisation.</p>
<p>Open the chat with the bot in Teams and type <strong>help</strong>. Programs use the <a href="/docs">API</a>.</p>`,
  privacy: ({ core }) => `<h1>Privacy</h1>
<p>Your organisation runs this service. It creates mailboxes and SharePoint sites that people request.</p>
<h2>What it stores about you</h2>
<ul>
<li>your name, sign-in name and user id, and the id of your chat with the bot</li>
<li>your forms, requests, decisions and comments</li>
<li>an audit of your actions, with times</li>
</ul>
<p>It does not read your mail, your files or your other chats.</p>
<h2>Who can see it</h2>
<ul>
<li>a request: its requester, its approvers and the admins of the service</li>
<li>created mailboxes and sites: your organisation’s Microsoft 365, and programs that admins connected</li>
</ul>
<h2>How long it is kept</h2>
<p>${keptFor(core.settings.retentionDays)} The audit is kept.</p>
<h2>Your data</h2>
<p>An admin of the service can give you a copy of your data, and erase your name and your texts. Ask your IT support.</p>`,
  terms: () => `<h1>Terms of use</h1>
<p>Your organisation runs this service for its people. The organisation’s rules for accounts, mailboxes, sites and data apply.</p>
<ul>
<li>Templates and approvers of your organisation decide what you can get.</li>
<li>Requests and decisions are recorded.</li>
<li>Do not enter passwords or other secrets.</li>
</ul>
<p>The software is Quartermaster. Its MIT licence gives no warranty.</p>`,
}

const keptFor = (days: number | undefined): string =>
  days === undefined
    ? 'Requests are kept.'
    : `The texts of a request are removed ${days === 1 ? 'one day' : `${days} days`} after it has ended. Failed requests are kept.`

const pageRoute = (id: string, name: PageName, summary: string) =>
  definePublicRoute({
    id,
    tag: 'Service',
    method: 'GET',
    path: `/${name}`,
    summary,
    description: `Returns the page as HTML${name === 'about' ? '' : ', or a redirect to the page of the organisation'}.`,
    permission: 'public',
    audience: null,
    answers: {
      200: { description: 'The page.', body: z.string(), mediaTypes: ['text/html'], headers: pageHeaders },
      302: { description: 'A redirect to the organisation’s own page.', body: null, headers: ['Location'] },
    },
    refusals: [],
    examples: {},
    anyAccept: true,
    async handle({ services }) {
      const elsewhere = name === 'about' ? undefined : services.ownPages?.[name]
      if (elsewhere !== undefined) return { status: 302 as const, headers: { Location: elsewhere } }
      return { status: 200 as const, ...pageOf(`${contents[name](services)}\n${links}`) }
    },
  })

/** The pages that the Teams app links to: about the service, privacy, terms of use. Anyone may read them. */
export const pageRoutes = [
  pageRoute('readAbout', 'about', 'Show the page about the service'),
  pageRoute('readPrivacy', 'privacy', 'Show the privacy page that the Teams app links to'),
  pageRoute('readTerms', 'terms', 'Show the terms of use that the Teams app links to'),
] as const
