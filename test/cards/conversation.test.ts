import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CardJson, formInputIds, type NoticeCode } from '../../src/cards/index.ts'
import { faultCodes, type NamePreview, type Request, type Template } from '../../src/core/index.ts'
import { requestForm, sketchOf } from '../support/card-forms.ts'
import {
  approvedBy,
  dana,
  draftOf,
  filled,
  kim,
  omar,
  openCommunity,
  planOf,
  priya,
  projectSite,
  requestOf,
  requests,
  siteRoot,
  stageOf,
  stepsUntil,
  viewerOf,
} from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { notSimilar } from '../support/card-similar.ts'
import { cards } from '../support/english-cards.ts'
import { faultSaying } from '../support/refusal.ts'

const wordsOf = (card: CardJson): string =>
  nodesOf(card)
    .flatMap(({ text }) => (text === undefined ? [] : [String(text)]))
    .join('\n')
const buttonsOf = (card: CardJson): string[] =>
  (Array.isArray(card['actions']) ? card['actions'] : []).map(({ title }: { title: string }) => title)
const inputsOf = (card: CardJson): string[] =>
  nodesOf(card).flatMap(({ type, id }) => (String(type).startsWith('Input.') ? [String(id)] : []))
const formOf = (template: Template, faults = [faultSaying('/alias', 'required', '')].slice(1)) =>
  cards.form(requestForm({ draft: draftOf(filled), template, faults, people: [dana] }))
const asKim = viewerOf(kim)

describe('the card of a ready site', () => {
  it('shows the newest comment of an approver in one line', () => {
    const decisions = [approvedBy(dana, '09:31', 'Good,\n\ngo ahead.')]
    const card = cards.ready({ ...requests.ready, approvals: [stageOf(1, [dana], { decisions })] }, asKim)
    expect(wordsOf(card)).toContain('Dana Fox wrote: “Good, go ahead.”')
    expect(wordsOf(cards.ready(requests.ready, asKim))).not.toContain('wrote')
  })
})

describe('the site form', () => {
  it('has exactly the inputs that its template needs', () => {
    for (const template of [projectSite, openCommunity]) {
      expect(inputsOf(formOf(template)).sort()).toEqual(formInputIds(template).sort())
    }
    expect(formInputIds(openCommunity)).not.toContain('labelId')
  })

  it('keeps all answers when it comes back', () => {
    const values = Object.fromEntries(
      nodesOf(formOf(projectSite)).flatMap(({ id, value }) => (id ? [[id, value]] : [])),
    )
    expect(values).toMatchObject(filled)
  })

  it('shows the resulting address as far as it is known, and its status', () => {
    const shown = (names: Partial<NamePreview>) =>
      wordsOf(
        cards.form(
          requestForm({
            template: projectSite,
            draft: draftOf({}),
            names: { ...sketchOf(projectSite), status: 'likely', address: `${siteRoot}prj-aurora`, ...names },
          }),
        ),
      )
    const address = 'Address: contoso.sharepoint.com/sites/prj-aurora'
    expect(wordsOf(formOf(projectSite))).toContain('Address: contoso.sharepoint.com/sites/…')
    expect(shown({})).toContain(address)
    expect(shown({})).not.toContain('It is free')
    expect(shown({ status: 'free' })).toContain(`${address}. It is free.`)
    expect(shown({ status: 'silent' })).toContain(`${address}. I cannot check now`)
    expect(shown({ status: 'free', isNumbered: true })).toContain('(the number is set when you send the request)')
    expect(shown({ status: 'sketch', address: `${siteRoot}{city}-…` })).toContain('/sites/‹city›-…')
    expect(shown({ displayName: 'PRJ {metadata.costCentre} Aurora' })).toContain('People see: PRJ ‹Cost centre› Aurora')
  })

  it('shows each fault under its input, and faults without an input above them', () => {
    const card = formOf(projectSite, [
      faultSaying('/alias', 'name-taken', 'project-aurora is taken.', 'project-aurora-2'),
      faultSaying('/owners/0', 'unknown-person', 'Owner 1 is not a person.'),
      faultSaying('/owners/1', 'unknown-person', 'Owner 2 is not a person.'),
      faultSaying('/metadata/costCentre', 'pattern', 'A cost centre has four digits, such as 4711.'),
      faultSaying('/templateId', 'unknown-template', 'This template does not exist.'),
    ])
    const words = wordsOf(card)
    expect(words).toContain('4 things to fix')
    expect(words).toContain('Check Site address, More owners, and Cost centre.')
    expect(words).toContain('This address is taken. Try project-aurora-2.')
    expect(words).toContain('A cost centre has four digits, such as 4711.')
    expect(words).toContain('This template does not exist.')
  })

  it.each(faultCodes)('has a text for the fault %s on any input', (code) => {
    for (const pointer of ['/displayName', '/alias', '/owners', '/metadata/costCentre', '/reason', '/nowhere']) {
      const words = wordsOf(formOf(projectSite, [faultSaying(pointer, code, 'A sentence of the core.')]))
      expect(words).toContain('One thing to fix')
      expect(words).not.toMatch(/[{}]/)
    }
  })

  it('requires a reason only if the template needs an approval', () => {
    const label = (template: Template) => nodesOf(formOf(template)).find(({ id }) => id === 'reason')?.['label']
    expect(label(projectSite)).toBe('Why do you need it? *')
    expect(label(openCommunity)).toBe('Why do you need it?')
  })
})

