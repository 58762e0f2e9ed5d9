import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import {
  asWritten,
  type Delegation,
  judgeHealth,
  mostLinks,
  type Person,
  type RequestForMailbox,
  type RequestForSite,
  snapshot,
} from '../../src/core/index.ts'
import { requestForm } from '../support/card-forms.ts'
import { mailboxes, supportMailbox } from '../support/card-mailboxes.ts'
import {
  approvedBy,
  dana,
  draftOf,
  kim,
  omar,
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
import { delegationOf } from '../support/card-samples-delegation.ts'
import { similarNamed } from '../support/card-similar.ts'
import { cards } from '../support/english-cards.ts'
import { factsOf } from '../support/health-facts.ts'
import { faultSaying } from '../support/refusal.ts'

const asAdmin = viewerOf(kim, { isAdmin: true })
const bytes = (card: CardJson): number => JSON.stringify(card).length * 2

/**
 * The most expensive letters: two code units, several for one character, and those that JSON escapes with a backslash.
 */
const letters = {
  plain: 'ß',
  Chinese: '漢',
  emoji: '👩‍👩‍👧‍👦',
  combined: 'e\u0301\u0302\u0303',
  quotes: '"',
  backslashes: '\\',
  lines: 'a\n',
} as const

/** Creates every card of a request, of lists and of notices, with the maximum number of a letter in each field. */
function largest(letter: string): [name: string, card: CardJson][] {
  const long = (most: number) =>
    letter
      .repeat(Math.ceil(most / letter.length))
      .slice(0, most)
      .toWellFormed()
  const named = (person: Person): Person => ({ ...person, displayName: long(256) })
  const hundred = Array.from({ length: 100 }, (_, index) => ({
    ...named(kim),
    id: `11111111-aaaa-4aaa-8aaa-${String(index).padStart(12, '0')}`,
  }))
  const metadata = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`${index}${long(60)}`.slice(0, 64).toWellFormed(), long(1024)]),
  )
  const template = (of: typeof projectSite) =>
    snapshot(templateOf({ ...of, name: `x${long(62)}x`, description: `x${long(298)}x` }))
  const [by, problem] = [named(dana), { code: 'x', detail: long(1000), step: 'ready-check' }]
  const stages = [1, 2, 3, 4, 5].map((stage) => stageOf(stage, hundred, { rule: 'quorum', quorum: 3 }))
  const moment = '2026-11-15T09:02:00Z'
  const times = { reachBy: moment, warnAt: moment, expiresAt: '2026-11-29T09:02:00Z' }
  const standIns = hundred.slice(0, 40).flatMap(({ id }, index) => {
    const why = (['delegated', 'escalated', 'unreachable'] as const)[index % 3] ?? 'delegated'
    const of = { insteadOf: [id], why, as: 'delegate' as const, by: named(omar), since: moment }
    return [dana, sam].map((one) => ({ ...of, person: named(one), until: '2026-12-30T23:00:00Z' }))
  })
  /**
   * Everything that can happen while a request waits. Dana sees it: the request was reassigned to her, and she acts for others.
   */
  const waited = (['any', 'all', 'quorum'] as const).map((rule) =>
    stageOf(1, [named(dana), ...hundred], {
      ...{ rule, quorum: 3, openedAt: moment, times, standIns, escalatedAt: moment, warnedAt: moment },
      reminders: [{ at: '2026-11-20T09:02:00Z', by: named(kim) }],
      unreachable: hundred.map((person) => ({ person, why: 'NoChat', at: moment })),
      reassigned: [{ from: hundred, to: named(dana), by: named(sam), at: moment, comment: long(500) }],
    }),
  )
  const decisions = waited.map((stage) => ({
    ...stage,
    decisions: [{ ...approvedBy(named(omar), '09:31', long(500)), insteadOf: hundred }],
  }))
  const decided = [stageOf(1, hundred, { decisions: [approvedBy(by, '09:31', long(500))] })]
  const common = { requester: named(kim), reason: long(1024), cancelledBy: named(omar), cancelComment: long(500) }
  const site = (of: RequestForSite): RequestForSite => ({
    ...of,
    ...{ ...common, template: template(projectSite), owners: hundred.slice(0, 20), alias: 'a'.repeat(64) },
    details: { ...of.details, displayName: long(256), description: long(1024), metadata },
    ...(of.status === 'failed' && { problem }),
    progress: { ...of.progress, securityGroupName: long(256) },
  })
  const mailbox = (of: RequestForMailbox): RequestForMailbox => ({
    ...of,
    ...{ ...common, template: template(supportMailbox), people: hundred },
    details: {
      ...of.details,
      ...{ displayName: long(256), metadata, notes: long(1024), streetAddress: long(1024) },
      automaticReply: long(32_000),
      permissions: Object.fromEntries(hundred.map(({ id }, at) => [id, at % 2 ? 'SendAs' : 'FullAccess'] as const)),
    },
    problem: of.problem && { ...of.problem, detail: long(1000) },
    checks: of.checks.map((check) => ({ ...check, ok: false, detail: long(1024) })),
  })
  const changed = ['displayName', 'alias', 'description', 'owners', 'labelId', 'reason', 'metadata.costCentre']
  const ended = { status: 'rejected', by, comment: long(500) } as const
  const earlierId = requestOf().requestId
  const sentAgain = {
    basedOn: { requestId: earlierId, reference: 'REQ-1041', how: 'resubmission', changed, ended },
    addressConflict: { taken: 'a'.repeat(64), suggestion: 'b'.repeat(64), at: moment },
  } as const satisfies Partial<RequestForSite>
  const all = [...Object.values(requests).map(site), ...Object.values(mailboxes).map(mailbox)]
  const waiting = site(requestOf({ approvals: stages }))
  const open = { ...waiting, approvals: stages }
  const entries = all.map((request) => ({ request, since: request.updatedAt, attention: undefined }))
  const jobs = all.slice(0, 30).map((request) => ({
    ...{
      letterId: request.requestId,
      job: 'notify' as const,
      problem: asWritten(long(1000)),
      at: new Date(0),
      request,
    },
    isOver: false,
  }))
  const own = { databaseMilliseconds: null, queue: { waiting: 9, oldestSeconds: 900 }, watchedAt: null, version: '1' }
  const services = (['graph', 'sharePoint', 'exchange'] as const).map((name) => ({
    ...{ name, milliseconds: 1, problem: asWritten(long(1000)) },
  }))
  return [
    ...all.map((request): [string, CardJson] => [`status ${request.status}`, cards.requestStatus(request, asAdmin)]),
    ...all.map((request): [string, CardJson] => [
      `decided ${request.status}`,
      cards.approvalDecided({ ...request, approvals: decided }, asAdmin),
    ]),
    ...all.map((request): [string, CardJson] => [
      `confirm ${request.status}`,
      cards.adminConfirm({ verb: 'admin.cancel', request, comment: long(500), commentMissing: true }, asAdmin),
    ]),
    ...waited.flatMap((stage): [string, CardJson][] => {
      const [ofSite, ofMailbox] = [site(requestOf()), mailbox(mailboxes.waiting)]
      const form = { comment: long(500), commentMissing: true }
      const approvals = [stage, ...stages.slice(1)]
      return [
        [`status ${stage.rule}`, cards.requestStatus({ ...ofSite, approvals }, asAdmin)],
        [`approval ${stage.rule}`, cards.approval({ ...ofSite, approvals }, viewerOf(dana), form)],
        [
          `approval with facts ${stage.rule}`,
          cards.approval({ ...ofSite, approvals, ...sentAgain }, viewerOf(dana), form, {
            address: 'taken',
            duplicates: [ofSite, { ...ofSite, approvals }],
            earlier: { ...ofSite, reason: long(1024), details: { ...ofSite.details, description: long(1024) } },
          }),
        ],
        [`approval of a mailbox ${stage.rule}`, cards.approval({ ...ofMailbox, approvals }, viewerOf(dana), form)],
        [`decided ${stage.rule}`, cards.approvalDecided({ ...ofSite, approvals }, viewerOf(priya))],
      ]
    }),
    ...decisions.flatMap((stage): [string, CardJson][] => [
      [`status after ${stage.rule}`, cards.requestStatus({ ...open, approvals: [stage] }, asAdmin)],
      [`decided for ${stage.rule}`, cards.approvalDecided({ ...open, approvals: [stage] }, viewerOf(sam))],
    ]),
    ['status', cards.requestStatus(open, asAdmin)],
    ...[true, false].map((isOpen): [string, CardJson] => {
      const entry = { requestId: open.requestId, tenantId: open.tenantId, at: moment, actor: by, comment: long(500) }
      const data = { from: hundred, to: hundred, people: hundred }
      const entries = Array.from({ length: 40 }, () => ({ ...entry, action: 'reassigned', data }))
      return ['timeline', cards.requestStatus({ ...open, approvals: waited }, asAdmin, { entries, isOpen })]
    }),
    ['ready', cards.ready(site(requests.ready), asAdmin)],
    ['ready mailbox', cards.ready(mailbox(mailboxes.sharedReady), asAdmin)],
    ...[site(requests.ready), mailbox(mailboxes.sharedReady)].map((request): [string, CardJson] => [
      `links of the kind ${request.kind}`,
      cards.links(
        Array.from({ length: mostLinks }, () => request),
        asAdmin,
      ),
    ]),
    ['approval', cards.approval(open, viewerOf(dana), { comment: long(500), commentMissing: true })],
    ['approval of a mailbox', cards.approval({ ...mailbox(mailboxes.waiting), approvals: stages }, viewerOf(dana))],
    [
      'review',
      cards.review({
        ...similarNamed(long(256), 'a'.repeat(200)),
        draft: draftOf({}),
        plan: planOf({ ...waiting, template: projectSite }),
      }),
    ],
    ['help', cards.help({ displayName: long(256), has: { approvals: true, drafts: true }, isAdmin: true, offers: [] })],
    ['unmatched', cards.chooseTemplate([], long(4000))],
    ['my requests', cards.myRequests({ requests: all.slice(0, 6), newer: 99, older: 99 }, asAdmin)],
    ['approvals', cards.approvals({ requests: all.slice(0, 6), newer: 99, older: 99 }, asAdmin, delegationTo(by))],
    ...delegationsWith(long, by),
    ['queue', cards.adminQueue({ counts: { waiting: 9, creating: 9, failed: 9 }, open: 99, entries }, asAdmin)],
    ['stuck', cards.adminStuck({ count: 99, entries }, asAdmin)],
    ['jobs', cards.adminJobs({ total: 99, jobs }, asAdmin)],
    [
      'health',
      cards.adminHealth(
        judgeHealth(factsOf(new Date(), { own: { ...own, startedAt: new Date(0) }, deadLetters: 9, services })),
        asAdmin,
      ),
    ],
    ['notice', cards.notice({ code: 'tooManyOpen', detail: asWritten(long(4000)), by: long(256) }, asAdmin)],
    ['drafts', draftsWith(long)],
    ['form', formWith(long)],
  ]
}

