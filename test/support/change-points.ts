/** The changes besides one person's request and its approval, which the second laboratory of aimed kills covers. */
export const changeKinds = ['batch', 'reassign', 'twoStages', 'rejection', 'digest', 'erasure'] as const
export type ChangeKind = (typeof changeKinds)[number]
/** The clicks and calls of a change that can wait for the kill. */
export type Step = 'submit' | 'reassign' | 'approve' | 'approveNext' | 'reject' | 'digest' | 'erase'

/** The position of the service at its death, as far as it is visible from outside. Times in milliseconds. */
export type ChangePlace =
  /** `hold`: the card arrived, the answer did not. `lose`: the card never arrived. `late`: just after the answer. */
  | { readonly at: 'card'; readonly method: 'POST' | 'PUT'; readonly how: CardFate; readonly says: RegExp }
  /** The nth call with this operation since the step began. `late`: just after the answer of the tenant. */
  | {
      readonly at: 'tenant'
      readonly mode: 'before' | 'late'
      readonly step: Step
      readonly operation: RegExp
      readonly says?: RegExp
      readonly nth?: number
    }
  /** `hold`: the webhook does not arrive; `deafen`: it arrives without an acknowledgement. */
  | { readonly at: 'webhook'; readonly mode: 'hold' | 'deafen' }
  /** At a random moment after the click was sent or answered. */
  | { readonly at: 'click'; readonly step: Step; readonly from: 'sent' | 'answered'; readonly within: number }
  /** At a random moment after the start of the service. */
  | { readonly at: 'start'; readonly within: number }
export type CardFate = 'hold' | 'lose' | 'late'

/** A position of a change at which the service is killed. */
export interface ChangePoint {
  readonly kind: ChangeKind
  readonly name: string
  readonly place: ChangePlace
}

type Point = Omit<ChangePoint, 'kind'>
const fates: { readonly [F in CardFate]: string } = {
  hold: 'is sent, which arrives',
  lose: 'is sent, which is lost',
  late: 'was acknowledged',
}
/** A card that is sent: the three results of its call. */
const sending = (what: string, says: RegExp): Point[] =>
  (['hold', 'lose', 'late'] as const).map((how) => ({
    name: `${how === 'late' ? 'right after' : 'while'} ${what} ${fates[how]}`,
    place: { at: 'card', method: 'POST', how, says },
  }))
const updating = (what: string, says: RegExp): Point => ({
  name: `while ${what} is updated`,
  place: { at: 'card', method: 'PUT', how: 'hold', says },
})
/** A click: before its answer, right after it, and while its effects are under way. */
const clicking = (step: Step, what: string, sent: number, work: number): Point[] => [
  { name: `before ${what} was answered`, place: { at: 'click', step, from: 'sent', within: sent } },
  { name: `right after ${what} was answered`, place: { at: 'click', step, from: 'answered', within: 20 } },
  { name: `a moment after ${what} was answered`, place: { at: 'click', step, from: 'answered', within: work } },
]
const tenant = (
  step: Step,
  what: string,
  operation: RegExp,
  more: { readonly says?: RegExp; readonly nth?: number } = {},
): Point[] => [
  { name: `before the tenant answers ${what}`, place: { at: 'tenant', mode: 'before', step, operation, ...more } },
  { name: `right after the tenant answered ${what}`, place: { at: 'tenant', mode: 'late', step, operation, ...more } },
]

const question = /Your decision, please/
const points: { readonly [K in ChangeKind]: readonly Point[] } = {
  batch: [
    ...clicking('submit', 'the batch', 80, 400),
    ...tenant('submit', 'the look-up of the third row', /exchange\.get-recipient/, { says: /lab-\d{4}-3/ }),
    ...sending('the progress card', /Your batch is in progress/),
    ...sending('the question about all rows', question),
    ...clicking('approve', 'Approve all', 150, 600),
    { name: 'before a webhook about a row is delivered', place: { at: 'webhook', mode: 'hold' } },
    { name: 'before a webhook about a row is acknowledged', place: { at: 'webhook', mode: 'deafen' } },
    ...sending('the summary', /Your batch has ended/),
  ],
  reassign: [
    ...clicking('reassign', 'the reassignment', 60, 300),
    ...tenant('reassign', 'who the new approver is', /^graph\.users\./),
    ...sending('the card of the new approver', /reassigned this to you/),
    updating('the card of the former approver', /Somebody else decides/),
    ...clicking('approve', 'the decision of the new approver', 60, 300),
  ],
  twoStages: [
    ...clicking('approve', 'the first decision', 60, 300),
    ...sending('the question of the second stage', /Approval 2 of 2/),
    updating('the card of the first approver', /Approved stage 1 of 2/),
    ...clicking('approveNext', 'the second decision', 60, 300),
  ],
  rejection: [
    ...clicking('approve', 'the approval by the delegate', 60, 300),
    ...clicking('reject', 'the rejection', 60, 300),
    updating('the card of the delegate', /then rejected the request/),
    ...sending('the result for the requester', /Nothing was created\. You can change the request/),
  ],
  digest: [
    ...sending('the summary of the day', /Waiting for your decision/),
    { name: 'early after the start that sends the summary', place: { at: 'start', within: 300 } },
    { name: 'later after the start that sends the summary', place: { at: 'start', within: 1500 } },
  ],
  erasure: [
    ...clicking('erase', 'the order', 60, 120),
    { name: 'some time after the order', place: { at: 'click', step: 'erase', from: 'answered', within: 600 } },
    ...tenant('erase', 'the order about the person', /^graph\.users\./),
    ...tenant('erase', 'the first call of the job', /^graph\.users\./, { nth: 3 }),
    ...sending('the result', /The data is erased/),
  ],
}

/** Returns every kill point of this kind of change. */
export const changePoints = (kind: ChangeKind): ChangePoint[] => points[kind].map((point) => ({ kind, ...point }))

/** The most critical point of each kind, for every run. */
export const hardestChange: { readonly [K in ChangeKind]: string } = {
  batch: 'before Approve all was answered',
  reassign: 'right after the reassignment was answered',
  twoStages: 'while the question of the second stage is sent, which is lost',
  rejection: 'right after the rejection was answered',
  digest: 'while the summary of the day is sent, which is lost',
  erasure: 'a moment after the order was answered',
}
