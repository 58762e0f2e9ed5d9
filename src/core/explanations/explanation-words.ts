import type { Person } from '../shared/index.ts'

/**
 * Every sentence that an explanation can consist of, by its code; what stands after a point is the fact `why`. The card says the
 * same by `strings.why.says`, which a test holds against this. `{at}`, `{since}` and `{until}` are moments, `{seconds}` is a
 * length of time, `{people}` are the people of the line, and everything else is a fact.
 */
export const sentences = {
  'no-approval': 'The template {template} asks for no approval.',
  'none-asked': 'The template {template} has approvals, and none of them was needed.',
  'stage-asked.above': 'Approval {stage} is needed since {field} is {found}, which is above {bound}.',
  'stage-asked.below': 'Approval {stage} is needed since {field} is {found}, which is below {bound}.',
  'stage-asked.noNumber': 'Approval {stage} is needed since {field} is {found}, which no limit can be held against.',
  'stage-asked.oneOf': 'Approval {stage} is needed since {field} is {found}.',
  'stage-asked.noneOf': 'Approval {stage} is needed since {field} is {found}.',
  'stage-asked.given': 'Approval {stage} is needed since {field} was given: {found}.',
  'stage-asked.notGiven': 'Approval {stage} is needed since {field} was not given.',
  'stage-asked.externalOwners': 'Approval {stage} is needed since there are owners from outside: {found}.',
  'stage-left-out.above':
    'Approval {place} of the template was left out: {field} is {found}, which is not above {bound}.',
  'stage-left-out.below':
    'Approval {place} of the template was left out: {field} is {found}, which is not below {bound}.',
  'stage-left-out.oneOf': 'Approval {place} of the template was left out: {field} is {found}.',
  'stage-left-out.noneOf': 'Approval {place} of the template was left out: {field} is {found}.',
  'stage-left-out.given': 'Approval {place} of the template was left out: {field} was given.',
  'stage-left-out.notGiven': 'Approval {place} of the template was left out: {field} was not given.',
  'stage-left-out.externalOwners': 'Approval {place} of the template was left out: no owner is from outside.',
  'value-usual': 'The request does not name {field}, so the usual value counts: {found}.',
  'asked-as.person': 'Asked for approval {stage}: {people}, named by the template.',
  'asked-as.manager': 'Asked for approval {stage}: {people}, as the manager of {requester}.',
  'asked-as.member': 'Asked for approval {stage}: {people}, found in a group that the template names.',
  'asked-as.owner': 'Asked for approval {stage}: {people}, found among the owners of a group that the template names.',
  'asked-as.group': 'Asked for approval {stage}: {people}, found through a group that the template names.',
  'asked-as.admin': 'Asked for approval {stage}: {people}, as admin.',
  'asked-as.groupOrAdmin':
    'Asked for approval {stage}: {people}, found through a group that the template names or as admin.',
  'asked-as.template': 'Asked for approval {stage}: {people}, by the policy of the template.',
  'admins-asked.noManager': 'The admins were asked for approval {stage} since no manager is known.',
  'admins-asked.onlyRequester': 'The admins were asked for approval {stage} since nobody approves their own request.',
  'admins-asked.blocked': 'The admins were asked for approval {stage} since its approvers cannot sign in.',
  'admins-asked.onlyGuests': 'The admins were asked for approval {stage} since its approvers are guests.',
  'admins-asked.nobodyFound': 'The admins were asked for approval {stage} since no approver was found.',
  'admins-asked.tooFew': 'The admins were asked for approval {stage} too since too few approvers were found.',
  reassigned: 'In the place of {from}, {by} let {people} be asked: {at}.',
  'reassigned-saying': 'In the place of {from}, {by} let {people} be asked: {at}. The comment: {comment}',
  'stands-in.delegated': 'Asked too, for {insteadOf}: {people}, since {by} is away until {until}.',
  'stands-in.escalated': 'Asked too, for {insteadOf}: {people}, as {as}, since nobody had decided by {since}.',
  'stands-in.unreachable': 'Asked too, for {insteadOf}: {people}, as {as}, since a card did not arrive by {since}.',
  'not-told': 'A card could not reach {people}: {at}.',
  waits: 'Approval {stage} waits for {people} since {since}.',
  reminded: 'Reminders of approval {stage} so far: {count}, the last one {at}.',
  approved: 'Approval {stage} was given by {people}: {at}.',
  'approved-instead': 'Approval {stage} was given by {people}, for {insteadOf}: {at}.',
  rejected: 'Approval {stage} was refused by {people}: {at}.',
  'approved-override':
    'Approval {stage} was given by {people}, as an admin over the heads of the approvers: {at}. The reason: {comment}',
  'rejected-override':
    'Approval {stage} was refused by {people}, as an admin over the heads of the approvers: {at}. The reason: {comment}',
  'rejected-instead': 'Approval {stage} was refused by {people}, for {insteadOf}: {at}.',
  'will-remind': 'Without a decision, those asked are reminded: {at}.',
  'will-escalate': 'Without a decision, others are asked too: {at}.',
  'will-expire': 'Without a decision, the request expires: {at}.',
  'next-approval': 'After that, approval {stage} asks {people}.',
  'name-is': 'The address is {address}.',
  'name-typed': '{typed} was typed for it.',
  'name-derived': 'Nothing was typed for it, so it was made of the name {displayName}.',
  'name-of-request':
    'Nothing was typed for it and the name has no letter from a to z, so it was made of the id of the request.',
  'name-affixed.prefix': 'Addresses of this template begin with {prefix}.',
  'name-affixed.suffix': 'Addresses of this template end with {suffix}.',
  'name-affixed.both': 'Addresses of this template begin with {prefix} and end with {suffix}.',
  'name-passed-over': 'Taken already when it was asked for: {names}.',
  'name-taken': '{taken} turned out to be taken when it was to be made. {free} is free.',
  'name-taken-only': '{taken} turned out to be taken when it was to be made.',
  'domain-typed': 'The mail domain {domain} was asked for.',
  'domain-usual': 'No mail domain was asked for, so it is the usual one: {domain}.',
  'other-address': 'The other address is {address}, since {typed} was typed for it.',
  took: 'From the request to its end it took {seconds}.',
  'took-so-far': 'Time since the request was sent: {seconds}.',
  'approval-took': 'Of that, approval {stage} took {seconds}, until {people} decided.',
  'approval-waits': 'Of that, approval {stage} has waited {seconds}.',
  'queue-took': 'Of that, the queue took {seconds}.',
  'queue-waits': 'Of that, it has waited {seconds} in the queue.',
  'step-took': 'Of that, the step “{step}” took {seconds}.',
  'step-took-again': 'Of that, the step “{step}” took {seconds} and {attempts} attempts.',
  'step-runs': 'The step “{step}” is under way for {seconds}.',
  'step-runs-again': 'The step “{step}” is under way for {seconds}, in its {attempts} attempts so far.',
  'step-tried': 'The step “{step}” is tried again. Attempts so far: {attempts}. What happened last: {problem}',
  stopped: 'It stopped at the step “{step}”, and an admin can let it go on. What happened: {problem}',
  'stopped-between': 'It stopped, and an admin can let it go on. What happened: {problem}',
  'went-on': '{people} let it go on: {at}.',
  late: 'It was found to take longer than usual: {at}.',
  overdue: 'It was noticed as late: {at}.',
  'step-next': 'Next comes the step “{step}”.',
  'starts-after-approval': 'Once all approvals are given, it starts by itself.',
  'not-found-yet': 'It was made, {at}, and its security group is still looked for.',
  'not-told-yet': 'It was made, {at}, and is announced next.',
  'announced.webhook': 'A webhook reported that it is ready: {at}.',
  'announced.poll': 'It was found in the directory: {at}.',
  'announced.state': 'It was announced as ready: {at}.',
  cancelled: '{people} cancelled it: {at}.',
  expired: 'Nobody decided in time, so it expired: {at}.',
} as const
export type SentenceKey = keyof typeof sentences
type CodeOf<K> = K extends `${infer Code}.${string}` ? Code : K
export type ExplanationCode = CodeOf<SentenceKey>

