import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { cardActions } from '../../src/bot/registry.ts'
import { auditReport } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { seed } from '../support/seed.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, decisionAbout, readsAfter } from '../support/site-request.ts'
import { TeamsUser } from '../support/teams-user.ts'

/** Number of clicks; issue 6 requires 1,000. */
const rounds = 1000
const anna = { id: '11111111-aaaa-4aaa-8aaa-000000000047', name: 'Anna Kowalska (Fabrikam)' }
type Data = Record<string, unknown>

/** Ways to change an id, so that it never belongs to its request. */
const spoiled: readonly ((id: string, random: () => number) => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  (_, random) => random() * 1e9,
  (id) => [id],
  (id) => ({ requestId: id }),
  (id) => ({ toString: id, valueOf: id }),
  (id) => id.slice(1),
  (id) => `${id} `,
  (id) => `${id}0`,
  (id) => `{${id}}`,
  (id) => id.replaceAll('-', ''),
  (id) => `${id}' OR '1'='1`,
  () => randomUUID(),
  () => '00000000-0000-0000-0000-000000000000',
  () => 'REQ-1001',
  () => '__proto__',
  () => '$expand',
]
/** Data of other shapes. */
const shapes: readonly ((data: Data) => unknown)[] = [
  () => null,
  () => 'text',
  (data) => [data],
  (data) => JSON.stringify(data),
  (data) => ({ data }),
  (data) => ({ ['__proto__']: data }),
  (data) => JSON.parse(`{"__proto__": ${JSON.stringify(data)}}`),
  (data) => ({ constructor: { prototype: data } }),
  (data) => Object.fromEntries(Object.entries(data).map(([key, value]) => [key.toUpperCase(), value])),
]

describe('a thousand tampered clicks on approval cards', () => {
  const service = withService()
  const requests: { id: string; danas: boolean }[] = []
  let card = ''
  beforeAll(async () => {
    const { kim, dana } = service
    await dana.installs()
    for (const name of ['Tampered one', 'Tampered two']) {
      const { requestId } = await asksFor(kim, { displayName: name })
      requests.push({ id: requestId, danas: false })
    }
    card = (await decisionAbout(dana, 'Tampered one')).id
    requests.push({ id: (await asksFor(dana, { displayName: 'Dana’s own' })).requestId, danas: true })
  })
  const state = async () =>
    (await service.app.database.query('SELECT request_id, version, status, body FROM requests ORDER BY request_id'))
      .rows

  it('change no request, receive a clear answer, and leave a valid audit chain', async () => {
    const random = mulberry32(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    const { kim, dana, sam } = service
    const guest = new TeamsUser(() => service.app.url, service.connector, anna)
    const own = requests.find(({ danas }) => danas)?.id ?? ''
    const others = requests.filter(({ danas }) => !danas).map(({ id }) => id)
    const verbs = ['approval.approve', 'approval.reject']
    const foreign = [...cardActions.keys()].filter((verb) => !verbs.includes(verb))
    const odd = [
      'approval.Approve',
      'approval.approve ',
      'approve',
      '__proto__',
      'constructor',
      '',
      'approval.approve.x',
    ]
    const extra = () => ({ comment: 'x', isAdmin: true, approverId: dana.id, by: { id: dana.id }, status: 'queued' })
    const kinds = {
      // A person without a right to decide, with the data of a person who has it.
      'other person': () => ({
        who: pick([kim, sam, guest]),
        verb: pick(verbs),
        data: { requestId: pick(others), ...extra() },
      }),
      'own request': () => ({ who: dana, verb: pick(verbs), data: { requestId: own, ...extra() } }),
      'other id': () => ({
        who: dana,
        verb: pick(verbs),
        data: { ...extra(), requestId: pick(spoiled)(pick(others), random) },
      }),
      'other form': () => ({
        who: dana,
        verb: pick(verbs),
        data: pick(shapes)({ requestId: pick(others), comment: 'x' }),
      }),
      'other verb': () => ({ who: pick([guest, sam]), verb: pick(odd), data: { requestId: pick(others), ...extra() } }),
      'admin verb': () => ({
        who: dana,
        verb: pick(foreign.filter((verb) => verb.startsWith('admin.'))),
        data: { requestId: pick(others), letterId: pick(others), comment: 'x' },
      }),
      // The chat in a click does not identify the person.
      'other chat': () => ({
        who: pick([kim, sam, guest]),
        verb: pick(verbs),
        data: { requestId: pick(others), comment: 'x' },
        change: {
          conversation: {
            id: dana.conversationId,
            conversationType: 'personal',
            tenantId: service.app.endpoints.tenantId,
          },
        },
      }),
      // The account decides, not the name or the channel's own id.
      'other name': () => {
        const who = pick([kim, guest])
        const from = { id: `29:${dana.id}`, name: 'Dana Fox', aadObjectId: who.id }
        return { who, verb: pick(verbs), data: { requestId: pick(others), comment: 'x' }, change: { from } }
      },
    } satisfies Record<string, () => { who: TeamsUser; verb: string; data: unknown; change?: Data }>
    const before = await state()
    const unclear: string[] = []
    for (let round = 0; round < rounds; round += 1) {
      const kind = pick(Object.keys(kinds) as (keyof typeof kinds)[])
      const click: { who: TeamsUser; verb: string; data: unknown; change?: Data } = kinds[kind]()
      const { who, verb, data, change } = click
      const text = readsAfter(await who.invokes(card, verb, data, change))
      const isClear = text.trim() !== '' && !/tell an admin|Approved by you|Rejected by you/.test(text)
      if (!isClear) unclear.push(`${round} ${kind} ${verb} ${JSON.stringify(data)}: ${text}`)
    }
    expect(unclear).toEqual([])
    expect(await state()).toEqual(before)
    expect({}).not.toHaveProperty('requestId')
    for (const { id } of requests) await proved(id)
    expect(service.connector.unexpected).toEqual([])
  })

  /** Checks that the chain is valid and lists each attempt: each person once for each verb. */
  async function proved(requestId: string): Promise<void> {
    const { body } = await service.rest('sam', 'GET', `/audit/v1/requests/${requestId}`)
    const { entries, ...report } = auditReport.parse(body)
    expect(report).toMatchObject({ proved: true, findings: [] })
    const refused = entries
      .filter(({ action }) => action === 'refused')
      .map(({ data }) => `${data?.['who']} ${data?.['tried']} ${data?.['code']}`)
    expect(refused.length).toBeGreaterThan(0)
    expect(new Set(refused).size).toBe(refused.length)
  }

  it('leave a working service', async () => {
    const { dana, kim } = service
    const { requestId } = await asksFor(kim, { displayName: 'After it all' })
    const approvalCard = await decisionAbout(dana, 'After it all')
    expect(readsAfter(await dana.clicks(approvalCard, 'Approve'))).toContain('Approved by you')
    expect(requestId).not.toBe(templates.projectSite)
  })
})