describe('the status card', () => {
  const card = (request: Request, viewer = asKim) => cards.requestStatus(request, viewer)

  it('shows that a site is being created until its group is found, and its address only then', () => {
    for (const request of [requests.finding, requests.late]) {
      expect(wordsOf(card(request))).toContain('Creating')
      expect(wordsOf(card(request))).not.toContain('contoso.sharepoint.com')
      expect(buttonsOf(card(request))).toEqual(['Refresh'])
    }
    expect(wordsOf(card(requests.late))).toContain('This is taking longer than usual.')
    expect(buttonsOf(card(requests.ready))).toEqual(['Open site'])
    expect(wordsOf(card(requests.ready))).toContain('Request another team site')
  })

  it('links only to sites of the organisation', () => {
    const elsewhere = requestOf({
      ...requests.ready,
      followUp: { state: 'announced', url: 'https://evil.example/sites/x' },
    })
    expect(buttonsOf(card(elsewhere))).toEqual([])
    expect(wordsOf(card(elsewhere))).not.toContain('evil')
    expect(buttonsOf(cards.ready(elsewhere, asKim))).toEqual([])
  })

  it('offers each person their permitted actions', () => {
    expect(buttonsOf(card(requests.waiting))).toEqual(['Refresh', 'Cancel request'])
    expect(card(requests.waiting)['actions']).not.toContainEqual(expect.objectContaining({ style: expect.anything() }))
    expect(buttonsOf(card(requests.waiting, viewerOf(dana)))).toEqual(['Decide', 'Refresh'])
    expect(buttonsOf(card(requests.waiting, viewerOf(priya)))).toEqual(['Refresh'])
    expect(buttonsOf(card(requests.rejected))).toEqual(['Edit and send again'])
    expect(buttonsOf(card(requests.rejected, viewerOf(dana)))).toEqual([])
    expect(buttonsOf(card(requests.creating))).toEqual(['Refresh'])
  })

  it('shows “Nothing was created” only if this is true', () => {
    expect(wordsOf(card(requests.cancelled))).toContain('Nothing was created.')
    const left = requestOf({ ...requests.cancelled, steps: stepsUntil(2) })
    expect(wordsOf(card(left))).toContain('The site was already created and still exists. I notified an admin.')
    expect(wordsOf(card(left))).toContain('contoso.sharepoint.com/sites/project-aurora-2')
  })

  it('shows the failed row of the check', () => {
    const steps = stepsUntil(4, { status: 'failed', attempts: 1 })
    expect(wordsOf(card(requestOf({ ...requests.failed, steps })))).toContain('Check the result')
  })

  it('has at most seven rows and one current row for any number of stages and steps', () => {
    const stages = fc
      .integer({ min: 0, max: 5 })
      .chain((count) => fc.tuple(fc.constant(count), fc.integer({ min: 0, max: count })))
    const status = fc.constantFrom(...(['pendingApproval', 'queued', 'provisioning', 'failed'] as const))
    fc.assert(
      fc.property(stages, status, fc.integer({ min: 0, max: 5 }), ([count, approved], state, done) => {
        const approvals = Array.from({ length: count }, (_, index) =>
          stageOf(index + 1, [dana, omar], { decisions: index < approved ? [approvedBy(dana, '09:31')] : [] }),
        )
        if (state === 'pendingApproval' && approved === count) return
        const shown = card(requestOf({ status: state, approvals, steps: stepsUntil(done) }))
        const marks = nodesOf(shown)
          .filter(({ width }) => width === '20px')
          .flatMap(nodesOf)
        const rows = marks.filter(({ type }) => type === 'TextBlock')
        expect(rows.length).toBeLessThanOrEqual(7)
        expect(rows.filter(({ text }) => text === '●' || text === '✕')).toHaveLength(1)
      }),
    )
  })
})

