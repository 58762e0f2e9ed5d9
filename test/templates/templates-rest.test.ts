import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

const shown = z.looseObject({ id: z.uuid(), name: z.string(), version: z.int() })
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const webhook = { url: 'https://hooks.contoso.example/sites', secret, events: ['site.provisioned'] }

describe('templates over REST', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const list = async (who: keyof typeof people) =>
    z.object({ value: z.array(shown) }).parse((await call(who, 'GET', '/templates/v1/')).body).value
  const read = async (who: keyof typeof people, id: string) => {
    const { status, headers, body } = await call(who, 'GET', `/templates/v1/${id}`)
    expect(status).toBe(200)
    return { etag: headers.get('etag') ?? '', body: shown.parse(body) }
  }
  const put = (who: keyof typeof people, id: string, body: unknown, headers: Record<string, string>) =>
    call(who, 'PUT', `/templates/v1/${id}`, { body, headers })
  const fresh = { 'if-none-match': '*' }
  const bodyOf = (more: object = {}) => ({ kind: 'teamSite', name: 'Club', ...more })

  it('are listed in their order: people see the parts for the form, an admin sees all except the secret', async () => {
    const names = (await list('kim')).map(({ name }) => name)
    expect(names).toEqual([
      ...['Project site', 'Partner site', 'Working group', 'News site', 'Open community'],
      ...['Shared mailbox', 'Customer mailbox', 'Meeting room', 'Equipment', 'Service desk'],
    ])
    expect((await list('sam')).map(({ name }) => name)).toEqual(names)
    const [first] = await list('kim')
    expect(first).toMatchObject({ id: templates.projectSite, approvalRequired: true })
    expect(Object.keys(first ?? {})).not.toContain('approval')
    expect((await read('sam', templates.projectSite)).body).toMatchObject({ approval: { stages: [{ rule: 'any' }] } })
    const { status, code } = problem(await call('kim', 'GET', `/templates/v1/${randomUUID()}`))
    expect([status, code]).toEqual([404, 'not-found'])
  })

  it('are created and changed by an admin, based on the version that was read', async () => {
    const id = randomUUID()
    const created = await put('sam', id, bodyOf({ webhook }), fresh)
    expect([created.status, created.headers.get('etag')]).toEqual([201, '"1"'])
    const { etag, body } = await read('sam', id)
    const changed = await put('sam', id, { ...body, name: 'Club of clubs' }, { 'if-match': etag })
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"2"'])
    const stale = problem(await put('sam', id, body, { 'if-match': etag }))
    expect([stale.status, stale.code]).toEqual([412, 'stale-version'])
    expect(problem(await put('sam', id, bodyOf(), fresh)).status).toBe(412)
    expect(problem(await put('sam', id, bodyOf(), {})).status).toBe(428)
    expect((await read('sam', id)).body.name).toBe('Club of clubs')
    expect(created.text + changed.text + JSON.stringify(body)).not.toContain(secret.slice(6, 20))
    const stored = await service.app.database.query<{ secret: string }>(
      `SELECT body->'webhook'->>'secret' AS secret FROM templates WHERE template_id = $1`,
      [id],
    )
    expect(stored.rows).toEqual([{ secret }])
  })

  it.each([
    [{ ...webhook, url: 'http://hooks.contoso.example/sites' }, '#/webhook/url', 'https://'],
    [{ ...webhook, url: 'https://169.254.169.254/' }, '#/webhook/url', 'private address'],
    [{ ...webhook, secret: `whsec_${'='.repeat(32)}` }, '#/webhook/secret', '24 to 64 bytes'],
  ])('are refused with a webhook that cannot be sent: %j', async (wrong, pointer, message) => {
    const { status, errors } = problem(await put('sam', randomUUID(), bodyOf({ webhook: wrong }), fresh))
    expect(status).toBe(422)
    expect(errors).toEqual([{ pointer, code: 'invalid', detail: expect.stringContaining(message) }])
  })

  it('are changed once when many changes race', async () => {
    const id = randomUUID()
    const tries = Array.from({ length: 10 }, (_, index) => put('sam', id, bodyOf({ name: `Club ${index}` }), fresh))
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array.from({ length: 9 }, () => 412)])
  })

  it('are not written by others, or with a fault, which is reported', async () => {
    const id = randomUUID()
    const forbidden = problem(await put('kim', id, bodyOf(), fresh))
    expect([forbidden.status, forbidden.code]).toEqual([403, 'forbidden'])
    const field = { key: 'a', type: 'text', label: 'A' }
    const wrong: [body: object, pointer: string][] = [
      [bodyOf({ kind: 'site' }), '#/kind'],
      [bodyOf({ name: undefined }), '#/name'],
      [bodyOf({ colour: 'red' }), '#/colour'],
      [bodyOf({ approval: { stages: [] } }), '#/approval/stages'],
      [bodyOf({ approval: { stages: [{ approvers: [{ group: 'x' }] }] } }), '#/approval/stages/0/approvers/0/group'],
      [
        bodyOf({ approval: { stages: [{ approvers: [{ manager: true }], rule: 'quorum' }] } }),
        '#/approval/stages/0/quorum',
      ],
      [bodyOf({ naming: { prefix: 'Prj ' } }), '#/naming/prefix'],
      [bodyOf({ fields: [{ key: 'a', type: 'text', label: 'A', pattern: '(' }] }), '#/fields/0/pattern'],
      [bodyOf({ webhook: { ...webhook, secret: 'short' } }), '#/webhook/secret'],
      [bodyOf({ webhook: { ...webhook, secret: undefined } }), '#/webhook/secret'],
      [bodyOf({ webhook: { ...webhook, url: 'ftp://hooks.example' } }), '#/webhook/url'],
      [bodyOf({ limits: { ownersMinimum: 3, ownersMaximum: 2 } }), '#/limits/ownersMinimum'],
      [bodyOf({ labels: { allowed: [], default: 'x' } }), '#/labels/default'],
      [bodyOf({ fields: [field, field] }), '#/fields'],
      [bodyOf({ id: randomUUID() }), '#/id'],
    ]
    for (const [body, pointer] of wrong) {
      const { status, errors } = problem(await put('sam', id, body, fresh))
      expect([status, errors?.map((one) => one.pointer)], JSON.stringify(body)).toEqual([422, [pointer]])
    }
    expect((await call('sam', 'GET', `/templates/v1/${id}`)).status).toBe(404)
  })

  it('are shown only to their audience, and disabled ones only to admins', async () => {
    const [danas, off] = [randomUUID(), randomUUID()]
    await put('sam', danas, bodyOf({ name: 'For Dana', audience: { people: [people.dana.id.toUpperCase()] } }), fresh)
    await put('sam', off, bodyOf({ name: 'Off', active: false }), fresh)
    const names = async (who: keyof typeof people) =>
      (await list(who)).map(({ name }) => name).filter((name) => name === 'For Dana' || name === 'Off')
    expect([await names('kim'), await names('dana'), await names('sam')]).toEqual([
      [],
      ['For Dana'],
      ['For Dana', 'Off'],
    ])
    expect((await call('kim', 'GET', `/templates/v1/${danas}`)).status).toBe(404)
    const body = { displayName: 'Hidden', templateId: danas }
    const refused = problem(await call('kim', 'POST', '/collab/v1/spo/', { body }))
    expect(refused.errors).toMatchObject([{ pointer: '#/templateId', code: 'unknown-template' }])
    expect((await call('dana', 'POST', '/collab/v1/spo/', { body })).status).toBe(202)
  })
})
