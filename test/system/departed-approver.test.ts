import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { action, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { withService } from '../support/service.ts'
import { decisionAbout } from '../support/site-request.ts'
import { contosoTenant, people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

/** The members of a request that these tests read. */
const request = z.object({
  status: z.string(),
  reference: z.string(),
  approvals: z.array(z.object({ decisions: z.array(z.object({ override: z.boolean().optional() })) })),
})

describe('an approver who has left', () => {
  const service = withService({ ADMINS: people.sam.id })
  afterEach(async () => {
    for (const who of ['dana', 'omar'] as const) await service.account(who, 'active')
    await service.heal()
  })
  const admin = () => service.app.core.actor({ tenantId: contosoTenant, id: people.sam.id })
  /** Creates a request by Kim with these approvers, one in each stage. */
  async function submitSite(displayName: string, ...approvers: string[]) {
    for (const who of [service.kim, service.dana, service.omar, service.sam]) await who.installs()
    const templateId = randomUUID()
    const stages = approvers.map((user) => ({ approvers: [{ user }] }))
    const body = { kind: 'teamSite', name: displayName, approval: { stages } }
    await service.app.core.putTemplate(await admin(), { id: templateId, body, expected: 0 })
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', { displayName, templateId })
    expect(answer.status).toBe(202)
    const requestId = String(answer.body['requestId'])
    await decisionAbout(service.dana, displayName)
    return { requestId, reference: (await read(requestId)).reference }
  }
  const read = async (requestId: string) => {
    const { body } = await service.rest('sam', 'GET', `/requests/v1/${requestId}`)
    return request.parse(body)
  }
  const made = (requestId: string) =>
    until(async () => ((await read(requestId)).status === 'succeeded' ? true : undefined), 'that the site is made')
  /** Returns the text that a button of the card types. If the channel cannot type, the button sends the same text. */
  const typedBy = (card: Card, title: string): string => String(action(card, title).data['types'])
  const proved = async (requestId: string) => {
    const { body } = await service.rest('sam', 'GET', `/audit/v1/requests/${requestId}`)
    expect(body).toMatchObject({ findings: [] })
  }

  it('and is deleted: the request is stuck at once, with the reason, and asking another person resolves it', async () => {
    const { sam, omar } = service
    const { requestId, reference } = await submitSite('Dana is deleted', people.dana.id)
    expect(textOf((await sam.says('admin stuck')).card)).not.toContain('Dana is deleted')
    await service.account('dana', 'deleted')
    const stuck = await sam.says('admin stuck')
    expect(textOf(stuck.card)).toContain('Blocked: Dana Fox has left the organisation')
    expect(textOf((await sam.says('admin queue')).card)).toContain('Dana Fox has left the organisation')
    expect(typedBy(stuck.card, 'Reassign')).toBe(`admin reassign ${reference}`)
    const form = await sam.says(`${typedBy(stuck.card, 'Reassign')} Omar Haddad`)
    expect(valuesOf(form.card)).toMatchObject({ to: people.omar.id })
    const after = await sam.clicks(form, 'Reassign', { comment: 'Dana has left.' })
    expect(textOf(after.card ?? {})).toContain('Waiting for Omar Haddad')
    expect(textOf((await sam.says('admin stuck')).card)).toContain('Nothing is stuck')
    const card = await decisionAbout(omar, 'Dana is deleted')
    expect(textOf(card.card)).toContain('Dana has left.')
    await omar.clicks(card, 'Approve')
    await made(requestId)
    await proved(requestId)
  })

  it('and is blocked, in a request of two stages: an admin decides both at once, and everybody reads who decided', async () => {
    const { sam, kim, omar } = service
    const { requestId } = await submitSite('Dana is blocked', people.dana.id, people.omar.id)
    await service.account('dana', 'blocked')
    const stuck = await sam.says('admin stuck')
    expect(textOf(stuck.card)).toContain('Blocked: Dana Fox can no longer sign in')
    const confirm = await sam.says(`${typedBy(stuck.card, 'Override')} It cannot wait for Dana`)
    expect(textOf(confirm.card)).toContain('gives the 2 missing approvals at once')
    await sam.clicks(confirm, 'Approve')
    await made(requestId)
    const { approvals } = await read(requestId)
    expect(approvals.map(({ decisions }) => decisions.map(({ override }) => override))).toEqual([[true], [true]])
    await service.dana.sees(/Dana is blocked[\s\S]*Sam Roy approved this as an admin/)
    expect(textOf((await kim.says(`why ${(await read(requestId)).reference}`)).card)).toContain('overriding approval')
    expect(
      omar.chat().some(({ card }) => card && /Dana is blocked/.test(textOf(card))),
      'his turn never came',
    ).toBe(false)
    await proved(requestId)
  })

  it('is not reported while the directory does not answer: the card says so, and shows everything', async () => {
    const { sam } = service
    const { requestId } = await submitSite('Dana is unknown', people.dana.id)
    await service.account('dana', 'deleted')
    await service.fault({ operation: 'graph.users.list', kind: 'failBeforeCommit', status: 503, count: 100 })
    expect(textOf((await sam.says('admin stuck')).card)).toContain('The directory does not answer')
    const queue = textOf((await sam.says('admin queue')).card)
    for (const words of ['The directory does not answer', 'Dana is unknown', 'Waits for Dana Fox'])
      expect(queue).toContain(words)
    await service.heal()
    expect(textOf((await sam.says('admin stuck')).card)).toContain('Dana Fox has left the organisation')
    await service.rest('sam', 'POST', `/requests/v1/${requestId}/cancel`, { comment: 'The test is over.' })
  })
})
