import { type AuditEntry, type ExplanationKey, type Request, snapshot, type Template } from '../../src/core/index.ts'
import { mailboxOf } from './card-mailboxes.ts'
import { projectSite, requestId, requestOf, requests, stepsUntil } from './card-requests.ts'
import { approvedBy, at, dana, kim, omar, priya, rejectedBy, sam, stageOf, tenantId } from './card-world.ts'

/** A request, its timeline, and the sentence that has to be among those that explain it. */
export interface Explained {
  readonly request: Request
  readonly timeline?: readonly AuditEntry[]
  readonly says: string
}

const group = '22222222-bbbb-4bbb-8bbb-000000000001'
const line = (time: string, action: string, actor: AuditEntry['actor'] = { kind: 'system' }): AuditEntry => ({
  ...{ requestId, tenantId, at: at(time), action, actor },
})
const withPolicy = (more: Partial<Template>) => snapshot({ ...projectSite, ...more })
const asks = (...approvers: NonNullable<Template['approval']>['stages'][number]['approvers']) =>
  withPolicy({ approval: { stages: [{ approvers, rule: 'any' }] } })
type Conditions = NonNullable<Request['policy']>[number]['conditions']
const needed = (...conditions: Conditions) => requestOf({ policy: [{ place: 1, stage: 1, conditions }] })
const leftOut = (...conditions: Conditions) =>
  requestOf({
    policy: [
      { place: 1, stage: 1, conditions: [] },
      { place: 2, stage: null, conditions },
    ],
  })
const waits = (more: Parameters<typeof stageOf>[2], approvers = [dana, omar]) =>
  requestOf({ approvals: [stageOf(1, approvers, { place: 1, openedAt: at('09:02'), ...more })] })
const times = {
  ...{ reachBy: at('09:12'), remindAt: '2026-11-21T09:02:00Z', escalateAt: '2026-11-23T09:02:00Z' },
  ...{ warnAt: '2026-12-02T09:02:00Z', expiresAt: '2026-12-04T09:02:00Z' },
}
const toAdmins = (resolvedFor: 'noManager' | 'onlyRequester' | 'blocked' | 'onlyGuests' | 'nobodyFound') =>
  waits({ resolvedTo: 'admins', resolvedFor, membership: { groups: [], admins: true, people: [sam.id] } }, [sam])
const standIn = { person: priya, insteadOf: [dana.id], since: at('09:30') }
const handed = { from: [dana], to: priya, by: sam, at: at('09:30') }
const taken = { code: 'name-taken', detail: 'It is taken.', suggestion: 'project-aurora-3' }
const tried = { code: 'timeout', detail: 'The directory did not answer.' }
const running = (more: Parameters<typeof stepsUntil>[1]) => ({
  ...requests.creating,
  steps: stepsUntil(2, { status: 'running', startedAt: at('10:44'), attempts: 1, ...more }),
})

/** When all of these are explained. */
export const now = new Date(at('10:45'))

