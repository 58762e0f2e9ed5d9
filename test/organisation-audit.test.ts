import { describe, expect, it } from 'vitest'
import { noteAct } from '../src/core/organisation-audit.ts'
import { kim, priya, tenantId, withCore } from './support/core.ts'

describe('what admins do that is about no one request', () => {
  const core = withCore()
  const actor = { ...priya, tenantId, isAdmin: true }

  it('stands in a chain of the organisation that proves itself, and shows what was changed', async () => {
    const { ports, provisioning, database } = core
    await noteAct(ports, actor, 'exported', { from: '2026-11-01' })
    await noteAct(ports, actor, 'webhook-tested', { templateId: kim.id })
    const report = await provisioning.admin.audit(actor, tenantId)
    expect(report).toMatchObject({ proved: true, reference: null })
    expect(report.entries.map(({ entry, action, actor }) => [entry, action, actor])).toEqual([
      [1, 'exported', priya],
      [2, 'webhook-tested', priya],
    ])
    await database.query(`UPDATE audit_log SET body = body || '{"action": "seen"}' WHERE request_id = $1 AND seq = 1`, [
      tenantId,
    ])
    expect(await provisioning.admin.audit(actor, tenantId)).toMatchObject({
      proved: false,
      findings: [{ kind: 'changed', entry: 1 }],
    })
    await database.query(`DELETE FROM audit_log WHERE request_id = $1 AND seq = 2`, [tenantId])
    const { findings } = await provisioning.admin.audit(actor, tenantId)
    expect(findings.map(({ kind, entry }) => [kind, entry])).toContainEqual(['removed', 2])
  })

  it('is written by several at once without a gap', async () => {
    const { ports, provisioning, database } = core
    await database.query('DELETE FROM audit_log WHERE request_id = $1', [tenantId])
    await database.query('DELETE FROM audit_heads WHERE request_id = $1', [tenantId])
    await Promise.all([1, 2, 3, 4, 5].map((n) => noteAct(ports, actor, 'exported', { n })))
    const { proved, entries } = await provisioning.admin.audit(actor, tenantId)
    expect([proved, entries.map(({ entry }) => entry)]).toEqual([true, [1, 2, 3, 4, 5]])
  })
})
