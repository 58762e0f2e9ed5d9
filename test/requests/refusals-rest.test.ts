import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { caller } from '../support/rest-caller.ts'
import { labels, templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'

const site = { displayName: 'Project Borealis', templateId: templates.workingGroup }
const withApproval = {
  displayName: 'Project Corona',
  templateId: templates.projectSite,
  metadata: { costCentre: '4711', audience: 'internal' },
}

describe('a site request is refused before anything is written, because of', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const counts = async () => {
    const tables = ['requests', 'audit_log', 'reservations', 'deliveries', 'sent_cards', 'idempotency_keys']
    const sql = tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')
    return (await service.app.database.query(`SELECT ${sql}`)).rows[0]
  }
  const json = { 'content-type': 'application/json' }
  const text = JSON.stringify(site)
  const wrong: [what: string, sent: { body: unknown; headers?: Record<string, string> }, answer: string][] = [
    ['JSON that ends too early', { body: text.slice(0, -1), headers: json }, '400 malformed-json'],
    ['no body', { body: '', headers: json }, '400 malformed-json'],
    [
      'a field twice',
      { body: `${text.slice(0, -1)},"alias":"a","alias":"b"}`, headers: json },
      '400 duplicate-key #/alias',
    ],
    [
      'a body that is not gzip despite its header',
      { body: text, headers: { ...json, 'content-encoding': 'gzip' } },
      '415 unsupported-media-type',
    ],
    ['another media type', { body: text, headers: { 'content-type': 'text/plain' } }, '415 unsupported-media-type'],
    ['more than 64 KiB', { body: { ...site, description: 'x'.repeat(65_536) } }, '413 body-too-large'],
    ['an unknown template', { body: { ...site, templateId: randomUUID() } }, '422 validation-failed #/templateId'],
    [
      'a template of a mailbox',
      { body: { ...site, templateId: templates.sharedMailbox } },
      '422 validation-failed #/templateId',
    ],
    ['wrong types', { body: { ...site, displayName: 1, owners: {} } }, '422 validation-failed #/displayName #/owners'],
    ['null for a required field', { body: { ...site, displayName: null } }, '422 validation-failed #/displayName'],
    ['an unknown field', { body: { ...site, siteType: 'team' } }, '422 validation-failed #/siteType'],
    ['a field of a mailbox', { body: { ...site, autoMapping: true } }, '422 validation-failed #/autoMapping'],
    ['an unknown owner', { body: { ...site, owners: [randomUUID()] } }, '422 validation-failed #/owners/0'],
    [
      'a label that the template does not allow',
      { body: { ...site, labelId: labels.public } },
      '422 validation-failed #/labelId',
    ],
    [
      'a missing answer',
      { body: { ...withApproval, metadata: { audience: 'x' } } },
      '422 validation-failed #/metadata/costCentre #/metadata/audience',
    ],
    [
      'a key of control characters',
      { body: site, headers: { 'idempotency-key': 'a\tb' } },
      '400 idempotency-key-malformed',
    ],
  ]

  it.each(wrong)('%s', async (_, sent, answer) => {
    const before = await counts()
    const { status, code, errors = [] } = problem(await call('kim', 'POST', '/collab/v1/spo/', sent))
    expect([`${status} ${code}`, ...errors.map(({ pointer }) => pointer)].join(' ')).toBe(answer)
    for (const { detail } of errors) expect(detail).toMatch(/^\S.+\.$/s)
    expect(await counts()).toEqual(before)
  })

  it('a taken address', async () => {
    const body = { ...withApproval, displayName: 'Project Gemini', alias: 'gemini' }
    expect((await call('kim', 'POST', '/collab/v1/spo/', { body })).status).toBe(202)
    const before = await counts()
    const { status, code, errors } = problem(await call('dana', 'POST', '/collab/v1/spo/', { body }))
    expect([status, code]).toEqual([409, 'name-taken'])
    expect(errors).toMatchObject([{ pointer: '#/alias', code: 'name-taken', suggestion: 'gemini-2' }])
    expect(await counts()).toEqual(before)
  })

  it('a token without a person, or for mailboxes, which can still read requests', async () => {
    const before = await counts()
    const post = { method: 'POST', path: '/collab/v1/spo/', body: site }
    const collab = `${service.app.url}/collab/App.ReadWrite.All`
    const app = problem(await call({ appOnly: true, scope: collab }, post.method, post.path, { body: site }))
    expect([app.status, app.code]).toEqual([403, 'insufficient-scope'])
    expect(app.detail).toContain('Application permissions are not supported')
    const mail = { userId: people.kim.id, scope: `${service.app.url}/mail/App.ReadWrite.All` }
    const refused = await call(mail, post.method, post.path, { body: site })
    expect(problem(refused).status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect((await call(mail, 'GET', '/requests/v1/')).status).toBe(200)
    expect(await counts()).toEqual(before)
  })
})