describe('the approval card', () => {
  it('is for people who can decide now; others see the outcome', () => {
    expect(buttonsOf(cards.approvalNow(requests.waiting, viewerOf(dana)))).toEqual(['Approve', 'Reject'])
    expect(wordsOf(cards.approvalNow(requests.secondStage, viewerOf(dana)))).toContain('Approved by you, 10:31.')
    expect(wordsOf(cards.approvalNow(requests.cancelled, viewerOf(dana)))).toContain(
      'Kim Lee cancelled the request (10:15).',
    )
    expect(wordsOf(cards.approvalNow(requests.expired, viewerOf(dana)))).toContain('Nobody decided in time.')
    const rejected = wordsOf(cards.approvalNow(requests.rejected, viewerOf(dana)))
    expect(rejected).toContain('You wrote')
    expect(rejected).not.toContain('project-aurora')
    const stages = [stageOf(1, [dana]), stageOf(2, [omar])]
    expect(wordsOf(cards.approvalNow(requestOf({ approvals: stages }), viewerOf(omar)))).toContain('Not your turn yet')
  })

  it('names the other approvers and the rule', () => {
    const rule = (approvals: Request['approvals']) => wordsOf(cards.approval(requestOf({ approvals }), viewerOf(dana)))
    expect(rule([stageOf(1, [dana])])).toContain('You decide.')
    expect(rule([stageOf(1, [dana, omar])])).toContain('You or Omar Haddad: the first decision counts.')
    expect(rule([stageOf(1, [dana, omar], { rule: 'all' })])).toContain('You and Omar Haddad must both approve.')
    expect(rule([stageOf(1, [dana, omar, priya])])).toContain('You, Omar Haddad, or Priya Nair: the first')
    expect(rule([stageOf(1, [dana]), stageOf(2, [omar, dana])])).toContain(
      'After that, approval 2 goes to Omar Haddad or you.',
    )
    expect(rule([stageOf(1, [dana, omar, priya], { rule: 'quorum', quorum: 2 })])).toContain('2 approvals are needed')
    expect(rule([stageOf(1, [dana, omar]), stageOf(2, [priya])])).toContain('Approval 1 of 2.')
  })

  it('requires a comment for a rejection', () => {
    const card = cards.approval(requests.waiting, viewerOf(dana), { comment: ' ', commentMissing: true })
    expect(wordsOf(card)).toContain('Explain in a comment why you reject the request. Kim Lee will read it.')
  })
})

describe('the review', () => {
  it('names the approvers, or shows that no approval is needed', () => {
    const words = (approvals: Request['approvals']) =>
      wordsOf(cards.review({ ...notSimilar, draft: draftOf(filled), plan: planOf({ approvals }) }))
    expect(words([])).toContain('No approval is needed.')
    expect(words([stageOf(1, [dana, omar])])).toContain('Dana Fox or Omar Haddad decides.')
    expect(words([stageOf(1, [dana, omar], { rule: 'all' })])).toContain('Dana Fox and Omar Haddad must approve.')
    const two = words([stageOf(1, [dana]), stageOf(2, [omar, priya, kim], { rule: 'quorum', quorum: 2 })])
    expect(two).toContain('Dana Fox decides.')
    expect(two).toContain('2 of Omar Haddad, Priya Nair, and Kim Lee must approve.')
    expect(words([stageOf(1, [omar, priya, kim], { rule: 'quorum', quorum: 2 })])).toContain('2 of Omar Haddad')
  })
})

describe('notices', () => {
  it('carry only the ids that a retry needs', () => {
    const retry = { verb: 'request.submit', requestId: 'r', version: 3 } as const
    const card = cards.notice({ code: 'unavailable', retry }, asKim)
    expect(card['actions']).toMatchObject([
      { title: 'Retry', verb: 'request.submit', data: { requestId: 'r', version: 3 } },
    ])
    const refresh = cards.notice({ code: 'unexpected', retry: { verb: 'request.refresh', requestId: 'r' } }, asKim)
    expect(refresh['actions']).toMatchObject([{ verb: 'request.refresh', data: { requestId: 'r' } }])
  })

  it.each<[NoticeCode, string]>([
    ['alreadyDecided', 'approval.refresh'],
    ['cannotCancel', 'request.refresh'],
    ['outdated', 'request.refresh'],
  ])('lead to the present state: %s', (code, verb) => {
    expect(cards.notice({ code, requestId: 'r' }, asKim)['actions']).toMatchObject([{ verb, data: { requestId: 'r' } }])
  })

  it('always offer a next action', () => {
    const codes: NoticeCode[] = ['notFound', 'discarded', 'noRequests', 'notPersonal', 'noTemplates', 'thanks']
    for (const code of codes) expect(buttonsOf(cards.notice({ code }, asKim)), code).toHaveLength(1)
    expect(buttonsOf(cards.notice({ code: 'unknownCommand', suggestion: 'approvals' }, asKim))).toEqual([
      'approvals',
      'Help',
    ])
    expect(buttonsOf(cards.notice({ code: 'unknownChange', suggestion: 'delegate' }, asKim))).toEqual(['Help'])
  })
})
