import { describe, expect, it } from 'vitest'
import { type ApprovalFacts, type Person, type Request, snapshot } from '../../src/core/index.ts'
import { mailboxes } from '../support/card-mailboxes.ts'
import {
  approvedBy,
  at,
  dana,
  draftOf,
  filled,
  kim,
  omar,
  onePage,
  planOf,
  priya,
  projectSite,
  requestOf,
  requests,
  stageOf,
  viewerOf,
} from '../support/card-requests.ts'
import { notSimilar } from '../support/card-similar.ts'
import { templateOf } from '../support/card-world.ts'
import { nodesOf, textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'

const free: ApprovalFacts = { address: 'free', duplicates: [] }
const show = (request: Request, who: Person, facts: ApprovalFacts = free) =>
  cards.approval(request, viewerOf(who), undefined, facts)
/** The texts outside of the details, which are hidden at first. */
function plainTextOf(card: ReturnType<typeof show>): string {
  const body = (card['body'] as { id?: string }[]).filter(({ id }) => id !== 'details')
  return textOf({ ...card, body })
}
/** The texts of the rows with a mark. */
const marked = (card: ReturnType<typeof show>, mark: string): string[] =>
  [...nodesOf(card)].flatMap((node) => {
    const { type, columns } = node as { type?: string; columns?: object[] }
    if (type !== 'ColumnSet' || !columns || columns.length !== 2) return []
    const [first, text] = columns.map((column) => textOf({ body: [column] }))
    return first?.trim() === mark ? [String(text).trim()] : []
  })

describe('the review', () => {
  it('names a guest before the request is sent', () => {
    const review = (guests: string[]) =>
      textOf(cards.review({ ...notSimilar, draft: draftOf(filled), plan: planOf({ guests }) }))
    expect(review([dana.id])).toContain('Dana Fox is a guest of your organisation.')
    expect(review([])).not.toContain('guest')
  })
})

describe('the approval card', () => {
  it('shows ✓ only for checks of this moment and for decisions', () => {
    expect(marked(show(requestOf(), omar), '✓')).toEqual(['This address is free: project-aurora-2'])
    const unknown = show(requestOf(), omar, { address: 'unknown', duplicates: [] })
    expect(marked(unknown, '✓')).toEqual([])
    expect(marked(unknown, '–')).toEqual(['I could not check this address: project-aurora-2'])
    const taken = show(requestOf(), omar, { address: 'taken', duplicates: [] })
    expect(marked(taken, '!')).toEqual(['This address is taken: project-aurora-2'])
  })

  it('shows the facts of the policy in plain view', () => {
    const text = plainTextOf(show(requestOf(), omar))
    for (const fact of ['Kim Lee and Dana Fox', 'Internal', 'Contoso and named partners', '4711'])
      expect(text).toContain(fact)
    expect(text).not.toContain('Plans, minutes and drawings')
    const { approval: _, fields: __, ...source } = projectSite
    const stages = [{ approvers: [{ user: dana.id }], when: [{ field: 'description', given: true }] }]
    const template = snapshot(templateOf({ ...source, approval: { stages } }))
    expect(plainTextOf(show(requestOf({ template }), omar))).toContain('Plans, minutes and drawings')
  })

  it('names the own part of the approver', () => {
    expect(marked(show(requestOf(), dana), '!')).toEqual(['You are an owner of this site'])
    expect(marked(show(requestOf(), omar), '!')).toEqual([])
    const details = { ...mailboxes.waiting.details, permissions: { [dana.id]: 'FullAccess' as const } }
    expect(marked(show({ ...mailboxes.waiting, details }, dana), '!')).toContain('You get full access to this mailbox')
  })

  it('marks guests among the owners by the directory, not by their names', () => {
    const named = { ...priya, displayName: 'Priya Nair (Guest)' }
    const owners = [kim, named, dana]
    expect(marked(show(requestOf({ owners, guests: [] }), omar), '!')).toEqual([])
    expect(marked(show(requestOf({ owners, guests: [dana.id] }), omar), '!')).toEqual(['Dana Fox is a guest'])
    const two = marked(show(requestOf({ owners, guests: [dana.id, priya.id] }), omar), '!')
    expect(two).toEqual(['Priya Nair (Guest) and Dana Fox are guests'])
    const { people, details } = mailboxes.waiting
    const [owner] = people
    const mailbox = { ...mailboxes.waiting, details: { ...details, primaryOwner: owner?.id ?? '' } }
    const ofMailbox = marked(show({ ...mailbox, guests: [owner?.id ?? ''] }, omar), '!')
    expect(ofMailbox).toContain(`${owner?.displayName} is a guest`)
  })

  it('shows each change since the earlier request from its old value to its new one', () => {
    const before = requestOf()
    const earlier = { ...before, owners: [kim], details: { ...before.details, labelId: 'b3' } }
    const basedOn = {
      ...{ requestId: earlier.requestId, reference: 'REQ-1041', how: 'resubmission' as const },
      ...{ changed: ['owners', 'labelId'], ended: { status: 'rejected' as const, by: dana, comment: 'Alone?' } },
    }
    const text = plainTextOf(show(requestOf({ basedOn }), omar, { ...free, earlier }))
    expect(text).toContain('Changed since REQ-1041')
    expect(text).toContain('Kim Lee → Kim Lee and Dana Fox')
    expect(text).toContain('Confidential → Internal')
    // Without the earlier request, the card names the fields.
    expect(plainTextOf(show(requestOf({ basedOn }), omar))).toContain('Changed: Owners, Sensitivity')
  })

  it('names a similar waiting request, or only its existence to people who may not read it', () => {
    const other = requestOf({ number: 1040, requester: priya })
    expect(marked(show(requestOf(), omar, { ...free, duplicates: [other] }), '!')).toEqual([
      'Priya Nair waits for a similar request: REQ-1040 (Project Aurora)',
    ])
    const hidden = { ...other, approvals: [stageOf(1, [priya])] }
    expect(marked(show(requestOf(), omar, { ...free, duplicates: [hidden] }), '!')).toEqual([
      'Another person waits for a request with a similar name',
    ])
  })

  it('says at the second stage that the person approved the first one, and shows the changes since', () => {
    const approvals = [stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }), stageOf(2, [dana, omar])]
    const addressChanges = [{ from: 'project-aurora-2', to: 'aurora-move', at: at('09:40') }]
    const request = requestOf({ approvals, alias: 'aurora-move', addressChanges })
    const text = plainTextOf(show(request, dana))
    expect(text).toContain('You gave approval 1 (')
    expect(text).toContain('Kim Lee changed the address from project-aurora-2 to aurora-move.')
    expect(plainTextOf(show(request, omar))).not.toContain('You approved')
  })

  it('shows a long name in full', () => {
    const displayName = `${'Programme for the renewal of every meeting room '.repeat(5)}in Zürich`
    const details = { ...requestOf().details, displayName }
    expect(textOf(show(requestOf({ details }), omar))).toContain(displayName)
  })
})

