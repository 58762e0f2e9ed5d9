import { describe, expect, it } from 'vitest'
import strings from '../../cards/strings/en.json' with { type: 'json' }
import { noteAct, organisationActions } from '../../src/core/audit/log.ts'
import { kim, priya, tenantId, withCore } from '../support/core.ts'
import { cards } from '../support/english-cards.ts'
import { refusal, sentenceOf } from '../support/refusal.ts'

describe('the audit of the organisation', () => {
  const core = withCore()
  const actor = { ...priya, tenantId, isAdmin: true }

  it('is a chain with a proof, and shows changes', async () => {
    const { ports, provisioning, database } = core
    await noteAct(ports, actor, 'exported', { from: '2026-11-01' })
    await noteAct(ports, actor, 'webhook-tested', { templateId: kim.id })
    const report = await provisioning.readAudit(actor, { requestId: tenantId })
    expect(report).toMatchObject({ proved: true, reference: null })
    expect(report.entries.map(({ entry, action, actor }) => [entry, action, actor])).toEqual([
      [1, 'exported', priya],
      [2, 'webhook-tested', priya],
    ])
    await database.query(`UPDATE audit_log SET body = body || '{"action": "seen"}' WHERE request_id = $1 AND seq = 1`, [
      tenantId,
    ])
    expect(await provisioning.readAudit(actor, { requestId: tenantId })).toMatchObject({
      proved: false,
      findings: [{ kind: 'changed', entry: 1 }],
    })
    await database.query(`DELETE FROM audit_log WHERE request_id = $1 AND seq = 2`, [tenantId])
    const { findings } = await provisioning.readAudit(actor, { requestId: tenantId })
    expect(findings.map(({ kind, entry }) => [kind, entry])).toContainEqual(['removed', 2])
  })

  it('has no gap after concurrent writes', async () => {
    const { ports, provisioning, database } = core
    await database.query('DELETE FROM audit_log WHERE request_id = $1', [tenantId])
    await database.query('DELETE FROM audit_heads WHERE request_id = $1', [tenantId])
    await Promise.all([1, 2, 3, 4, 5].map((n) => noteAct(ports, actor, 'exported', { n })))
    const { proved, entries } = await provisioning.readAudit(actor, { requestId: tenantId })
    expect([proved, entries.map(({ entry }) => entry)]).toEqual([true, [1, 2, 3, 4, 5]])
  })

  it('has a text for each action', () => {
    expect(Object.keys(strings.audit.act).sort()).toEqual([...organisationActions].sort())
  })

  it('records written and disabled templates with the changed parts and without secrets', async () => {
    const { ports, provisioning } = core
    const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
    const { version, id, ...contents } = await core.template({
      name: 'Told of',
      webhook: { url: 'https://hooks.contoso.example/a', secret: secretOf(1) },
    })
    const webhook = { url: 'https://hooks.contoso.example/a', secret: secretOf(2) }
    const body = { ...contents, description: 'Another', webhook }
    await provisioning.putTemplate(actor, { id, body, expected: version })
    const turn = (active: boolean) => provisioning.switchTemplate(actor, { id, expected: version + 1, active })
    await turn(false)
    expect(sentenceOf(await refusal(() => turn(true)))).toContain('Somebody else has changed this template')
    const { entries, proved } = await provisioning.readOrganisationAudit(actor)
    const acts = entries.filter(({ data }) => data?.['templateId'] === id)
    expect([proved, acts.map(({ action, data }) => [action, data])]).toEqual([
      true,
      [
        ['template-written', { templateId: id, about: 'Told of', version: 2, changed: ['description', 'webhook'] }],
        ['template-switched', { templateId: id, about: 'Told of', version: 3, active: false }],
      ],
    ])
    expect(JSON.stringify(await ports.audit.timeline(tenantId))).not.toContain('whsec_')
  })

  it('keeps the entry of a person whose texts were erased', async () => {
    const { ports, provisioning } = core
    await noteAct(ports, actor, 'exported', {})
    await ports.audit.erase({ ...actor, displayName: '', userPrincipalName: '' }, new Date())
    const report = await provisioning.readOrganisationAudit(actor)
    expect(report.proved).toBe(true)
    const viewer = { id: actor.id, locale: 'en', timeZone: 'UTC', now: new Date(), siteRoot: '', outlookRoot: '' }
    expect(JSON.stringify(cards.organisationAudit(report, 0, viewer))).toContain(strings.audit.erased)
  })
})
