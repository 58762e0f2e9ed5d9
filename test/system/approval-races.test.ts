import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { requestOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { asSite, dana, omar, tenantId, withCore } from '../support/core.ts'
import { engines } from '../support/database.ts'
import { startIssuer, startRest } from '../support/rest.ts'
import { templates, withService } from '../support/service.ts'

const seed = Number(process.env['APPROVAL_SEED'] ?? Math.floor(Math.random() * 1_000_000))
const rounds = Number(process.env['APPROVAL_ROUNDS'] ?? 10)
const statusAfter = { approved: 'queued', rejected: 'rejected' } as const
const budget = 30_000 + rounds * 1_000

describe.each(engines)(
  `two approvers at the same time, by HTTP, with the %s store (APPROVAL_SEED=${seed})`,
  (engine) => {
    const core = withCore(engine)
    const random = mulberry32(seed)
    let number = 100
    let decide: (
      who: Person,
      verb: 'approve' | 'reject',
      requestId: string,
    ) => Promise<{ status: number; detail: string }>

    beforeAll(async () => {
      const issuer = await startIssuer(atEnd)
      const tokens = { ...issuer.options, tenantId }
      const rest = await startRest(issuer, { core: core.provisioning, tokens }, atEnd)
      const bearer = new Map<string, string>()
      for (const { id } of [dana, omar]) bearer.set(id, `Bearer ${await issuer.token({ oid: id, tid: tenantId })}`)
      decide = async (who, verb, requestId) => {
        const headers = { authorization: bearer.get(who.id) ?? '' }
        const path = `/requests/v1/${requestId}/${verb}`
        const { status, body } = await rest.call('POST', path, { body: { comment: 'Because.' }, headers })
        return { status, detail: String(body['detail'] ?? '') }
      }
      return () => closers.forEach((close) => void close())
    })
    const closers: (() => unknown)[] = []
    const atEnd = (close: () => unknown) => void closers.push(close)

    async function pendingRequest(): Promise<string> {
      number += 1
      const [requestId, now] = [randomUUID(), new Date().toISOString()]
      const approvals = [{ stage: 1, rule: 'any' as const, approvers: [dana, omar], decisions: [] }]
      const about = {
        requestId,
        number,
        alias: `race-${number}`,
        tenantId,
        approvals,
        submittedAt: now,
        updatedAt: now,
      }
      await core.ports.requests.insert(asSite(requestOf(about)))
      return requestId
    }

    /** Checks that exactly one call decided, and that all others report the person, decision and time. */
    async function settled(requestId: string, answers: readonly { status: number; detail: string }[]) {
      const request = await core.ports.requests.find(requestId)
      const [decision, ...more] = request?.approvals.flatMap(({ decisions }) => decisions) ?? []
      if (!request || !decision) throw new Error('nobody has decided')
      expect(more).toEqual([])
      expect(request.status).toBe(statusAfter[decision.decision])
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const late = `${decision.by.displayName} has already ${decision.decision} the request, on ${decision.at.replace(/\.\d+Z$/, 'Z')}.`
      for (const { status, detail } of answers) if (status !== 200) expect([status, detail]).toEqual([409, late])
      const actions = (await core.ports.audit.timeline(requestId)).map(({ action }) => action)
      expect(actions).toEqual(decision.decision === 'approved' ? ['approved', 'queued'] : ['rejected'])
      return decision
    }

    it(
      `approve against reject, ${rounds} rounds: one decides, the other reads the person and time`,
      async () => {
        const first = new Map<string, number>()
        for (let round = 0; round < rounds; round += 1) {
          const requestId = await pendingRequest()
          const pair = [
            { who: dana, verb: 'approve', after: random() * 3 },
            { who: omar, verb: 'reject', after: random() * 3 },
          ] as const
          const calls = pair.map(async ({ who, verb, after }) => {
            await wait(after)
            return decide(who, verb, requestId)
          })
          const { decision } = await settled(requestId, await Promise.all(calls))
          first.set(decision, (first.get(decision) ?? 0) + 1)
        }
        // In many rounds each call wins sometimes. If one call always wins, there is no race.
        if (rounds >= 100) expect([...first.keys()].sort()).toEqual(['approved', 'rejected'])
      },
      budget,
    )

    it(
      '20 calls within 50 ms, by both: one decision',
      async () => {
        for (let round = 0; round < Math.ceil(rounds / 20); round += 1) {
          const requestId = await pendingRequest()
          const calls = Array.from({ length: 20 }, async (_, index) => {
            await wait(random() * 50)
            return decide(index % 2 === 0 ? dana : omar, random() < 0.5 ? 'approve' : 'reject', requestId)
          })
          await settled(requestId, await Promise.all(calls))
        }
      },
      budget,
    )
  },
)

describe(`approval cards clicked at the same time (APPROVAL_SEED=${seed})`, () => {
  const service = withService()
  const random = mulberry32(seed)

  it(
    '20 clicks within 50 ms on both cards: one decision, and every card shows the same',
    async () => {
      for (const who of [service.dana, service.omar]) await who.installs()
      for (let round = 0; round < Math.ceil(rounds / 10); round += 1) {
        const displayName = `Race ${round} ${randomUUID().slice(0, 8)}`
        const metadata = { costCentre: '4711', audience: 'internal' }
        const body = { templateId: templates.projectSite, displayName, metadata }
        const { requestId } = (await service.rest('kim', 'POST', '/collab/v1/spo/', body)).body
        const people = [service.dana, service.omar] as const
        const cards = await Promise.all(people.map((who) => who.sees(new RegExp(displayName))))
        const clicks = Array.from({ length: 20 }, async (_, index) => {
          await wait(random() * 50)
          const [who, card] = [people[index % 2], cards[index % 2]]
          if (!who || !card) throw new Error('two people, two cards')
          return who.clicks(card, random() < 0.5 ? 'Approve' : 'Reject', { comment: 'Because.' })
        })
        const answers = await Promise.all(clicks)
        const { body: request } = await service.rest('sam', 'GET', `/requests/v1/${requestId}`)
        const [decision, ...more] = listOf<{ decisions: Decided[] }>(request['approvals']).flatMap(
          (one) => one.decisions,
        )
        expect(more).toEqual([])
        const name = decision?.by.displayName ?? ''
        const verb = decision?.decision === 'approved' ? 'Approved' : 'Rejected'
        for (const { card } of answers) {
          expect(textOf(card ?? {})).toMatch(new RegExp(`${verb} by (${name}|you), \\d\\d:\\d\\d`))
        }
        const timeline = await service.rest('sam', 'GET', `/requests/v1/${requestId}/timeline`)
        const actions = listOf<{ action: string }>(timeline.body['value']).map(({ action }) => action)
        expect(actions.filter((one) => one === 'approved' || one === 'rejected')).toHaveLength(1)
      }
    },
    budget,
  )
})

interface Decided {
  readonly by: Person
  readonly decision: 'approved' | 'rejected'
}
const listOf = <T>(value: unknown): T[] => value as T[]
