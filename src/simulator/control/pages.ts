import { mailboxDoc, trusteeName } from '../exchange/index.ts'
import {
  answerCodeRequest,
  answerDeviceCode,
  type CodeRequest,
  checkCodeRequest,
  consentOnPage,
  knownTenant,
  readCodeRequest,
  readDeviceCode,
  refusedLocation,
} from '../login/index.ts'
import {
  type Access,
  accessTo,
  allMailboxes,
  asRecord,
  type Call,
  contoso,
  findLabel,
  findMailbox,
  findPerson,
  findSite,
  isReady,
  type Mailbox,
  nobody,
  now,
  objectsOf,
  operation,
  Refused,
  type Reply,
  type Service,
  type Site,
  siteOwners,
  type Tenant,
  text,
} from '../tenant/index.ts'

const authorizePath = /^\/([^/]+)\/oauth2\/v2\.0\/authorize$/
/** The address where Outlook on the web creates a meeting. Here it shows the mailbox to invite. */
const newMeeting = '/calendar/deeplink/compose'

/** Creates the web pages for people: a site's home page, mailboxes, and the sign-in, also for a device. */
export function pageService(tenant: Tenant): Service {
  return {
    name: 'pages',
    observed: false,
    owns: (path) =>
      path === '/devicelogin' ||
      path === newMeeting ||
      authorizePath.test(path) ||
      /^\/(sites\/[^/]+|mail\/[^/]+|mailboxes(\/[^/]+)?)\/?$/.test(path),
    admit: async () => nobody,
    refusal: (status, message) => html(status, 'This page is not available', `<p>${escapeHtml(message)}</p>`),
    operations: [
      operation('page.site', 'GET', /^\/sites\/([^/]+)\/?$/, (call) => sitePage(tenant, call.params[0] ?? '')),
      operation('page.mailboxes', 'GET', /^\/mailboxes\/?$/, () => mailboxListPage(tenant)),
      // `/mail/…` is Outlook on the web's own path.
      operation('page.mailbox', 'GET', /^\/(?:mailboxes|mail)\/([^/]+)\/?$/, (call) =>
        mailboxPage(tenant, call.params[0] ?? ''),
      ),
      operation('page.new-meeting', 'GET', /^\/calendar\/deeplink\/compose$/, (call) =>
        mailboxPage(tenant, call.query.get('to') ?? ''),
      ),
      operation('page.devicelogin', 'GET', /^\/devicelogin$/, (call) =>
        signInForm(200, call.query.get('user_code') ?? '', undefined),
      ),
      operation('page.devicelogin', 'POST', /^\/devicelogin$/, (call) => signIn(tenant, call)),
      operation('page.authorize', 'GET', authorizePath, (call) => authorize(tenant, call)),
      operation('page.authorize', 'POST', authorizePath, (call) => authorize(tenant, call)),
    ],
  }
}

function sitePage(tenant: Tenant, path: string): Reply {
  const site = findSite(tenant, 'path', path)
  if (!site) return html(404, 'There is no site here', '<p>Contoso has no site at this address.</p>')
  if (!isReady(site)) return html(404, 'This site is being set up', '<p>Please open it again in a moment.</p>')
  const group = site.groupId === undefined ? [] : objectsOf(tenant, site.groupId, 'owners')
  const owners = new Set([...group, ...siteOwners(tenant, site.id).map(({ userId }) => userId)])
  const names = [...owners].map((id) => findPerson(id)?.displayName ?? id)
  const list = definitions([
    ['Description', site.doc.description],
    ['Kind', kindOf(site)],
    ['Owners', names.join(', ')],
    ['Sensitivity', (site.doc.label && findLabel(site.doc.label)?.name) || ''],
  ])
  return html(200, site.doc.title, list)
}

const kindOf = (site: Site): string => (site.groupId === undefined ? 'Communication site' : 'Team site')

function signInForm(status: number, userCode: string, problem: string | undefined): Reply {
  return html(
    status,
    'Sign in to a device',
    `${alertOf(problem)}<form method="post" action="/devicelogin">
<label for="user_code">Code that the device shows</label>
<input id="user_code" name="user_code" value="${escapeHtml(userCode)}" autocomplete="off" required>
${personFields()}</form>`,
  )
}