const delegationTo = (delegate: Person): Delegation => delegationOf(kim, delegate)

/** A name may contain any text; a search finds at most ten people. */
function delegationsWith(long: (most: number) => string, by: Person): [name: string, card: CardJson][] {
  const known = { own: delegationTo(by), toMe: Array.from({ length: 50 }, () => delegationOf(by, kim)) }
  const values = { to: kim.id, until: '2026-11-30' }
  const remarks = [
    { words: 'several', typed: long(256) },
    { words: 'unclearDay', typed: long(256) },
  ] as const
  const faults = [faultSaying('/to', 'cannot-decide', long(1000)), faultSaying('/until', 'past', 'Over.')]
  const people = Array.from({ length: 10 }, () => ({ ...by, userPrincipalName: long(256) }))
  const form = { values, people, isChoice: true, remarks, faults, earliest: '2026-11-20' }
  const waiting = {
    names: Array.from({ length: 100 }, () => long(256)),
    more: true,
    notMoved: { requested: 0, others: 0 },
  }
  return [
    ['delegation', cards.delegation({ step: 'form', form }, known, asAdmin)],
    ['delegation saved', cards.delegation({ step: 'saved', waiting }, known, asAdmin)],
  ]
}

/** A list of drafts with two further pages. */
function draftsWith(long: (most: number) => string): CardJson {
  const draft = draftOf({ displayName: long(256) })
  const drafts = Array.from({ length: 18 }, () => ({ draft, template: { ...projectSite, name: `x${long(62)}x` } }))
  return cards.continueDraft({ says: 'list', drafts, from: 5, startNew: { command: 'new' } }, asAdmin)
}