describe('the rows of `approvals` and of the card for several decisions', () => {
  const rowsOf = (request: Request, who: Person) => [
    textOf(cards.approvals(onePage(request), viewerOf(who))),
    textOf(cards.decideSeveral({ waiting: [request, requestOf({ number: 1099 })] }, viewerOf(who))),
  ]
  const { approval: _, ...source } = projectSite
  const oneOwner = requestOf({ owners: [kim] })

  it.each<[string, Request, Person, string]>([
    ['a taken address', requests.addressTaken, omar, 'This address is taken: project-aurora-2'],
    ['the own part of the approver', requestOf(), dana, 'You are an owner of this site'],
    ['guests', requestOf({ guests: [kim.id] }), omar, 'Guest: Kim Lee'],
    ['a single owner', oneOwner, omar, 'Only one owner: Kim Lee'],
    ['the sensitivity', requestOf(), omar, 'Sensitivity: Internal'],
    ['the stage', requests.secondStage, priya, 'Approval 2 of 2'],
    [
      'the earlier approval of the person',
      requestOf({ approvals: [stageOf(1, [dana], { decisions: [approvedBy(dana, '09:31')] }), stageOf(2, [dana])] }),
      dana,
      'Approval 2 of 2, you approved stage 1',
    ],
    [
      'the answers on which the policy depends',
      requestOf({
        template: snapshot(
          templateOf({
            ...source,
            approval: {
              stages: [{ approvers: [{ user: dana.id }], when: [{ field: 'metadata.costCentre', given: true }] }],
            },
          }),
        ),
      }),
      omar,
      'Cost centre: 4711',
    ],
  ])('show %s', (_, request, who, text) => {
    for (const shown of rowsOf(request, who)) expect(shown).toContain(text)
  })
})