const alertOf = (problem: string | undefined): string =>
  problem === undefined ? '' : `<p class="alert" role="alert">${escapeHtml(problem)}</p>`

function personFields(): string {
  const options = contoso.people.map(
    ({ id, displayName, jobTitle }) => `<option value="${id}">${escapeHtml(`${displayName}, ${jobTitle}`)}</option>`,
  )
  return `<label for="person">Sign in as</label><select id="person" name="person">${options.join('')}</select>
<label><input type="checkbox" name="consent" value="organisation"> Consent on behalf of your organisation (admins only)</label>
<button name="answer" value="allow">Sign in</button><button name="answer" value="decline">Do not sign in</button>`
}

/** Shows the sign-in page of an app, and handles its form. The app receives the answer at its redirect URI. */
function authorize(tenant: Tenant, call: Call): Reply {
  let request: CodeRequest | undefined
  try {
    knownTenant(call)
    request = readCodeRequest(tenant, call)
    checkCodeRequest(tenant, request, call)
    const answer = call.method === 'POST' ? answerCodeRequest(tenant, request, call) : undefined
    if (answer && 'location' in answer) return { status: 302, headers: { location: answer.location } }
    return codeForm(request, answer?.problem)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (request) return { status: 302, headers: { location: refusedLocation(request, error) } }
    const description = text(asRecord(error.reply.body), 'error_description')
    return html(400, 'You cannot sign in', alertOf(description))
  }
}

/**
 * Builds the sign-in form. It is sent to its own address, which contains the request. The browser also checks the
 * target of the redirect after it.
 */
function codeForm({ clientName, scope, redirectUri }: CodeRequest, problem: string | undefined): Reply {
  return html(
    problem === undefined ? 200 : 403,
    'Sign in',
    `${alertOf(problem)}${definitions([
      ['App', clientName],
      ['Permissions', scope],
    ])}<form method="post">${personFields()}</form>`,
    new URL(redirectUri).origin,
  )
}

function signIn(tenant: Tenant, call: Call): Reply {
  const form = asRecord(call.body)
  const typed = text(form, 'user_code')
  const code = readDeviceCode(tenant, 'user_code', typed)
  if (!code || code.used || code.userId !== undefined || code.declined) {
    return signInForm(400, typed, 'That code is not known. Check what the device shows.')
  }
  if (code.expiresAt < now()) return signInForm(400, typed, 'That code has expired. Start again on the device.')
  if (text(form, 'answer') === 'decline') {
    answerDeviceCode(tenant, code.deviceCode, 'declined')
    return html(200, 'You did not sign in', '<p>You can close this window.</p>')
  }
  const person = findPerson(text(form, 'person'))
  if (!person) return signInForm(400, typed, 'Choose the person who signs in.')
  const { clientId, scope } = code
  const forAll = text(form, 'consent') === 'organisation'
  const problem = consentOnPage(tenant, { clientId, scope, userId: person.id, forAll })
  if (problem !== undefined) {
    answerDeviceCode(tenant, code.deviceCode, 'needsAdmin')
    const title = problem.startsWith('AADSTS90094') ? 'Need admin approval' : 'You cannot sign in'
    return html(403, title, `<p class="alert" role="alert">${escapeHtml(problem)}</p>`)
  }
  answerDeviceCode(tenant, code.deviceCode, { userId: person.id })
  return html(
    200,
    'You have signed in',
    `<p>${escapeHtml(person.displayName)} is signed in on the device. You can close this window.</p>`,
  )
}

const kinds: Readonly<Record<Mailbox['type'], string>> = {
  SharedMailbox: 'Shared mailbox',
  RoomMailbox: 'Room',
  EquipmentMailbox: 'Equipment',
}

/** Lists all mailboxes except people's, each with a link to its page. */
function mailboxListPage(tenant: Tenant): Reply {
  const items = allMailboxes(tenant).map((mailbox) => {
    const [address = ''] = mailbox.addresses
    const link = `<a href="/mailboxes/${encodeURIComponent(address)}">${escapeHtml(mailbox.doc.displayName)}</a>`
    return `<dt>${link}</dt><dd>${kinds[mailbox.type]}, ${escapeHtml(address)}</dd>`
  })
  return html(200, 'Mailboxes', items.length === 0 ? '<p>There are no mailboxes.</p>' : `<dl>${items.join('')}</dl>`)
}