function formWith(long: (most: number) => string): CardJson {
  const values = { displayName: long(256), description: long(1024), alias: 'a', reason: long(1024) }
  const draft = draftOf({ ...values, 'metadata.costCentre': long(500) })
  return cards.form(requestForm({ template: projectSite, draft }))
}

describe('the largest cards, filled with any letters, stay under 25 kB:', () => {
  it.each(Object.entries(letters))('%s', (_, letter) => {
    const tooLarge = largest(letter).filter(([, card]) => bytes(card) >= 25_000)
    expect(tooLarge.map(([name, card]) => `${name}: ${bytes(card)}`)).toEqual([])
  })

  it('and end shortened texts with an ellipsis', () => {
    // The lengths of the complete texts. Invisible places for line breaks do not count.
    const complete = new Set([60, 62, 256, 298, 500, 1000, 1024])
    const texts = largest('ß').flatMap(([name, card]) =>
      (
        JSON.stringify(card)
          .replaceAll('\u200b', '')
          .match(/ß+(?:…|\[…\])?/g) ?? []
      ).map((text) => ({ name, text })),
    )
    const isMarked = ({ text }: { text: string }) => /…\]?$/.test(text)
    const unmarked = texts.filter((one) => !isMarked(one) && !complete.has(one.text.length))
    expect(unmarked.map(({ name, text }) => `${name}: ${text.length} letters`)).toEqual([])
    expect(texts.filter(isMarked).length).toBeGreaterThan(100)
  })
})
