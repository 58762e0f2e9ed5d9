import { type AuditEntry, type ExplanationKey, type Request, snapshot, type Template } from '../../src/core/index.ts'
import { mailboxOf } from './card-mailboxes.ts'
import { projectSite, requestId, requestOf, requests, stepsUntil } from './card-requests.ts'
import { approvedBy, at, dana, kim, omar, priya, rejectedBy, sam, stageOf, tenantId } from './card-world.ts'

/** A request, its timeline, and a sentence that its explanation must contain. */
export interface Explained {
  readonly request: Request
  readonly timeline?: readonly AuditEntry[]
  /** The ids of the people with the daily digest. */
  readonly inDigest?: readonly string[]
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

/** The time of all explanations. */
export const now = new Date(at('10:45'))

/** One case for every sentence. A missing case does not compile. */
export const cases: Readonly<Record<ExplanationKey, Explained>> = {
  'no-approval': {
    request: requestOf({ template: withPolicy({ approval: null }), approvals: [], status: 'queued' }),
    says: 'The template Project site requires no approval.',
  },
  'none-asked': {
    request: requestOf({ approvals: [], status: 'queued' }),
    says: 'The template Project site has approvals, but none applied to this request.',
  },
  'stage-asked.above': {
    request: needed({ condition: { field: 'owners', above: 1 }, found: '2', holds: true }),
    says: 'Approval 1 is needed because of owners: 2, above 1.',
  },
  'stage-asked.below': {
    request: needed({ condition: { field: 'owners', below: 3 }, found: '2', holds: true }),
    says: 'Approval 1 is needed because of owners: 2, below 3.',
  },
  'stage-asked.noNumber': {
    request: needed({ condition: { field: 'metadata.seats', above: 20 }, found: 'many', holds: true }),
    says: 'Approval 1 is needed because of metadata.seats: many, not a number.',
  },
  'stage-asked.oneOf': {
    request: needed({ condition: { field: 'labelId', oneOf: ['b2'] }, found: 'b2', holds: true }),
    says: 'Approval 1 is needed because of labelId: Internal.',
  },
  'stage-asked.noneOf': {
    request: needed({
      condition: { field: 'metadata.audience', noneOf: ['internal'] },
      found: 'partners',
      holds: true,
    }),
    says: 'Approval 1 is needed because of metadata.audience: Contoso and named partners.',
  },
  'stage-asked.given': {
    request: needed({ condition: { field: 'description', given: true }, found: 'Plans', holds: true }),
    says: 'Approval 1 is needed because description is filled in: Plans.',
  },
  'stage-asked.notGiven': {
    request: needed({ condition: { field: 'metadata.costCentre', noneOf: ['4711'] }, found: '', holds: true }),
    says: 'Approval 1 is needed because metadata.costCentre is empty.',
  },
  'stage-asked.externalOwners': {
    request: needed({ condition: { externalOwners: true }, found: 'Anna Kowalska', holds: true }),
    says: 'Approval 1 is needed because of external owners: Anna Kowalska.',
  },
  'stage-left-out.above': {
    request: leftOut({ condition: { field: 'owners', above: 5 }, found: '2', holds: false }),
    says: 'The template’s approval 2 was skipped (owners: 2, not above 5).',
  },
  'stage-left-out.below': {
    request: leftOut({ condition: { field: 'owners', below: 2 }, found: '2', holds: false }),
    says: 'The template’s approval 2 was skipped (owners: 2, not below 2).',
  },
  'stage-left-out.oneOf': {
    request: leftOut({ condition: { field: 'labelId', oneOf: ['b3'] }, found: 'b2', holds: false }),
    says: 'The template’s approval 2 was skipped (labelId: Internal).',
  },
  'stage-left-out.noneOf': {
    request: leftOut({ condition: { field: 'labelId', noneOf: ['b2'] }, found: 'b2', holds: false }),
    says: 'The template’s approval 2 was skipped (labelId: Internal).',
  },
  'stage-left-out.given': {
    request: leftOut({ condition: { field: 'description', given: false }, found: 'Plans', holds: false }),
    says: 'The template’s approval 2 was skipped: description is filled in.',
  },
  'stage-left-out.notGiven': {
    request: leftOut({ condition: { field: 'metadata.costCentre', given: true }, found: '', holds: false }),
    says: 'The template’s approval 2 was skipped: metadata.costCentre is empty.',
  },
  'stage-left-out.externalOwners': {
    request: leftOut({ condition: { externalOwners: true }, found: '', holds: false }),
    says: 'The template’s approval 2 was skipped: no owner is external.',
  },
  'value-usual': {
    request: needed({ condition: { field: 'capacity', above: 20_000 }, found: '51200', holds: true, usual: true }),
    says: 'The request leaves out capacity, so the default applies: 51200.',
  },
  'asked-as.person': {
    request: requests.waiting,
    says: 'Approval 1 went to Dana Fox and Omar Haddad, named in the template.',
  },
  'asked-as.manager': {
    request: { ...waits({}, [dana]), template: asks({ manager: true }) },
    says: 'Approval 1 went to Dana Fox as manager of Kim Lee.',
  },
  'asked-as.member': {
    request: {
      ...waits({ membership: { groups: [group], people: [dana.id, omar.id] } }),
      template: asks({ group }),
    },
    says: 'Approval 1 went to the approvers’ group: Dana Fox and Omar Haddad.',
  },
  'asked-as.owner': {
    request: {
      ...waits({ membership: { groups: [], owned: [group], people: [dana.id] } }, [dana]),
      template: asks({ ownersOf: group }),
    },
    says: 'Approval 1 went to the owners of the approvers’ group: Dana Fox.',
  },
  'asked-as.group': {
    request: {
      ...waits({ membership: { groups: [group], owned: [group], people: [dana.id] } }, [dana]),
      template: asks({ ownersOf: group }, { group }),
    },
    says: 'Approval 1 went to Dana Fox through the approvers’ group.',
  },
  'asked-as.admin': {
    request: toAdmins('onlyRequester'),
    says: 'Approval 1 went to Sam Roy as admin.',
  },
  'asked-as.groupOrAdmin': {
    request: {
      ...waits({
        ...{ resolvedTo: 'peopleAndAdmins', resolvedFor: 'tooFew', rule: 'quorum', quorum: 2 },
        membership: { groups: [group], admins: true, people: [dana.id, omar.id] },
      }),
      template: asks({ group }),
    },
    says: 'Approval 1 went to Dana Fox and Omar Haddad through the approvers’ group or as admin.',
  },
  'asked-as.template': {
    request: { ...waits({}, [priya]), template: asks({ user: dana.id }) },
    says: 'Approval 1 went to Priya Nair by the policy of the template.',
  },
  'admins-asked.noManager': {
    request: toAdmins('noManager'),
    says: 'Approval 1 went to the admins: the requester’s manager is unknown.',
  },
  'admins-asked.onlyRequester': {
    request: toAdmins('onlyRequester'),
    says: 'Approval 1 went to the admins: the only approver is the requester.',
  },
  'admins-asked.blocked': {
    request: toAdmins('blocked'),
    says: 'Approval 1 went to the admins: the approvers cannot sign in.',
  },
  'admins-asked.onlyGuests': {
    request: toAdmins('onlyGuests'),
    says: 'Approval 1 went to the admins: the approvers are guests.',
  },
  'admins-asked.nobodyFound': {
    request: toAdmins('nobodyFound'),
    says: 'Approval 1 went to the admins: no approver was found.',
  },
  'admins-asked.tooFew': {
    request: waits({ resolvedTo: 'peopleAndAdmins', resolvedFor: 'tooFew', rule: 'quorum', quorum: 3 }),
    says: 'Approval 1 also went to the admins: too few approvers were found.',
  },
  reassigned: {
    request: waits({ reassigned: [handed] }, [priya, omar]),
    says: `Sam Roy reassigned approval 1 from Dana Fox to Priya Nair (${at('09:30')}).`,
  },
  'reassigned-saying': {
    request: waits({ reassigned: [{ ...handed, comment: 'She knows {people}.' }] }, [priya, omar]),
    says: `Sam Roy reassigned approval 1 from Dana Fox to Priya Nair (${at('09:30')}). Comment: She knows {people}.`,
  },
  'stands-in.delegated': {
    request: waits({
      standIns: [{ ...standIn, why: 'delegated', as: 'delegate', by: dana, until: '2026-11-30T22:59:59Z' }],
    }),
    says: 'Dana Fox is away until 2026-11-30T22:59:59Z. So Priya Nair can also give approval 1 for Dana Fox.',
  },
  'stands-in.escalated': {
    request: waits({ escalatedAt: at('09:30'), standIns: [{ ...standIn, why: 'escalated', as: 'backup' }] }),
    says: `Dana Fox did not decide by ${at('09:30')}. So approval 1 also went to Priya Nair as backup.`,
  },
  'stands-in.unreachable': {
    request: waits({ standIns: [{ ...standIn, why: 'unreachable', as: 'manager' }] }),
    says: `A card did not reach Dana Fox by ${at('09:30')}. So approval 1 also went to Priya Nair as manager.`,
  },
  'not-told': {
    request: waits({ unreachable: [{ person: dana, why: 'NoChat', at: at('09:12') }] }),
    says: `A card did not reach Dana Fox (${at('09:12')}).`,
  },
  waits: {
    request: waits({ times }),
    says: `Approval 1 has waited for Dana Fox and Omar Haddad since ${at('09:02')}.`,
  },
  reminded: {
    request: waits({
      reminders: [
        { at: at('09:40'), by: kim },
        { at: at('10:40'), by: null },
      ],
    }),
    says: `I sent 2 reminders for approval 1. Last reminder: ${at('10:40')}.`,
  },
  approved: { request: requests.secondStage, says: `Dana Fox gave approval 1 (${at('09:31')}).` },
  'approved-instead': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...approvedBy(priya, '09:31'), insteadOf: [dana] }] })],
    }),
    says: `Priya Nair gave approval 1 on behalf of Dana Fox (${at('09:31')}).`,
  },
  'approved-override': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [1, 2].map((stage) =>
        stageOf(stage, [dana], { decisions: [{ ...approvedBy(sam, '09:31', 'Dana has left.'), override: true }] }),
      ),
    }),
    says: `As admin, Sam Roy approved the request, overriding approval 1 (${at('09:31')}). Reason: Dana has left.`,
  },
  'approved-override.notKept': {
    request: requestOf({
      ...{ status: 'queued', queuedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...approvedBy(sam, '09:31'), override: true }] })],
    }),
    says: `As admin, Sam Roy approved the request, overriding approval 1 (${at('09:31')}). The reason is no longer stored.`,
  },
  'rejected-override': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(sam, '09:31', 'Not now.'), override: true }] })],
    }),
    says: `As admin, Sam Roy rejected the request, overriding approval 1 (${at('09:31')}). Reason: Not now.`,
  },
  'rejected-override.notKept': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(sam, '09:31', ''), override: true }] })],
    }),
    says: `As admin, Sam Roy rejected the request, overriding approval 1 (${at('09:31')}). The reason is no longer stored.`,
  },
  rejected: { request: requests.rejected, says: `Dana Fox rejected the request at approval 1 (${at('09:31')}).` },
  'rejected-instead': {
    request: requestOf({
      ...{ status: 'rejected', finishedAt: at('09:31') },
      approvals: [stageOf(1, [dana], { decisions: [{ ...rejectedBy(priya, '09:31', 'No.'), insteadOf: [dana] }] })],
    }),
    says: `Priya Nair rejected the request at approval 1 on behalf of Dana Fox (${at('09:31')}).`,
  },
  'will-remind': {
    request: waits({ times }),
    says: `Without a decision, a reminder goes to Dana Fox and Omar Haddad (${times.remindAt}).`,
  },
  'in-summary': {
    request: waits({ times }),
    inDigest: [dana.id],
    says: 'No reminder goes to Dana Fox: the daily summary shows the request.',
  },
  'will-escalate': {
    request: waits({ times }),
    says: `Without a decision, more people are asked to decide (${times.escalateAt}).`,
  },
  'will-expire': { request: waits({ times }), says: `Without a decision, the request expires (${times.expiresAt}).` },
  'next-approval': {
    request: requestOf({ approvals: [stageOf(1, [dana]), stageOf(2, [omar, priya])] }),
    says: 'After that, approval 2 goes to Omar Haddad and Priya Nair.',
  },
  'name-is': { request: requests.waiting, says: 'The address is project-aurora-2.' },
  'name-typed': {
    request: requestOf({ details: { ...requests.waiting.details, alias: 'Aurora' }, alias: 'aurora' }),
    says: 'The request names the address Aurora.',
  },
  'name-derived': {
    request: requests.waiting,
    says: 'The request names no address, so it comes from the name Project Aurora.',
  },
  'name-of-request': {
    request: requestOf({ details: { ...requests.waiting.details, displayName: '北極光' }, alias: 'site-7d1c2b3a' }),
    says: 'The request names no address, and the name has no Latin letters. So the address contains part of the request ID.',
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
    says: 'Already taken: project-aurora, project-aurora-2.',
  },
  'name-taken': {
    request: { ...requests.failed, problem: taken },
    says: 'The address project-aurora-2 was taken before it could be created. The address project-aurora-3 is free.',
  },
  'name-changed': {
    request: requestOf({ progress: { createdAs: { displayName: 'GRP Aurora', alias: 'GRPaurora' } } }),
    says: 'Your organisation’s naming policy changed the name to GRP Aurora. The address is now GRPaurora.',
  },
  'name-taken-only': {
    request: { ...requests.failed, problem: { code: 'name-taken', detail: 'It is taken.' } },
    says: 'The address project-aurora-2 was taken before it could be created.',
  },
  'domain-typed': {
    request: mailboxOf({
      ...{ address: 'room-a@contoso-labs.example', aliasAddress: '' },
      details: { ...mailboxOf().details, domain: 'contoso-labs.example' },
    }),
    says: 'The request names the mail domain contoso-labs.example.',
  },
  'domain-usual': {
    request: mailboxOf(),
    says: 'The request names no mail domain, so the default applies: contoso.example.',
  },
  'other-address': {
    request: mailboxOf({
      aliasAddress: 'help@contoso.example',
      details: { ...mailboxOf().details, alias: 'help' },
    }),
    says: 'The additional address is help@contoso.example, because the request names help.',
  },
  took: { request: requests.ready, says: 'The request took 45 minutes in total.' },
  'took-so-far': { request: requests.waiting, says: 'Time since the request was sent: 103 minutes.' },
  'approval-took': {
    request: requests.ready,
    says: 'Approval 1 took 29 minutes, until Dana Fox decided.',
  },
  'approval-waits': { request: requests.waiting, says: 'The wait for approval 1 took 103 minutes.' },
  'queue-took': {
    request: requests.creating,
    timeline: [line('09:40', 'queued'), line('09:42', 'provisioning')],
    says: 'The wait in the queue took 2 minutes.',
  },
  'queue-waits': { request: requests.queued, says: 'The request has waited 65 minutes in the queue.' },
  'step-took': {
    request: running({ status: 'done', finishedAt: at('10:45') }),
    says: 'The step “add-owners” took 60 seconds.',
  },
  'step-took-again': {
    request: running({ status: 'done', finishedAt: at('10:45'), attempts: 3 }),
    says: 'The step “add-owners” took 60 seconds and 3 attempts.',
  },
  'step-runs': { request: running({}), says: 'The step “add-owners” has run for 60 seconds.' },
  'step-runs-again': {
    request: running({ attempts: 2 }),
    says: 'The step “add-owners” has run for 60 seconds. Attempts so far: 2.',
  },
  'step-late': {
    request: running({ startedAt: at('10:24'), lateAt: at('10:39') }),
    says: `Microsoft 365 has been working on the step “add-owners” since ${at('10:24')}. I check at growing intervals for up to 48 hours.`,
  },
  'step-tried': {
    request: running({ attempts: 2, problem: tried }),
    says: 'The step “add-owners” is being retried. Attempts so far: 2. Last error: The directory did not answer.',
  },
  stopped: {
    request: requests.failed,
    says: "The request stopped at the step “add-owners”. An admin can retry it. Error: Microsoft Graph did not answer in time while adding to the site's owners.",
  },
  'stopped-between': {
    request: requestOf({ ...requests.failed, steps: stepsUntil(6), problem: tried }),
    says: 'The request stopped. An admin can retry it. Error: The directory did not answer.',
  },
  'went-on': {
    request: requests.queued,
    timeline: [line('09:40', 'queued'), line('09:44', 'failed'), line('09:50', 'queued', sam)],
    says: `Sam Roy retried the request (${at('09:50')}).`,
  },
  late: {
    request: requests.late,
    timeline: [line('09:41', 'late')],
    says: `The request took longer than usual (${at('09:41')}).`,
  },
  delayed: {
    request: running({ startedAt: at('10:24'), lateAt: at('10:39') }),
    timeline: [line('10:39', 'delayed')],
    says: `The requester and the admins were notified of the delay (${at('10:39')}).`,
  },
  overdue: {
    request: requests.queued,
    timeline: [line('09:46', 'overdue')],
    says: `The admins were notified that the request was stuck (${at('09:46')}).`,
  },
  'step-next': { request: requests.queued, says: 'The next step is “create-site”.' },
  'starts-after-approval': {
    request: requests.waiting,
    says: 'After the last approval, creation starts automatically.',
  },
  'not-found-yet': {
    request: requests.finding,
    says: `The site was created (${at('09:47')}). The directory does not show its security group yet.`,
  },
  'not-told-yet': {
    request: mailboxOf({ status: 'succeeded', finishedAt: at('09:47'), followUp: { state: 'waiting' } }),
    says: `The mailbox was created (${at('09:47')}). The requester is notified next.`,
  },
  'announced.webhook': {
    request: requests.ready,
    says: `A webhook reported that everything is ready (${at('09:47')}).`,
  },
  'announced.poll': {
    request: { ...requests.ready, followUp: { state: 'announced', by: 'poll', at: at('09:48') } },
    says: `The site was found in the directory (${at('09:48')}).`,
  },
  'announced.state': {
    request: { ...requests.ready, followUp: { state: 'announced', by: 'state', at: at('09:48') } },
    says: `The requester was notified (${at('09:48')}).`,
  },
  cancelled: { request: requests.cancelled, says: `Kim Lee cancelled the request (${at('09:15')}).` },
  expired: { request: requests.expired, says: `Nobody decided in time, so the request expired (${at('09:31')}).` },
}