/** Shows one mailbox, by any of its addresses. */
function mailboxPage(tenant: Tenant, address: string): Reply {
  const mailbox = address.includes('@') ? findMailbox(tenant, address) : undefined
  const back = '<p><a href="/mailboxes">All mailboxes</a></p>'
  if (!mailbox) return html(404, 'There is no mailbox here', `<p>Contoso has no mailbox at this address.</p>${back}`)
  const [primary = '', ...others] = mailbox.addresses
  const access = accessTo(tenant, mailbox.id)
  const doc = mailboxDoc(mailbox)
  const list = definitions([
    ['Kind', kinds[mailbox.type]],
    ['Address', primary],
    ['Other addresses', others.join(', ')],
    ['Full access', holders(tenant, access, 'FullAccess')],
    ['May send as', holders(tenant, access, 'SendAs')],
    ['Sign-in', mailbox.accountEnabled ? 'Allowed' : 'Blocked'],
    ['In the address list', doc['HiddenFromAddressListsEnabled'] === true ? 'Hidden' : 'Shown'],
    ['Maximum size', String(doc['ProhibitSendReceiveQuota'])],
    ...settings(mailbox),
  ])
  return html(200, mailbox.doc.displayName, list + back)
}

function holders(tenant: Tenant, access: readonly Access[], wanted: string): string {
  return access
    .filter((entry) => entry.access === wanted)
    .map(({ trusteeId, autoMapping }) => {
      const name = findPerson(trusteeId)?.displayName ?? trusteeName(tenant, trusteeId, 'userPrincipalName')
      return wanted === 'FullAccess' && !autoMapping ? `${name} (does not open automatically)` : name
    })
    .join(', ')
}

/** Returns the values that cmdlets have set, under Exchange's names. */
function settings({ doc }: Mailbox): (readonly [string, string])[] {
  const { HiddenFromAddressListsEnabled: _, ...mailbox } = doc.mailbox
  return [doc.user, doc.place, doc.calendar, doc.autoReply, mailbox]
    .flatMap((part) => Object.entries(part))
    .filter(([name, value]) => value !== '' && value !== null && !name.endsWith('Quota'))
    .map(([name, value]) => [spaced(name), Array.isArray(value) ? value.join(', ') : shownText(value)])
}

const spaced = (name: string): string => name.replace(/([a-z])(?=[A-Z0-9])/g, '$1 ')
const shownText = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value))

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML content and quoted attributes. */
const escapeHtml = (value: string): string => value.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f5f5f5;color:#242424}
main{max-width:40rem;margin:3rem auto;padding:2rem;background:#fff;border-radius:8px;box-shadow:0 1px 4px #0002}
h1{margin:0 0 1rem;font-size:1.6rem;overflow-wrap:anywhere}dt{font-weight:600;margin-top:1rem}dd{margin:0}
label{display:block;margin:1rem 0 .25rem;font-weight:600}input,select{font:inherit;width:100%;padding:.5rem;box-sizing:border-box}
input[type=checkbox]{width:auto;margin-right:.5rem}
button{font:inherit;margin:1.5rem .5rem 0 0;padding:.5rem 1.25rem}.alert{color:#a4262c}footer{margin-top:2rem;color:#616161;font-size:.85rem}`

/** Builds a page in the simulator's style; `content` is HTML. Its forms may lead to the simulator and to `leadsTo`. */
function html(status: number, title: string, content: string, leadsTo = ''): Reply {
  return {
    status,
    headers: {
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action 'self' ${leadsTo}; base-uri 'none'; frame-ancestors 'none'`,
      'x-content-type-options': 'nosniff',
    },
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<style>${style}</style></head><body><main><h1>${escapeHtml(title)}</h1>${content}
<footer>Contoso, a Microsoft 365 simulated on this computer</footer></main></body></html>`,
  }
}

/** Builds a list of terms and values, such as the properties of a site. An empty value is shown as None. */
const definitions = (rows: readonly (readonly [term: string, value: string])[]): string =>
  `<dl>${rows.map(([term, value]) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(value || 'None')}</dd>`).join('')}</dl>`
