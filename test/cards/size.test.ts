import { describe, expect, it } from 'vitest'
import { type CardJson, rowsOfPage } from '../../src/cards/index.ts'
import { because, mostLinks, type Person, snapshot, type Template } from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { mailboxes, mailboxPlanOf, meetingRoom, supportMailbox } from '../support/card-mailboxes.ts'
import {
  draftOf,
  kim,
  onePage,
  planOf,
  projectSite,
  requestOf,
  requests,
  stageOf,
  templateOf,
  viewerOf,
} from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { similarNamed } from '../support/card-similar.ts'
import { cards } from '../support/english-cards.ts'

const named = (person: Person, displayName: string): Person => ({ ...person, displayName })
const asKim = viewerOf(kim)

describe('the largest cards', () => {
  const long = (letters: number) => 'ß'.repeat(letters)
  const fields = Array.from({ length: 6 }, (_, index) => ({
    key: `field${index}`,
    type: index % 2 === 0 ? 'text' : 'choice',
    label: long(64),
    help: long(80),
    placeholder: long(40),
    choices: index % 2 === 0 ? [] : Array.from({ length: 4 }, (_, one) => ({ title: long(30), value: `value${one}` })),
  }))
  const source = templateOf({
    ...projectSite,
    name: long(64),
    description: long(300),
    fields,
    labels: { allowed: Array.from({ length: 5 }, (_, one) => ({ id: `label${one}`, name: long(30) })), default: null },
  })
  const twenty = Array.from({ length: 20 }, (_, index) => ({
    ...named(kim, long(256)),
    id: `11111111-aaaa-4aaa-8aaa-${String(index).padStart(12, '0')}`,
  }))
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}${long(50)}`, long(1024)]))
  const base = {
    template: snapshot(source),
    details: { ...requestOf().details, displayName: long(256), description: long(1024), metadata },
    owners: twenty,
    requester: named(kim, long(256)),
    reason: long(1024),
    alias: 'a'.repeat(64),
  }
  const stages = [1, 2, 3, 4, 5].map((stage) => stageOf(stage, twenty, { rule: 'quorum', quorum: 3 }))
  const bytes = (card: CardJson) => JSON.stringify(card).length * 2

  const surprising = Array.from({ length: 9 }, () => ({
    code: 'delegated' as const,
    reason: because('delegated', {
      ...{ stage: 1, name: long(256), person: long(256), until: '2026-11-28T23:00:00.000Z' },
    }),
  }))

  it('of requests for sites stay under 25 kB', () => {
    const choices = Array.from({ length: 30 }, () => ({ ...source, approvalRequired: true }))
    for (const request of Object.values(requests)) {
      const largest = { ...request, ...base, ...(request.status === 'pendingApproval' && { approvals: stages }) }
      expect(bytes(cards.requestStatus(largest, asKim)), request.status).toBeLessThan(25_000)
    }
    const waiting = requestOf({ ...base, approvals: stages })
    expect(bytes(cards.approval(waiting, viewerOf(kim), { comment: long(500), commentMissing: true }))).toBeLessThan(
      25_000,
    )
    expect(
      bytes(
        cards.review({
          ...similarNamed(long(256), 'a'.repeat(200)),
          draft: draftOf({ reason: long(1024) }),
          plan: planOf({ ...base, template: source, typedName: long(256), approvals: stages }),
          outlook: { approvals: stages, warnings: surprising },
        }),
      ),
    ).toBeLessThan(25_000)
    expect(bytes(cards.chooseTemplate(choices))).toBeLessThan(25_000)
    expect(
      bytes(
        cards.myRequests(
          { ...onePage(...Array.from({ length: rowsOfPage }, () => waiting)), older: 99, newer: 99 },
          asKim,
        ),
      ),
    ).toBeLessThan(25_000)
    expect(
      bytes(
        cards.approvals(
          { ...onePage(...Array.from({ length: rowsOfPage }, () => waiting)), older: 99, newer: 99 },
          asKim,
        ),
      ),
    ).toBeLessThan(25_000)
  })

  it('of forms stay under 25 kB with six completely filled fields of a template', () => {
    const card = cards.form(requestForm({ template: source, draft: draftOf({}) }))
    const inputs = nodesOf(card).filter(({ type }) => type === 'Input.Text')
    const values = Object.fromEntries(inputs.map(({ id, maxLength }) => [String(id), long(Number(maxLength))]))
    const owners = twenty.slice(0, 19)
    const filled = { ...values, owners: owners.map(({ id }) => id).join(',') }
    expect(bytes(cards.form(requestForm({ template: source, draft: draftOf(filled), people: owners })))).toBeLessThan(
      25_000,
    )
  })

  const filledTo = (template: Template, most: number) => {
    const card = cards.form(requestForm({ template, draft: draftOf({}) }))
    const values: Record<string, string> = {}
    for (const { type, id, maxLength } of nodesOf(card))
      if (type === 'Input.Text') values[String(id)] = long(Number(maxLength))
    values['capacity'] = '102400'
    for (const [at, id] of ['permissions.FullAccess', 'permissions.SendAs'].entries())
      values[id] = peopleOf(most)
        .filter((_, index) => index % 2 === at)
        .map(({ id }) => id)
        .join(',')
    return requestForm({ template, people: peopleOf(most), draft: draftOf(values) })
  }
  const peopleOf = (count: number): Person[] =>
    Array.from({ length: count }, (_, index) => ({
      ...named(kim, long(256)),
      id: `11111111-aaaa-4aaa-8aaa-${String(index).padStart(12, '0')}`,
    }))

  it.each([
    ['a room', meetingRoom],
    ['a shared mailbox', supportMailbox],
  ])('of %s stay under 25 kB with completely filled inputs and twenty people', (_, plain) => {
    const template = templateOf({ ...plain, name: long(64), fields: fields.slice(0, 3) })
    const form = filledTo(template, 20)
    const card = cards.form(form)
    expect(bytes(card)).toBeLessThan(25_000)
    const values = Object.fromEntries(nodesOf(card).flatMap(({ id, value }) => (value ? [[id, value]] : [])))
    for (const [id, value] of Object.entries(form.draft.values)) expect(String(values[id]), id).toBe(value)
  })

  it('of many links at once stay under 25 kB', () => {
    const url = `https://contoso.sharepoint.com/sites/${'a'.repeat(64)}`
    const followUp = { state: 'announced', by: 'webhook', url } as const
    const details = { ...requests.ready.details, displayName: long(256) }
    const longest = requestOf({ ...requests.ready, details, followUp, resource: null })
    const most = Array.from({ length: mostLinks }, () => longest)
    expect(bytes(cards.links(most, asKim))).toBeLessThan(25_000)
  })

  it('of requests for mailboxes stay under 25 kB', () => {
    const people = peopleOf(100)
    const details = {
      ...mailboxes.ready.details,
      displayName: long(256),
      metadata,
      automaticReply: long(32_000),
      notes: long(1024),
      tags: Array.from({ length: 20 }, () => long(64)),
      streetAddress: long(1024),
      permissions: Object.fromEntries(people.map(({ id }, at) => [id, at % 2 ? 'SendAs' : 'FullAccess'] as const)),
    }
    const longest = { details, people, requester: named(kim, long(256)), reason: long(1024) }
    const asAdmin = viewerOf(kim, { isAdmin: true })
    for (const request of Object.values(mailboxes)) {
      const problem = request.problem && { ...request.problem, detail: long(500) }
      const checks = request.checks.map((one) => ({ ...one, ok: false, detail: long(1024) }))
      const largest = { ...request, ...longest, problem, checks }
      expect(bytes(cards.requestStatus(largest, asAdmin)), request.status).toBeLessThan(25_000)
      expect(bytes(cards.adminConfirm({ verb: 'admin.cancel', request: largest }, asAdmin))).toBeLessThan(25_000)
      const entry = { request: largest, since: request.updatedAt, attention: undefined }
      const entries = Array.from({ length: 30 }, () => entry)
      expect(bytes(cards.adminStuck({ count: 30, entries }, asAdmin))).toBeLessThan(25_000)
      expect(
        bytes(cards.adminQueue({ counts: { waiting: 1, creating: 1, failed: 1 }, open: 30, entries }, asAdmin)),
      ).toBeLessThan(25_000)
      expect(bytes(cards.ready(largest, asKim))).toBeLessThan(25_000)
    }
    const waiting = { ...mailboxes.waiting, ...longest, approvals: stages }
    expect(bytes(cards.approval(waiting, viewerOf(kim)))).toBeLessThan(25_000)
    const review = {
      ...similarNamed(long(256), 'a'.repeat(200)),
      draft: draftOf({ reason: long(1024) }),
      plan: mailboxPlanOf(waiting),
      outlook: { approvals: stages, warnings: surprising },
    }
    expect(bytes(cards.review(review))).toBeLessThan(25_000)
  })
})