export const sentenceKeys = Object.keys(sentences) as SentenceKey[]
export const explanationCodes = [...new Set(sentenceKeys.map((key) => key.split('.')[0]))] as [
  ExplanationCode,
  ...ExplanationCode[],
]

/** What goes into a sentence. */
export interface Said {
  readonly code: ExplanationCode
  readonly at?: string | undefined
  readonly stage?: number | undefined
  readonly people?: readonly Person[] | undefined
  readonly facts: Readonly<Record<string, string | number>>
}
/** Which sentence says it. */
export const sentenceKeyOf = ({ code, facts }: Pick<Said, 'code' | 'facts'>): SentenceKey | undefined =>
  sentenceKeys.find((key) => key === `${code}.${facts['why']}`) ?? sentenceKeys.find((key) => key === code)

/** How whoever reads it wants moments, lengths of time, people and facts to be written. */
export interface Writing {
  moment(at: string): string
  duration(seconds: number): string
  people(people: readonly Person[]): string
  fact(name: string, value: string | number, facts: Said['facts']): string
}
const moments = ['since', 'until']

/** The sentence with its facts. Once only: what stands in braces in a name of somebody stays as it is. */
export function inWords(sentence: string, { at, stage, people = [], facts }: Said, writing: Writing): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => {
    if (name === 'at') return at === undefined ? whole : writing.moment(at)
    if (name === 'stage') return stage === undefined ? whole : String(stage)
    if (name === 'people') return writing.people(people)
    const value = facts[name]
    if (value === undefined) return whole
    if (name === 'seconds') return writing.duration(Number(value))
    return moments.includes(name) ? writing.moment(String(value)) : writing.fact(name, value, facts)
  })
}

const list = new Intl.ListFormat('en', { type: 'conjunction' })
const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** Plain English, with moments as ISO 8601: what the API says. */
export const plainWriting: Writing = {
  moment: (at) => at,
  duration(seconds) {
    if (seconds < 1) return 'less than a second'
    const [length, unit] = units.find(([each]) => seconds >= 2 * each) ?? ([1, 'second'] as const)
    return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(
      Math.round(seconds / length),
    )
  },
  people: (people) => list.format(people.map(({ displayName }) => displayName)),
  fact: (_, value) => String(value),
}
