import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { auditReport, fingerprintOf } from '../../src/core/index.ts'
import { keyFile } from '../../src/store/index.ts'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const withApproval = { templateId: templates.projectSite, metadata: { costCentre: '4711', audience: 'internal' } }

describe('the audit of the whole service', () => {
  const service = withService()
  const submitSite = async (displayName: string): Promise<string> => {
    const { body } = await service.rest('kim', 'POST', '/collab/v1/spo/', { ...withApproval, displayName })
    return z.object({ requestId: z.uuid() }).parse(body).requestId
  }
  const auditOf = async (requestId: string) => {
    const { status, body } = await service.rest('sam', 'GET', `/audit/v1/requests/${requestId}`)
    expect(status).toBe(200)
    return auditReport.parse(body)
  }
  const referenceOf = async (requestId: string) => (await auditOf(requestId)).reference ?? ''

  it('records a request by REST, its approval in chat and its creation by jobs, and proves them after a restart', async () => {
    const { dana, sam } = service
    await dana.installs()
    const requestId = await submitSite('Aurora')
    const card = await dana.sees(/Your decision, please/)
    await dana.clicks(card, 'Approve', { comment: 'Go ahead' })
    await until(
      async () => (await auditOf(requestId)).entries.some(({ action }) => action === 'announced') || undefined,
      'the site to be announced',
    )
    const before = await auditOf(requestId)
    expect(before).toMatchObject({ proved: true, findings: [] })
    const [submitted, approved, queued, ...work] = before.entries
    expect(submitted).toMatchObject({ from: 'rest', actor: { displayName: 'Kim Lee' }, before: null, version: 1 })
    expect(approved).toMatchObject({ from: 'chat', actor: { displayName: 'Dana Fox' }, comment: 'Go ahead' })
    expect(queued).toMatchObject({ from: 'chat', actor: { kind: 'system' }, traceId: approved?.traceId })
    const steps = work.filter(({ action }) => action !== 'announced')
    expect(new Set(steps.map(({ from }) => from))).toEqual(new Set(['job']))
    for (const { traceId } of before.entries) expect(traceId).toMatch(/^[0-9a-f]{32}$/)

    const newest = await sam.says(`admin audit ${before.reference}`)
    if (!newest.card) throw new Error('there is no card')
    const list = { id: newest.id, card: newest.card }
    const shown = textOf(list.card)
    expect(shown).toContain(`All ${before.entries.length} entries are unchanged`)
    expect(shown).toMatch(/1–8 of 11[\s\S]*Requester notified[\s\S]*Step done: Create the site[\s\S]*Creation started/)
    expect(shown).toContain(before.entries.at(-1)?.hash.slice(0, 8))
    expect(shown).toContain(`Code ${before.entries.at(-1)?.traceId?.slice(0, 8)}`)
    const paged = async (card: typeof list.card, title: string) => {
      const { card: next } = await sam.clicks({ id: list.id, card }, title)
      if (!next) throw new Error('there is no card')
      return next
    }
    const older = await paged(list.card, 'Older')
    expect(textOf(older)).toMatch(/9–11 of 11[\s\S]*Approved[\s\S]*Go ahead[\s\S]*Requested/)
    expect(textOf(await paged(older, 'Newer'))).toContain('1–8 of 11')

    await service.restart()
    expect(await auditOf(requestId)).toEqual(before)
  })

  it('names changes outside the service in chat', async () => {
    const requestId = await submitSite('Borealis')
    await service.rest('dana', 'POST', `/requests/v1/${requestId}/reject`, { comment: 'Not now.' })
    const reference = await referenceOf(requestId)
    const sql = `UPDATE audit_log SET body = jsonb_set(body, '{comment}', '"Never."') WHERE request_id = $1 AND seq = 2`
    await service.app.database.query(sql, [requestId])
    const shown = textOf((await service.sam.says(`admin audit ${reference}`)).card)
    expect(shown).toMatch(/The audit log has one error[\s\S]*Entry 2 was changed after it was written\./)
    expect(await auditOf(requestId)).toMatchObject({ proved: false, findings: [{ kind: 'changed', entry: 2 }] })
  })

  it('is for admins, and requires a number', async () => {
    const requestId = await submitSite('Cassiopeia')
    const reference = await referenceOf(requestId)
    expect((await service.rest('kim', 'GET', `/audit/v1/requests/${requestId}`)).status).toBe(403)
    expect(textOf((await service.kim.says(`admin audit ${reference}`)).card)).toContain(
      'Only admins of this service can use this',
    )
    expect(textOf((await service.sam.says('admin audit')).card)).toContain('admin audit REQ-1042')
  })

  it('has its key next to the store, not in it', async () => {
    const { dataDir } = service.app.endpoints
    expect(keyFile(dataDir)).toBe(`${dataDir}/audit.key`)
    const key = readFileSync(keyFile(dataDir), 'utf8').trim()
    const { rows } = await service.app.database.query('SELECT * FROM settings')
    expect(JSON.stringify(rows)).toContain(fingerprintOf(Buffer.from(key, 'base64')))
    expect(JSON.stringify(rows)).not.toContain(key)
  })
})
