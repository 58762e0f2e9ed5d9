import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import { literal } from '../../src/cards/shared/render.ts'
import {
  type ApprovalStage,
  asWritten,
  judgeHealth,
  type Person,
  type RequestForMailbox,
  type RequestForSite,
  snapshot,
} from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { mailboxes, mailboxPlanOf, supportMailbox } from '../support/card-mailboxes.ts'
import {
  approvedBy,
  dana,
  draftOf,
  kim,
  omar,
  onePage,
  planOf,
  priya,
  projectSite,
  requestOf,
  requests,
  sam,
  stageOf,
  templateOf,
  viewerOf,
} from '../support/card-requests.ts'
import { isNode, nodesOf } from '../support/card-rules.ts'
import { lineOf } from '../support/card-samples-timeline.ts'
import { similarNamed } from '../support/card-similar.ts'
import { inTime } from '../support/card-stages.ts'
import { cards } from '../support/english-cards.ts'
import { factsOf } from '../support/health-facts.ts'
import { shortHostileTexts } from '../support/hostile-texts.ts'
import { faultSaying } from '../support/refusal.ts'

/** Text of people and admins that could break markdown, templates, our placeholders or Teams. */
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

/** Creates every card, with the given text in every field that a person or an admin can fill in. */
function everyCard(text: string): CardJson[] {
  const source = templateOf({
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
  const of = (request: RequestForSite): RequestForSite => ({ ...request, ...base })
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
    faultSaying('/alias', 'name-taken', text, text),
    faultSaying('/metadata/costCentre', 'pattern', text),
    faultSaying('/templateId', 'unknown-template', text),
  ]
  const form = { template: source, requester: named(kim, text), people: [named(dana, text)] }
  return [
    cards.help({
      displayName: text,
      has: { approvals: true, drafts: true },
      isAdmin: true,
      offers: ['newSite', 'newRoom'],
    }),
    cards.chooseTemplate([{ ...source, approvalRequired: true }]),
    cards.form(requestForm({ ...form, draft: draftOf(values) })),
    cards.form(requestForm({ ...form, draft: draftOf(values), faults })),
    cards.review({
      ...similarNamed(text),
      draft: draftOf(values),
      plan: planOf({ ...people, template: source, details }),
    }),
    ...Object.values(requests).map((request) => cards.requestStatus(of(request), asKim)),
    cards.requestStatus(of(requestOf({ approvals })), asKim),
    cards.requestStatus(of({ ...requests.failed, problem: { code: 'x', detail: text } }), { ...asKim, isAdmin: true }),
    cards.requestStatus(of(requestOf()), asKim, {
      isOpen: true,
      entries: [lineOf('reassigned', named(omar, text), { comment: text, data: { to: named(priya, text), from: [] } })],
    }),
    cards.approval(of(requestOf()), viewerOf(dana), { comment: text, commentMissing: true }),
    cards.approvalDecided(of(requestOf({ approvals })), viewerOf(omar)),
    ...Object.values(inTime).flatMap((request) => {
      const waited = of({ ...request, approvals: renamed(request.approvals, text) })
      const viewers = [dana, omar, priya, sam].map((one) => viewerOf(one))
      return [cards.requestStatus(waited, asKim), ...viewers.map((viewer) => cards.approvalNow(waited, viewer))]
    }),
    cards.approvalDecided(of(requests.rejected), viewerOf(omar)),
    cards.approvalDecided(of(requests.cancelled), viewerOf(omar)),
    cards.ready(of({ ...requests.ready, progress: { securityGroupName: text } }), asKim),
    cards.myRequests(onePage(of(requests.ready), of(requests.waiting)), asKim),
    cards.approvals(onePage(of(requests.waiting)), asKim),
    cards.notice({ code: 'alreadyDecided', by: text, at: requests.waiting.updatedAt }, asKim),
    ...everyMailboxCard(text),
  ]
}

/** Uses the text as the name of everybody in the stages and as their own input. */
const renamed = (stages: readonly ApprovalStage[], text: string): ApprovalStage[] =>
  JSON.parse(JSON.stringify(stages), (key, value: unknown) =>
    key === 'displayName' || key === 'comment' ? text : value,
  ) as ApprovalStage[]

function everyMailboxCard(text: string): CardJson[] {
  const source = templateOf({
    ...supportMailbox,
    name: `x${text}x`,
    fields: [{ ...supportMailbox.fields[0], help: text, placeholder: text }],
  })
  const details = {
    ...mailboxes.sharedReady.details,
    displayName: text,
    metadata: { costCentre: text, [text]: text },
    notes: text,
    automaticReply: text,
    audioDeviceName: text,
    tags: [text],
  }
  const people = [named(kim, text), named(dana, text), named(omar, text)]
  const hostileRequest = { details, people, requester: named(kim, text), reason: text, template: snapshot(source) }
  const of = (request: RequestForMailbox): RequestForMailbox => ({ ...request, ...hostileRequest })
  const problem = { code: 'x', detail: text, step: 'grant-access' }
  const failed = { ...of(mailboxes.refused), problem }
  const values = {
    displayName: text,
    name: text,
    alias: text,
    notes: text,
    reason: text,
    'permissions.SendAs': omar.id,
  }
  const faults = [faultSaying('/name', 'name-taken', text, text), faultSaying('/nowhere', 'pattern', text)]
  const asAdmin = viewerOf(kim, { isAdmin: true })
  const entry = { request: failed, since: failed.updatedAt, attention: undefined }
  const form = { draft: draftOf(values), template: source, people }
  const own = { databaseMilliseconds: 1, queue: { waiting: 0, oldestSeconds: 0 }, watchedAt: null, version: '1' }
  const services = [{ name: 'graph' as const, milliseconds: 1, problem: asWritten(text) }]
  return [
    cards.form(requestForm(form)),
    cards.form(requestForm({ ...form, faults })),
    cards.review({
      ...similarNamed(text),
      draft: draftOf(values),
      plan: mailboxPlanOf(mailboxes.waiting, { ...hostileRequest, template: source }),
    }),
    cards.approval(of(mailboxes.waiting), viewerOf(dana)),
    cards.requestStatus(failed, asAdmin),
    cards.requestStatus(
      of({ ...mailboxes.checkFailed, checks: [{ name: 'place', ok: false, detail: text }] }),
      asAdmin,
    ),
    cards.ready(of(mailboxes.sharedReady), asKim),
    cards.adminQueue({ counts: { waiting: 0, creating: 0, failed: 1 }, open: 1, entries: [entry] }, asAdmin),
    cards.adminStuck({ count: 1, entries: [entry] }, asAdmin),
    cards.adminConfirm({ verb: 'admin.retry', request: failed }, asAdmin),
    cards.adminConfirm({ verb: 'admin.cancel', request: failed, comment: text }, asAdmin),
    cards.adminHealth(
      judgeHealth(factsOf(new Date(1000), { own: { ...own, startedAt: new Date(0) }, deadLetters: 1, services })),
      asAdmin,
    ),
    cards.adminJobs(
      {
        total: 1,
        jobs: [
          {
            ...{
              letterId: requests.ready.requestId,
              job: 'notify',
              problem: asWritten(text),
              at: new Date(0),
              request: failed,
            },
            isOver: false,
          },
        ],
      },
      asAdmin,
    ),
  ]
}

/** Returns the places where Teams reads markdown, or that are shown or read aloud without the card. */
function ourPlaces(card: CardJson): unknown[] {
  const blocks = nodesOf(card).filter(({ type }) => type === 'TextBlock')
  const labels = nodesOf(card).map(({ label }) => label)
  return [card['fallbackText'], card['speak'], ...blocks.map(({ text }) => text), ...labels]
}

/** Returns the places on all cards where a text differs from its cleaned form (names on one line). */
function changedIn(text: string): string[] {
  const shown = literal(text)
  const forms = [shown, literal(text.replaceAll(/[\r\n\u0085\u2028\u2029]+/g, ' '))]
  return everyCard(text).flatMap((card) => {
    const runs = nodesOf(card).flatMap((node) => (node['type'] === 'TextRun' ? [String(node['text'])] : []))
    const written = runs.filter((run) => run.includes('¤'))
    const changed = written.filter((run) => forms.reduce((rest, form) => rest.replaceAll(form, ''), run).includes('¤'))
    const elsewhere = ourPlaces(card).filter((place) => String(place).includes('¤'))
    return [...changed, ...elsewhere.map(String), ...(written.length > 0 ? [] : [JSON.stringify(card)])]
  })
}

describe('hostile text of people', () => {
  it('appears only in places that show it literally, and unchanged', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(changedIn(text)).toEqual([])
      }),
      { numRuns: 60 },
    )
    // Creates every card sixty times.
  })

  it('appears unchanged for each kind of text, from a request to its card', () => {
    const short = shortHostileTexts.filter(({ text }) => text.length <= 30)
    const kinds = new Map(short.map(({ what, text }) => [what, `¤${text}¤`]))
    const texts = [...kinds.values()]
    expect(texts.length).toBeGreaterThan(30)
    for (const text of texts) expect(changedIn(text), JSON.stringify(text)).toEqual([])
  })

  it('changes neither the buttons nor their data', () => {
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
