import { contoso, findLabel, findPerson } from './contoso.ts'
import { mailboxListPage, mailboxPage } from './mailbox-pages.ts'
import { definitions, escapeHtml, html } from './page-html.ts'
import { answerDeviceCode, readDeviceCode } from './sign-ins.ts'
import { now, type Tenant } from './tenant.ts'
import { objectsOf } from './tenant-groups.ts'
import { findSite, isReady, type Site, siteOwners } from './tenant-sites.ts'
import { asRecord, type Call, nobody, type Reply, type Service, text } from './wire.ts'

/** Where Outlook on the web makes a meeting; here it shows whom it would invite. */
const newMeeting = '/calendar/deeplink/compose'

/** The pages that people open in a browser: a site's home, mailboxes, and the page that finishes a device's sign-in. */
export function pageService(tenant: Tenant): Service {
  return {
    name: 'pages',
    observed: false,
    owns: (path) =>
      path === '/devicelogin' ||
      path === newMeeting ||
      /^\/(sites\/[^/]+|mail\/[^/]+|mailboxes(\/[^/]+)?)\/?$/.test(path),
    admit: async () => nobody,
    refusal: (status, message) => html(status, 'Not here', `<p>${escapeHtml(message)}</p>`),
    operations: [
      {
        name: 'page.site',
        method: 'GET',
        path: /^\/sites\/([^/]+)\/?$/,
        handle: (call) => sitePage(tenant, call.params[0] ?? ''),
      },
      {
        name: 'page.mailboxes',
        method: 'GET',
        path: /^\/mailboxes\/?$/,
        handle: () => mailboxListPage(tenant),
      },
      {
        name: 'page.mailbox',
        method: 'GET',
        // The second is Outlook on the web's own path.
        path: /^\/(?:mailboxes|mail)\/([^/]+)\/?$/,
        handle: (call) => mailboxPage(tenant, call.params[0] ?? ''),
      },
      {
        name: 'page.new-meeting',
        method: 'GET',
        path: /^\/calendar\/deeplink\/compose$/,
        handle: (call) => mailboxPage(tenant, call.query.get('to') ?? ''),
      },
      {
        name: 'page.devicelogin',
        method: 'GET',
        path: /^\/devicelogin$/,
        handle: (call) => signInForm(200, call.query.get('user_code') ?? '', undefined),
      },
      { name: 'page.devicelogin', method: 'POST', path: /^\/devicelogin$/, handle: (call) => signIn(tenant, call) },
    ],
  }
}

function sitePage(tenant: Tenant, path: string): Reply {
  const site = findSite(tenant, 'path', path)
  if (!site) return html(404, 'There is no site here', '<p>The address is not that of a site of Contoso.</p>')
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
  const options = contoso.people.map(
    ({ id, displayName, jobTitle }) => `<option value="${id}">${escapeHtml(`${displayName}, ${jobTitle}`)}</option>`,
  )
  const alert = problem === undefined ? '' : `<p class="alert" role="alert">${escapeHtml(problem)}</p>`
  return html(
    status,
    'Sign in to a device',
    `${alert}<form method="post" action="/devicelogin">
<label for="user_code">Code that the device shows</label>
<input id="user_code" name="user_code" value="${escapeHtml(userCode)}" autocomplete="off" required>
<label for="person">Sign in as</label><select id="person" name="person">${options.join('')}</select>
<button name="answer" value="allow">Sign in</button><button name="answer" value="decline">Do not sign in</button></form>`,
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
    answerDeviceCode(tenant, code.deviceCode, undefined)
    return html(200, 'You did not sign in', '<p>You can close this window.</p>')
  }
  const person = findPerson(text(form, 'person'))
  if (!person) return signInForm(400, typed, 'Choose who signs in.')
  answerDeviceCode(tenant, code.deviceCode, person.id)
  return html(
    200,
    'You have signed in',
    `<p>${escapeHtml(person.displayName)} is signed in on the device. You can close this window.</p>`,
  )
}
