import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Caller, caller, mailboxView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const clientId = 'a0000000-0000-4000-8000-000000000001'
const accepted = z.object({
  requestId: z.uuid(),
  tenantId: z.literal(contosoTenant),
  approvalRequired: z.boolean(),
  status: z.string(),
})

describe('a mailbox request by REST', () => {
  const service = withService({
    ...{ RATE_LIMIT_READS_PER_MINUTE: '0', FOLLOW_UP_FIRST_SECONDS: '1', FOLLOW_UP_EVERY_SECONDS: '1' },
    MAIL_APP_CLIENTS: clientId.toUpperCase(),
  })
  const { call, problem } = caller(service)
  const scope = () => `${service.app.url}/mail/App.ReadWrite.All`
  const forMail = (who: keyof typeof people): Caller => ({ scope: scope(), userId: people[who].id })
  const post = (who: keyof typeof people | Caller, body: unknown, headers: Record<string, string> = {}) =>
    call(typeof who === 'string' ? forMail(who) : who, 'POST', '/mail/v1/mailboxes/', { body, headers })
  const ask = async (who: keyof typeof people, body: object) => {
    const answer = await post(who, body)
    expect(answer.status, answer.text).toBe(202)
    return accepted.parse(answer.body)
  }
  const read = async (who: Caller, requestId: string) =>
    mailboxView.parse((await call(who, 'GET', `/requests/v1/${requestId}`)).body)
  const ends = (requestId: string, status: string) =>
    until(async () => {
      const view = await read('sam', requestId)
      if (view.status === 'failed' && status !== 'failed') throw new Error(JSON.stringify(view.problem))
      return view.status === status ? view : undefined
    }, `${requestId} to be ${status}`)

  it('is accepted at once and can be followed until the requested mailbox is ready', async () => {
    const body = {
      ...{ name: 'aurora', displayName: 'Aurora helpdesk', templateId: templates.sharedMailbox },
      ...{ alias: 'aurora-help@contoso.example', capacity: 2048, hideFromGAL: true, notes: 'For the move' },
      permissions: { [people.dana.id]: 'FullAccess', [people.omar.id]: 'SendAs' },
    }
    const answer = await post('kim', body)
    expect(answer.status, answer.text).toBe(202)
    const { requestId, approvalRequired, status } = accepted.parse(answer.body)
    expect([approvalRequired, status]).toEqual([false, 'queued'])
    expect(answer.headers.get('location')).toBe(`/requests/v1/${requestId}`)
    expect(answer.headers.get('retry-after')).toBe('1')
    const view = await ends(requestId, 'succeeded')
    expect(view.resource?.address).toBe('shared-aurora@contoso.example')
    const { templateId, ...details } = body
    expect(view).toMatchObject({
      kind: 'sharedMailbox',
      templateId,
      details: {
        ...details,
        name: 'shared-aurora',
        alias: 'shared-aurora-help@contoso.example',
        domain: 'contoso.example',
      },
    })
    expect(view.checks.length).toBeGreaterThan(3)
    expect(view.checks.every(({ ok }) => ok)).toBe(true)
  })

  it.each([
    [
      'sharedMailbox',
      'a shared mailbox without permissions',
      { alias: 'further' },
      'shared-doc-shared@contoso.example',
    ],
    [
      'equipmentMailbox',
      'equipment without templateId',
      { metadata: { equipmentType: 'Projector' } },
      'eq-doc-equip@contoso.example',
    ],
    [
      'roomMailbox',
      'a room without templateId',
      { roomMailboxMetadata: { hasWhiteboard: true } },
      'room-doc-room@contoso.example',
    ],
  ])('for a %s accepts the API document’s example of %s and creates the mailbox', async (kind, _, more, address) => {
    const name = address.replace(/^(eq|room)-/, '').split('@')[0]
    const body = { name, displayName: `A ${kind}`, ...more, ...(kind !== 'sharedMailbox' && { permissions: {} }) }
    const { requestId } = await ask('kim', body)
    const view = await ends(requestId, 'succeeded')
    expect([view.kind, view.resource?.address]).toEqual([kind, address])
  })

  it('waits for its approver and is listed by its kind', async () => {
    const body = {
      name: 'alpine',
      displayName: 'Alpine',
      templateId: templates.customerMailbox,
      metadata: { customer: 'Alpine' },
    }
    const { requestId, approvalRequired, status } = await ask('kim', body)
    expect([approvalRequired, status]).toEqual([true, 'pendingApproval'])
    const list = await call(forMail('kim'), 'GET', '/requests/v1/?kind=sharedMailbox&status=pendingApproval')
    expect(
      z
        .object({ value: z.array(mailboxView) })
        .parse(list.body)
        .value.map((one) => one.requestId),
    ).toEqual([requestId])
    expect((await call('dana', 'POST', `/requests/v1/${requestId}/approve`, { body: {} })).status).toBe(200)
    expect((await ends(requestId, 'succeeded')).resource?.address).toBe('cust-alpine@contoso.example')
  })

  it('gets all faults at once, each at its pointer', async () => {
    const body = {
      ...{ displayName: '', templateId: templates.customerMailbox, capacity: 0, officeLocation: 'Hall', extra: 1 },
      ...{ permissions: { nobody: 'Owner' }, notes: 7 },
    }
    const refused = problem(await post('kim', body))
    expect([refused.status, refused.code]).toEqual([422, 'validation-failed'])
    expect(refused.errors?.map(({ pointer, code }) => `${pointer} ${code}`).sort()).toEqual([
      '#/capacity too-small',
      '#/displayName required',
      '#/extra unknown-field',
      '#/metadata/customer required',
      '#/name required',
      '#/notes wrong-type',
      '#/officeLocation not-applicable',
      '#/permissions/nobody invalid',
    ])
  })

  it.each([
    ['a site’s template', { templateId: templates.workingGroup }, 'wrong-resource'],
    ['no template and no property of one kind', {}, 'required'],
    ['properties of two kinds', { alias: 'x', officeLocation: 'Hall' }, 'required'],
  ])('is refused with %s, at #/templateId', async (_, more, code) => {
    const refused = problem(await post('kim', { name: 'x1', displayName: 'X', ...more }))
    expect([refused.status, refused.errors?.[0]?.pointer, refused.errors?.[0]?.code]).toEqual([
      422,
      '#/templateId',
      code,
    ])
  })

  it.each([
    ['empty', '', 400],
    ['not JSON', '{', 400],
    ['a list', '[]', 422],
    ['null', 'null', 422],
  ])('is refused with a body that is %s', async (_, body, status) => {
    expect(problem(await post('kim', body, { 'content-type': 'application/json' })).status).toBe(status)
  })

  it('gets 409 for a taken name, with a suggestion that is then accepted', async () => {
    const body = { name: 'room-zrh-matterhorn', displayName: 'Matterhorn', templateId: templates.meetingRoom }
    const refused = problem(await post('kim', body))
    expect([refused.status, refused.code]).toEqual([409, 'name-taken'])
    const [taken] = refused.errors ?? []
    expect(taken).toMatchObject({ pointer: '#/name', suggestion: 'room-zrh-matterhorn-2' })
    const { requestId } = await ask('kim', { ...body, name: taken?.suggestion ?? '' })
    expect((await ends(requestId, 'succeeded')).resource?.address).toBe('room-zrh-matterhorn-2@contoso.example')
  })

  it('creates one mailbox for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { name: 'once', displayName: 'Once', templateId: templates.sharedMailbox }
    const first = await post('kim', body, headers)
    const again = await post('kim', body, headers)
    expect([again.status, again.text]).toEqual([202, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const other = problem(await post('kim', { ...body, name: 'twice' }, headers))
    expect([other.status, other.code]).toEqual([422, 'idempotency-key-reused'])
  })

  it('has an entry about its completion in the timeline', async () => {
    const body = { name: 'told', displayName: 'Told', templateId: templates.sharedMailbox }
    const { requestId } = await ask('kim', body)
    const lines = z.object({ value: z.array(z.looseObject({ action: z.string(), data: z.unknown().optional() })) })
    const announced = await until(async () => {
      const { value } = lines.parse((await call('sam', 'GET', `/requests/v1/${requestId}/timeline`)).body)
      return value.find(({ action }) => action === 'announced')
    }, 'the mailbox to be announced')
    expect(announced.data).toMatchObject({ by: expect.stringMatching(/^(webhook|state)$/) })
  })

  describe('by an application', () => {
    /** Returns an application's token from Entra ID: by client credentials, with all granted permissions. */
    async function appToken(client: string, api: 'mail' | 'collab'): Promise<string> {
      const { loginUrl, tenantId } = service.app.endpoints
      const form = { grant_type: 'client_credentials', client_id: client, client_secret: 'any' }
      const response = await fetch(`${loginUrl}/${tenantId}/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({ ...form, scope: `${service.app.url}/${api}/.default` }),
      })
      return z.object({ access_token: z.string() }).parse(await response.json()).access_token
    }
    const as = async (token: string, method: string, path: string, body?: object) => {
      const authorization = `Bearer ${token}`
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      const response = await fetch(`${service.app.url}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    }
    const body = { name: 'by-app', displayName: 'By an application', templateId: templates.sharedMailbox }

    it('creates a mailbox if the setting lists the application, which may read only its own request', async () => {
      const token = await appToken(clientId, 'mail')
      const answer = await as(token, 'POST', '/mail/v1/mailboxes', body)
      expect(answer.status).toBe(202)
      const { requestId } = accepted.parse(answer.body)
      const view = await ends(requestId, 'succeeded')
      expect(view.requester.displayName).toBe(`Application ${clientId}`)
      expect((await as(token, 'GET', `/requests/v1/${requestId}`)).status).toBe(200)
      const kims = await ask('kim', { ...body, name: 'by-kim' })
      expect((await as(token, 'GET', `/requests/v1/${kims.requestId}`)).status).toBe(404)
      expect((await as(token, 'GET', '/templates/v1/')).status).toBe(200)
    })

    it('is refused if the application is not listed or requests a site', async () => {
      const stranger = await appToken(randomUUID(), 'mail')
      expect(await as(stranger, 'POST', '/mail/v1/mailboxes', body)).toMatchObject({
        ...{ status: 403, body: { code: 'insufficient-scope', detail: expect.stringContaining('MAIL_APP_CLIENTS') } },
      })
      const site = { displayName: 'By an application', templateId: templates.workingGroup }
      expect((await as(await appToken(clientId, 'collab'), 'POST', '/collab/v1/spo', site)).status).toBe(403)
      expect((await as(await appToken(clientId, 'mail'), 'POST', '/collab/v1/spo', site)).status).toBe(401)
    })

    it('is refused with a person’s token for sites', async () => {
      expect(problem(await post('kim', body)).status).toBe(409)
      const answer = await call('kim', 'POST', '/mail/v1/mailboxes/', { body })
      expect(problem(answer).status).toBe(401)
    })
  })
})
