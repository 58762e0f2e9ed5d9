import type { Reply } from './wire.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for HTML, in content and in quoted attributes. */
export const escapeHtml = (value: string): string => value.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f5f5f5;color:#242424}
main{max-width:40rem;margin:3rem auto;padding:2rem;background:#fff;border-radius:8px;box-shadow:0 1px 4px #0002}
h1{margin:0 0 1rem;font-size:1.6rem;overflow-wrap:anywhere}dt{font-weight:600;margin-top:1rem}dd{margin:0}
label{display:block;margin:1rem 0 .25rem;font-weight:600}input,select{font:inherit;width:100%;padding:.5rem;box-sizing:border-box}
button{font:inherit;margin:1.5rem .5rem 0 0;padding:.5rem 1.25rem}.alert{color:#a4262c}footer{margin-top:2rem;color:#616161;font-size:.85rem}`

/** A page in the simulator's one look; `content` is HTML. */
export function html(status: number, title: string, content: string): Reply {
  return {
    status,
    headers: {
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
    },
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>${content}
<footer>Contoso, a Microsoft 365 simulated on this computer</footer></main></body></html>`,
  }
}

/** Terms and what is said of each, e.g. the properties of a site; empty ones are told as None. */
export const definitions = (rows: readonly (readonly [term: string, value: string])[]): string =>
  `<dl>${rows.map(([term, value]) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(value || 'None')}</dd>`).join('')}</dl>`
