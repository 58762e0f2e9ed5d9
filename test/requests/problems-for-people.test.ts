import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  asWritten,
  because,
  entryDataFor,
  problemForPeople,
  publicCode,
  publicReasons,
  sentenceOf,
  TenantError,
  viewFor,
} from '../../src/core/index.ts'
import { viewerOf } from '../support/card-world.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, kim, priya, tenantWith, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'

/** Texts for admins only: codes of Entra ID, Exchange, SharePoint and Graph, settings and permissions. */
const internal =
  /AADSTS|Exception|System\.|http-|_|answered \d|[A-Z]\w+\.(?:Read|FullControl|Manage)|\b[a-z]+[A-Z]\w+\b/

describe('a problem for people who are not admins', () => {
  const core = withCore()
  const problems = [
    ['sign-in-refused', 'Entra ID refused to sign the service in (AADSTS700027).', 'sign-in-refused'],
    ['CmdletProxyException', 'Exchange Online answered 400 (CmdletProxyException) while creating it.', 'no-answer'],
    ['ADServerSettingsChangedException', 'Exchange Online answered 400 (ADServerSettingsChangedException).', 'refused'],
    ['ProxyAddressExistsException', 'Exchange Online answered 400 (ProxyAddressExistsException).', 'name-taken'],
    ['ManagementObjectNotFoundException', 'Exchange Online answered 404.', 'not-ready'],
    ['-2147024891, System.UnauthorizedAccessException', 'SharePoint answered 403 (-2147024891).', 'refused'],
    ['Request_ResourceNotFound', 'Microsoft Graph answered 404 (Request_ResourceNotFound).', 'refused'],
    ['http-503', 'Microsoft Graph answered 503 while creating the group.', 'no-answer'],
    ['permission-missing', 'Grant Group.ReadWrite.All.', 'permission-missing'],
    ['accounts-hidden', 'Grant User.Read.All.', 'accounts-hidden'],
    ['foreign-address', 'Add the host to SHAREPOINT_URL.', 'foreign-address'],
  ] as const

  it.each(problems)(
    'of the code %s is explained without codes, and admins read the detail',
    async (code, detail, shownCode) => {
      const { id: templateId } = await core.template({ kind: 'teamSite' })
      const asKim = actorOf(kim)
      const body = { displayName: `Harbour ${code}`.replace(/[^\w ]/g, ''), templateId }
      const { requestId } = await core.provisioning.submitSite(asKim, { body })
      const tenant = tenantWith({
        'create-site': async () => {
          throw new TenantError(code, asWritten(detail), { retryable: false })
        },
      })
      await core
        .with({ tenant })
        .system.provision(requestId, { lastAttempt: true, signal: AbortSignal.timeout(30_000) })
      const request = await core.provisioning.readRequest(asKim, { requestId })
      const shown = viewFor(request, { isAdmin: false })
      expect(shown.problem?.code).toBe(shownCode)
      expect(shown.problem?.detail).not.toMatch(internal)
      expect(JSON.stringify(shown)).not.toContain(detail)
      expect(viewFor(request, { isAdmin: true }).problem).toMatchObject({ code, detail })

      const timeline = await core.provisioning.readTimeline(asKim, { requestId })
      const data = timeline.find(({ action }) => action === 'failed')?.data ?? {}
      expect(entryDataFor(data, { isAdmin: false })).toMatchObject({ code: shownCode, detail: shown.problem?.detail })
      expect(entryDataFor(data, { isAdmin: true })).toMatchObject({ code, detail })

      const why = await core.provisioning.readExplanation(asKim, { requestId })
      expect(JSON.stringify(why)).not.toContain(detail)
      expect(textOf(cards.requestStatus(request, viewerOf(kim)))).not.toContain(detail)
      expect(textOf(cards.requestStatus(request, viewerOf(priya, { isAdmin: true })))).toContain(detail)
    },
  )

  it('keeps a text that is only about the request', () => {
    const taken = { code: 'name-taken', detail: 'harbour is taken. harbour-2 is free.', suggestion: 'harbour-2' }
    expect(problemForPeople(taken)).toEqual(taken)
  })

  it('has a text for each problem code of the service', () => {
    const files = ['src/core', 'src/microsoft365'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    const codes = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/new (?:Tenant|Cmdlet)Error\(\s*'([a-z-]+)'/g)])
      .map(([, code]) => String(code))
    expect(codes.length).toBeGreaterThan(15)
    // A person with an unreadable account cannot send requests, so no request has this problem.
    // Only the check of an installation checks whether the commands of Exchange exist.
    const notOfRequests = ['account-unreadable', 'cmdlet-missing']
    expect(codes.filter((code) => !Object.hasOwn(publicReasons, code) && !notOfRequests.includes(code))).toEqual([])
    for (const key of Object.values(publicReasons))
      if (key !== 'own') expect(sentenceOf(because(key))).not.toMatch(internal)
    expect(publicCode('something new')).toBe('refused')
  })

  it('hides the detail of our own codes for services that do not answer', async () => {
    const { id: templateId } = await core.template({ kind: 'teamSite' })
    const { requestId } = await core.provisioning.submitSite(actorOf(kim), {
      body: { displayName: 'Quay', templateId },
    })
    const request = await core.provisioning.readRequest(actorOf(kim), { requestId })
    const problem = { code: 'timeout', detail: 'Microsoft Graph did not answer in time while creating the group.' }
    expect(viewFor({ ...request, problem }, { isAdmin: false }).problem).toEqual({
      code: 'timeout',
      detail: 'Microsoft 365 did not answer.',
    })
  })
})