/** A case for every sentence that there is: one that is missing does not compile. */
export const cases: Readonly<Record<ExplanationKey, Explained>> = {
  'no-approval': {
    request: requestOf({ template: withPolicy({ approval: null }), approvals: [], status: 'queued' }),
    says: 'The template Project site asks for no approval.',
  },
  'none-asked': {
    request: requestOf({ approvals: [], status: 'queued' }),
    says: 'The template Project site has approvals, and none of them was needed.',
  },
  'stage-asked.above': {
    request: needed({ condition: { field: 'owners', above: 1 }, found: '2', holds: true }),
    says: 'Approval 1 is needed since owners is 2, which is above 1.',
  },
  'stage-asked.below': {
    request: needed({ condition: { field: 'owners', below: 3 }, found: '2', holds: true }),
    says: 'Approval 1 is needed since owners is 2, which is below 3.',
  },
  'stage-asked.noNumber': {
    request: needed({ condition: { field: 'metadata.seats', above: 20 }, found: 'many', holds: true }),
    says: 'Approval 1 is needed since metadata.seats is many, which no limit can be held against.',
  },
  'stage-asked.oneOf': {
    request: needed({ condition: { field: 'labelId', oneOf: ['b2'] }, found: 'b2', holds: true }),
    says: 'Approval 1 is needed since labelId is Internal.',
  },
  'stage-asked.noneOf': {
    request: needed({
      condition: { field: 'metadata.audience', noneOf: ['internal'] },
      found: 'partners',
      holds: true,
    }),
    says: 'Approval 1 is needed since metadata.audience is Contoso and named partners.',
  },
  'stage-asked.given': {
    request: needed({ condition: { field: 'description', given: true }, found: 'Plans', holds: true }),
    says: 'Approval 1 is needed since description was given: Plans.',
  },
  'stage-asked.notGiven': {
    request: needed({ condition: { field: 'metadata.costCentre', noneOf: ['4711'] }, found: '', holds: true }),
    says: 'Approval 1 is needed since metadata.costCentre was not given.',
  },
  'stage-asked.externalOwners': {
    request: needed({ condition: { externalOwners: true }, found: 'Anna Kowalska', holds: true }),
    says: 'Approval 1 is needed since there are owners from outside: Anna Kowalska.',
  },
  'stage-left-out.above': {
    request: leftOut({ condition: { field: 'owners', above: 5 }, found: '2', holds: false }),
    says: 'Approval 2 of the template was left out: owners is 2, which is not above 5.',
  },
  'stage-left-out.below': {
    request: leftOut({ condition: { field: 'owners', below: 2 }, found: '2', holds: false }),
    says: 'Approval 2 of the template was left out: owners is 2, which is not below 2.',
  },
  'stage-left-out.oneOf': {
    request: leftOut({ condition: { field: 'labelId', oneOf: ['b3'] }, found: 'b2', holds: false }),
    says: 'Approval 2 of the template was left out: labelId is Internal.',
  },
  'stage-left-out.noneOf': {
    request: leftOut({ condition: { field: 'labelId', noneOf: ['b2'] }, found: 'b2', holds: false }),
    says: 'Approval 2 of the template was left out: labelId is Internal.',
  },
  'stage-left-out.given': {
    request: leftOut({ condition: { field: 'description', given: false }, found: 'Plans', holds: false }),
    says: 'Approval 2 of the template was left out: description was given.',
  },
  'stage-left-out.notGiven': {
    request: leftOut({ condition: { field: 'metadata.costCentre', given: true }, found: '', holds: false }),
    says: 'Approval 2 of the template was left out: metadata.costCentre was not given.',
  },
  'stage-left-out.externalOwners': {
    request: leftOut({ condition: { externalOwners: true }, found: '', holds: false }),
    says: 'Approval 2 of the template was left out: no owner is from outside.',
  },
  'value-usual': {
    request: needed({ condition: { field: 'capacity', above: 20_000 }, found: '51200', holds: true, usual: true }),
    says: 'The request does not name capacity, so the usual value counts: 51200.',
  },
  'asked-as.person': {
    request: requests.waiting,
    says: 'Asked for approval 1: Dana Fox and Omar Haddad, named by the template.',
  },
  'asked-as.manager': {
    request: { ...waits({}, [dana]), template: asks({ manager: true }) },
    says: 'Asked for approval 1: Dana Fox, as the manager of Kim Lee.',
  },
  'asked-as.member': {
    request: {
      ...waits({ membership: { groups: [group], people: [dana.id, omar.id] } }),
      template: asks({ group }),
    },
    says: 'Asked for approval 1: Dana Fox and Omar Haddad, found in a group that the template names.',
  },
  'asked-as.owner': {
    request: {
      ...waits({ membership: { groups: [], owned: [group], people: [dana.id] } }, [dana]),
      template: asks({ ownersOf: group }),
    },
    says: 'Asked for approval 1: Dana Fox, found among the owners of a group that the template names.',
  },
  'asked-as.group': {
    request: {
      ...waits({ membership: { groups: [group], owned: [group], people: [dana.id] } }, [dana]),
      template: asks({ ownersOf: group }, { group }),
    },
    says: 'Asked for approval 1: Dana Fox, found through a group that the template names.',
  },
  'asked-as.admin': {
    request: toAdmins('onlyRequester'),
    says: 'Asked for approval 1: Sam Roy, as admin.',
  },
  'asked-as.groupOrAdmin': {
    request: {
      ...waits({
        ...{ resolvedTo: 'peopleAndAdmins', resolvedFor: 'tooFew', rule: 'quorum', quorum: 2 },
        membership: { groups: [group], admins: true, people: [dana.id, omar.id] },
      }),
      template: asks({ group }),
    },
    says: 'Asked for approval 1: Dana Fox and Omar Haddad, found through a group that the template names or as admin.',
  },
  'asked-as.template': {
    request: { ...waits({}, [priya]), template: asks({ user: dana.id }) },
    says: 'Asked for approval 1: Priya Nair, by the policy of the template.',
  },
  'admins-asked.noManager': {
    request: toAdmins('noManager'),
    says: 'The admins were asked for approval 1 since no manager is known.',
  },
  'admins-asked.onlyRequester': {
    request: toAdmins('onlyRequester'),
    says: 'The admins were asked for approval 1 since nobody approves their own request.',
  },
  'admins-asked.blocked': {
    request: toAdmins('blocked'),
    says: 'The admins were asked for approval 1 since its approvers cannot sign in.',
  },
  'admins-asked.onlyGuests': {
    request: toAdmins('onlyGuests'),
    says: 'The admins were asked for approval 1 since its approvers are guests.',
  },
  'admins-asked.nobodyFound': {
    request: toAdmins('nobodyFound'),
    says: 'The admins were asked for approval 1 since no approver was found.',
  },
  'admins-asked.tooFew': {
    request: waits({ resolvedTo: 'peopleAndAdmins', resolvedFor: 'tooFew', rule: 'quorum', quorum: 3 }),
    says: 'The admins were asked for approval 1 too since too few approvers were found.',
  },
  reassigned: {
    request: waits({ reassigned: [handed] }, [priya, omar]),
    says: `In the place of Dana Fox, Sam Roy let Priya Nair be asked: ${at('09:30')}.`,
  },
  'reassigned-saying': {
    request: waits({ reassigned: [{ ...handed, comment: 'She knows {people}.' }] }, [priya, omar]),
    says: `In the place of Dana Fox, Sam Roy let Priya Nair be asked: ${at('09:30')}. The comment: She knows {people}.`,
  },
  'stands-in.delegated': {
    request: waits({
      standIns: [{ ...standIn, why: 'delegated', as: 'delegate', by: dana, until: '2026-11-30T22:59:59Z' }],
    }),
    says: 'Asked too, for Dana Fox: Priya Nair, since Dana Fox is away until 2026-11-30T22:59:59Z.',
  },
  'stands-in.escalated': {
    request: waits({ escalatedAt: at('09:30'), standIns: [{ ...standIn, why: 'escalated', as: 'backup' }] }),
    says: `Asked too, for Dana Fox: Priya Nair, as backup, since nobody had decided by ${at('09:30')}.`,
  },
  'stands-in.unreachable': {
    request: waits({ standIns: [{ ...standIn, why: 'unreachable', as: 'manager' }] }),
    says: `Asked too, for Dana Fox: Priya Nair, as manager, since a card did not arrive by ${at('09:30')}.`,
  },
  'not-told': {
    request: waits({ unreachable: [{ person: dana, why: 'NoChat', at: at('09:12') }] }),
    says: `A card could not reach Dana Fox: ${at('09:12')}.`,
  },
  waits: {
    request: waits({ times }),
    says: `Approval 1 waits for Dana Fox and Omar Haddad since ${at('09:02')}.`,
  },
  reminded: {
    request: waits({
      reminders: [
        { at: at('09:40'), by: kim },
        { at: at('10:40'), by: null },
      ],
    }),
    says: `Reminders of approval 1 so far: 2, the last one ${at('10:40')}.`,
  },
  approved: { request: requests.secondStage, says: `Approval 1 was given by Dana Fox: ${at('09:31')}.` },
  'approved-instead': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...approvedBy(priya, '09:31'), insteadOf: [dana] }] })],
    }),
    says: `Approval 1 was given by Priya Nair, for Dana Fox: ${at('09:31')}.`,
  },
  'approved-override': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [1, 2].map((stage) =>
        stageOf(stage, [dana], { decisions: [{ ...approvedBy(sam, '09:31', 'Dana has left.'), override: true }] }),
      ),
    }),
    says: `Approval 1 was given by Sam Roy, as an admin over the heads of the approvers: ${at('09:31')}. The reason: Dana has left.`,
  },
  'approved-override.notKept': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...approvedBy(sam, '09:31'), override: true }] })],
    }),
    says: `Approval 1 was given by Sam Roy, as an admin over the heads of the approvers: ${at('09:31')}. The reason: not kept any more`,
  },
  'rejected-override': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(sam, '09:31', 'Not now.'), override: true }] })],
    }),
    says: `Approval 1 was refused by Sam Roy, as an admin over the heads of the approvers: ${at('09:31')}. The reason: Not now.`,
  },
  'rejected-override.notKept': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(sam, '09:31', ''), override: true }] })],
    }),
    says: `Approval 1 was refused by Sam Roy, as an admin over the heads of the approvers: ${at('09:31')}. The reason: not kept any more`,
  },
  rejected: { request: requests.rejected, says: `Approval 1 was refused by Dana Fox: ${at('09:31')}.` },
  'rejected-instead': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(priya, '09:31', 'No.'), insteadOf: [dana] }] })],
    }),
    says: `Approval 1 was refused by Priya Nair, for Dana Fox: ${at('09:31')}.`,
  },
  'will-remind': {
    request: waits({ times }),
    says: `Without a decision, those asked are reminded: ${times.remindAt}.`,
  },
  'will-escalate': {
    request: waits({ times }),
    says: `Without a decision, others are asked too: ${times.escalateAt}.`,
  },
  'will-expire': { request: waits({ times }), says: `Without a decision, the request expires: ${times.expiresAt}.` },
  'next-approval': {
    request: requestOf({ approvals: [stageOf(1, [dana]), stageOf(2, [omar, priya])] }),
    says: 'After that, approval 2 asks Omar Haddad and Priya Nair.',
  },
  'name-is': { request: requests.waiting, says: 'The address is project-aurora-2.' },
  'name-typed': {
    request: requestOf({ details: { ...requests.waiting.details, alias: 'Aurora' }, alias: 'aurora' }),
    says: 'Aurora was typed for it.',
  },
  'name-derived': {
    request: requests.waiting,
    says: 'Nothing was typed for it, so it was made of the name Project Aurora.',
  },
  'name-of-request': {
    request: requestOf({ details: { ...requests.waiting.details, displayName: '北極光' }, alias: 'site-7d1c2b3a' }),
    says: 'Nothing was typed for it and the name has no letter from a to z, so it was made of the id of the request.',
  },
  'name-affixed.prefix': { request: mailboxOf(), says: 'Addresses of this template begin with room-.' },
  'name-affixed.suffix': {
    request: requestOf({ template: withPolicy({ naming: { prefix: '', suffix: '-ch' } }) }),
    says: 'Addresses of this template end with -ch.',
  },
  'name-affixed.both': {
    request: requestOf({ template: withPolicy({ naming: { prefix: 'prj-', suffix: '-ch' } }) }),
    says: 'Addresses of this template begin with prj- and end with -ch.',
  },
  'name-passed-over': {
    request: requestOf({ alias: 'project-aurora-3', passedOver: ['project-aurora', 'project-aurora-2'] }),
    says: 'Taken already when it was asked for: project-aurora, project-aurora-2.',
  },
  'name-taken': {
    request: { ...requests.failed, problem: taken },
    says: 'project-aurora-2 turned out to be taken when it was to be made. project-aurora-3 is free.',
  },
  'name-changed': {
    request: requestOf({ progress: { createdAs: { displayName: 'GRP Aurora', alias: 'GRPaurora' } } }),
    says: 'Your organisation’s naming policy changed the name to GRP Aurora and the address to GRPaurora.',
  },
  'name-taken-only': {
    request: { ...requests.failed, problem: { code: 'name-taken', detail: 'It is taken.' } },
    says: 'project-aurora-2 turned out to be taken when it was to be made.',
  },
  'domain-typed': {
    request: mailboxOf({
      ...{ address: 'room-a@contoso-labs.example', aliasAddress: '' },
      details: { ...mailboxOf().details, domain: 'contoso-labs.example' },
    }),
    says: 'The mail domain contoso-labs.example was asked for.',
  },
  'domain-usual': {
    request: mailboxOf(),
    says: 'No mail domain was asked for, so it is the usual one: contoso.example.',
  },
  'other-address': {
    request: mailboxOf({
      aliasAddress: 'help@contoso.example',
      details: { ...mailboxOf().details, alias: 'help' },
    }),
    says: 'The other address is help@contoso.example, since help was typed for it.',
  },
  took: { request: requests.ready, says: 'From the request to its end it took 45 minutes.' },
  'took-so-far': { request: requests.waiting, says: 'Time since the request was sent: 103 minutes.' },
  'approval-took': {
    request: requests.ready,
    says: 'Of that, approval 1 took 29 minutes, until Dana Fox decided.',
  },
  'approval-waits': { request: requests.waiting, says: 'Of that, approval 1 has waited 103 minutes.' },
  'queue-took': {
    request: requests.creating,
    timeline: [line('09:40', 'queued'), line('09:42', 'provisioning')],
    says: 'Of that, the queue took 2 minutes.',
  },
  'queue-waits': { request: requests.queued, says: 'Of that, it has waited 65 minutes in the queue.' },
  'step-took': {
    request: running({ status: 'done', finishedAt: at('10:45') }),
    says: 'Of that, the step “add-owners” took 60 seconds.',
  },
  'step-took-again': {
    request: running({ status: 'done', finishedAt: at('10:45'), attempts: 3 }),
    says: 'Of that, the step “add-owners” took 60 seconds and 3 attempts.',
  },
  'step-runs': { request: running({}), says: 'The step “add-owners” is under way for 60 seconds.' },
  'step-runs-again': {
    request: running({ attempts: 2 }),
    says: 'The step “add-owners” is under way for 60 seconds, in its 2 attempts so far.',
  },
  'step-late': {
    request: running({ startedAt: at('10:24'), lateAt: at('10:39') }),
    says: `Microsoft 365 has been working on the step “add-owners” since ${at('10:24')}. I check at growing intervals for up to 48 hours.`,
  },
  'step-tried': {
    request: running({ attempts: 2, problem: tried }),
    says: 'The step “add-owners” is tried again. Attempts so far: 2. What happened last: The directory did not answer.',
  },
  stopped: {
    request: requests.failed,
    says: 'It stopped at the step “add-owners”, and an admin can let it go on. What happened: The directory did not answer',
  },
  'stopped-between': {
    request: requestOf({ ...requests.failed, steps: stepsUntil(6), problem: tried }),
    says: 'It stopped, and an admin can let it go on. What happened: The directory did not answer.',
  },
  'went-on': {
    request: requests.queued,
    timeline: [line('09:40', 'queued'), line('09:44', 'failed'), line('09:50', 'queued', sam)],
    says: `Sam Roy let it go on: ${at('09:50')}.`,
  },
  late: {
    request: requests.late,
    timeline: [line('09:41', 'late')],
    says: `It was found to take longer than usual: ${at('09:41')}.`,
  },
  delayed: {
    request: running({ startedAt: at('10:24'), lateAt: at('10:39') }),
    timeline: [line('10:39', 'delayed')],
    says: `The requester and the admins were notified of the delay: ${at('10:39')}.`,
  },
  overdue: {
    request: requests.queued,
    timeline: [line('09:46', 'overdue')],
    says: `It was noticed as late: ${at('09:46')}.`,
  },
  'step-next': { request: requests.queued, says: 'Next comes the step “create-site”.' },
  'starts-after-approval': {
    request: requests.waiting,
    says: 'Once all approvals are given, it starts by itself.',
  },
  'not-found-yet': {
    request: requests.finding,
    says: `It was made, ${at('09:47')}, and its security group is still looked for.`,
  },
  'not-told-yet': {
    request: mailboxOf({ status: 'succeeded', finishedAt: at('09:47'), followUp: { state: 'waiting' } }),
    says: `It was made, ${at('09:47')}, and is announced next.`,
  },
  'announced.webhook': { request: requests.ready, says: `A webhook reported that it is ready: ${at('09:47')}.` },
  'announced.poll': {
    request: { ...requests.ready, followUp: { state: 'announced', by: 'poll', at: at('09:48') } },
    says: `It was found in the directory: ${at('09:48')}.`,
  },
  'announced.state': {
    request: { ...requests.ready, followUp: { state: 'announced', by: 'state', at: at('09:48') } },
    says: `It was announced as ready: ${at('09:48')}.`,
  },
  cancelled: { request: requests.cancelled, says: `Kim Lee cancelled it: ${at('09:15')}.` },
  expired: { request: requests.expired, says: `Nobody decided in time, so it expired: ${at('09:31')}.` },
}
