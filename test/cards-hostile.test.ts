import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CardJson, cards } from '../src/cards/index.ts'
import { fault, type Person, type Request, snapshot } from '../src/core/index.ts'
import {
  approvedBy,
  dana,
  draftOf,
  kim,
  omar,
  planOf,
  projectSite,
  requestOf,
  requests,
  siteRoot,
  stageOf,
  viewerOf,
} from './support/card-requests.ts'
import { isNode, nodesOf } from './support/card-rules.ts'
import { siteTemplate } from './support/card-world.ts'

/** Text of people and admins: everything that markdown, templates, our placeholders and Teams could trip over. */
const pieces = [
  '**b**',
  '[x](https://evil.example)',
  `$${'{strings}'}`,
  `$${'{$root}'}`,
  '{name}',
  '{at}',
  '{people}',
  '<at>all</at>',
]
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...pieces, '\n- ', '"', '\\', '`', '👨‍👩‍👧', 'e\u0301'),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    ),
    { maxLength: 3 },
  )
  .map((parts) => `¤${parts.join('')}¤`)
  .filter((text) => text.length <= 30)

const named = (person: Person, displayName: string): Person => ({ ...person, displayName })
const asKim = viewerOf(kim)

/** Every card, with the given text wherever a person or an admin can have written. */
function everyCard(text: string): CardJson[] {
  const source = siteTemplate({
    ...projectSite,
    name: `x${text}x`,
    description: text,
    fields: [{ ...projectSite.fields[0], label: 'Cost centre', help: text, placeholder: text, error: text }],
    labels: { allowed: [{ id: 'b2', name: `x${text}x` }], default: 'b2' },
  })
  const people = { requester: named(kim, text), owners: [named(kim, text), named(dana, text)] }
  const details = {
    ...requestOf().details,
    displayName: text,
    description: text,
    metadata: { costCentre: text, [text]: text },
  }
  const base = { ...people, details, reason: text, template: snapshot(source), cancelledBy: named(omar, text) }
  const approvals = [
    stageOf(1, [named(dana, text), named(omar, text)], { decisions: [approvedBy(named(omar, text), '09:31', text)] }),
  ]
  const of = (request: Request): Request => ({ ...request, ...base })
  const values = {
    displayName: text,
    alias: text,
    description: text,
    owners: text,
    labelId: text,
    reason: text,
    'metadata.costCentre': text,
  }
  const faults = [
    fault('/alias', 'name-taken', text, text),
    fault('/metadata/costCentre', 'pattern', text),
    fault('/templateId', 'unknown-template', text),
  ]
  const form = { template: source, requester: named(kim, text), siteRoot, people: [named(dana, text)] }
  return [
    cards.help({ displayName: text, isApprover: true }),
    cards.chooseTemplate([{ ...source, approvalRequired: true }]),
    cards.siteForm({ ...form, draft: draftOf(values), faults: [] }),
    cards.siteForm({ ...form, draft: draftOf(values), faults }),
    cards.review({ draft: draftOf(values), plan: planOf({ ...people, template: source, details }) }),
    ...Object.values(requests).map((request) => cards.requestStatus(of(request), asKim)),
    cards.requestStatus(of(requestOf({ approvals })), asKim),
    cards.requestStatus(of({ ...requests.failed, problem: { code: 'x', detail: text } }), { ...asKim, isAdmin: true }),
    cards.approval(of(requestOf()), viewerOf(dana), { comment: text, commentMissing: true }),
    cards.approvalDecided(of(requestOf({ approvals })), viewerOf(omar)),
    cards.approvalDecided(of(requests.rejected), viewerOf(omar)),
    cards.approvalDecided(of(requests.cancelled), viewerOf(omar)),
    cards.siteReady(of({ ...requests.ready, progress: { securityGroupName: text } }), asKim),
    cards.myRequests([of(requests.ready)], 0, asKim),
    cards.approvals([of(requests.waiting)], asKim),
    cards.notice({ code: 'alreadyDecided', by: text, at: requests.waiting.updatedAt }, asKim),
  ]
}

/** Places where Teams reads markdown, or that are shown or read aloud without the card. */
function ourPlaces(card: CardJson): unknown[] {
  const blocks = nodesOf(card).filter(({ type }) => type === 'TextBlock')
  const labels = nodesOf(card).map(({ label }) => label)
  return [card['fallbackText'], card['speak'], ...blocks.map(({ text }) => text), ...labels]
}

describe('text that people wrote', () => {
  it('stands only where it is shown as it is, and unchanged', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const card of everyCard(text)) {
          for (const place of ourPlaces(card)) expect(String(place)).not.toContain('¤')
          const shown = nodesOf(card).flatMap((node) => (node['type'] === 'TextRun' ? [String(node['text'])] : []))
          const written = shown.filter((run) => run.includes('¤'))
          expect(written.length, JSON.stringify(card)).toBeGreaterThan(0)
          for (const run of written) expect(run.replaceAll(text, '')).not.toContain('¤')
        }
      }),
      { numRuns: 60 },
    )
  })

  it('does not decide which buttons there are or what they carry', () => {
    const actionsOf = (card: CardJson) =>
      nodesOf(card).flatMap((node) =>
        String(node['type']).startsWith('Action.') && isNode(node['data']) ? [node['data']] : [],
      )
    const plain = everyCard('plain').map(actionsOf)
    fc.assert(
      fc.property(hostile, (text) => {
        expect(everyCard(text).map(actionsOf)).toEqual(plain)
      }),
      { numRuns: 20 },
    )
  })
})

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
  const source = siteTemplate({
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

  it('of requests stay under 25 kB, whatever was asked for', () => {
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
      bytes(cards.review({ draft: draftOf({ reason: long(1024) }), plan: planOf({ ...base, template: source }) })),
    ).toBeLessThan(25_000)
    expect(bytes(cards.chooseTemplate(choices))).toBeLessThan(25_000)
    expect(
      bytes(
        cards.myRequests(
          Array.from({ length: 30 }, () => waiting),
          5,
          asKim,
        ),
      ),
    ).toBeLessThan(25_000)
    expect(
      bytes(
        cards.approvals(
          Array.from({ length: 30 }, () => waiting),
          asKim,
        ),
      ),
    ).toBeLessThan(25_000)
  })

  it('of forms stay under 25 kB with six fields of a template, filled to the brim', () => {
    const empty = { template: source, requester: kim, faults: [], people: [], siteRoot }
    const card = cards.siteForm({ ...empty, draft: draftOf({}) })
    const inputs = nodesOf(card).filter(({ type }) => type === 'Input.Text')
    const values = Object.fromEntries(inputs.map(({ id, maxLength }) => [String(id), long(Number(maxLength))]))
    const owners = twenty.slice(0, 19)
    const filled = { ...values, owners: owners.map(({ id }) => id).join(',') }
    expect(bytes(cards.siteForm({ ...empty, draft: draftOf(filled), people: owners }))).toBeLessThan(25_000)
  })
})
