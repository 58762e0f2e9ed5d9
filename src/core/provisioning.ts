import { randomUUID } from 'node:crypto'
import {
  type BatchOrder,
  type BatchRowStatus,
  beginBatch,
  cancelBatch,
  createBatchCheck,
  readBatch,
  readBatchRows,
} from './batches/index.ts'
import {
  approve,
  cancel,
  delegate,
  endDelegation,
  findColleagues,
  nudge,
  type Override,
  override,
  type Reassignment,
  readDelegations,
  reassign,
  reject,
  retry,
  withdrawClicked,
} from './decisions/index.ts'
import {
  checkDraftNames,
  continueDraft,
  type Draft,
  discardDraft,
  draftFromRequest,
  draftLikeRequest,
  editDraft,
  keepDraft,
  likelyNames,
  listBegun,
  openDraft,
  readDraft,
  reviewDraft,
  type StatusCard,
  submitDraft,
} from './drafts/index.ts'
import { readExplanation } from './explanations/index.ts'
import { chooseDigest, readDigest, readStanding } from './notifications/index.ts'
import { putTemplate, reportOnTemplate, switchTemplate, templatesInUse, useOfTemplates } from './operations/index.ts'
import type { Ports } from './ports.ts'
import { createAdministration } from './provisioning-admin.ts'
import { doorOf } from './provisioning-door.ts'
import { createSystem } from './provisioning-system.ts'
import { createDeliveries } from './provisioning-webhooks.ts'
import {
  auditRefusals,
  createChecks,
  type ListFilter,
  list,
  listApprovals,
  listOwn,
  type PageAt,
  pageOfApprovals,
  pageOfOwn,
  previewAs,
  previewRequest,
  read,
  readByReference,
  simulate,
  submit,
  timeline,
} from './requests/index.ts'
import { type Actor, actorFor, asking, type CallerIdentity, createKnownAdmins, type Settings } from './shared/index.ts'
import { listTemplates, readTemplate, type Template, usableTemplates } from './templates/index.ts'

/**
 * The provisioning core as its callers use it: the bot, the REST routes and the jobs. Every function that acts for
 * somebody takes who is asking first, and decides by the access table.
 */
export function createProvisioning(ports: Ports, settings: Settings) {
  const to = doorOf(settings)
  const admins = createKnownAdmins(settings, ports.clock)
  const checks = createChecks(ports)
  const actor = (identity: CallerIdentity): Promise<Actor> =>
    admins.seen(identity, actorFor({ ports, settings }, identity))
  return {
    settings,
    siteRoot: ports.tenant.siteRoot,
    outlookRoot: ports.tenant.outlookRoot,

    /** Who is asking: a person of our tenant as the directory knows them, and whether they are an admin now. */
    actor,
    /** The same for who asks how the service does, also while the directory does not answer. */
    actorForHealth: (identity: CallerIdentity): Promise<Actor> => admins.orKnown(identity, actor(identity)),

    submitSite: to('request.create', (actor, body: unknown, requestId: string = randomUUID()) =>
      submit({ ports, settings, actor }, { requestId, resource: 'site', body, channel: 'rest' }),
    ),
    submitMailbox: to('request.create', (actor, body: unknown, requestId: string = randomUUID()) =>
      submit({ ports, settings, actor }, { requestId, resource: 'mailbox', body, channel: 'rest' }),
    ),
    preview: to('request.create', (actor, body: unknown) =>
      checks.inTurn(() => previewRequest({ ports, settings, actor }, body)),
    ),
    previewAs: to('request.simulate', (actor, personId: string, body: unknown) =>
      checks.inTurn(() => previewAs({ ports, settings }, actor, personId, body)),
    ),
    simulate: to('request.simulate', (actor, templateId: string, personId: string) =>
      simulate({ ports, settings }, actor, templateId, personId),
    ),
    read: to('request.read', (actor, requestId: string) => read({ ports, actor }, requestId)),
    readByReference: to('request.read', (actor, reference: string) => readByReference({ ports, actor }, reference)),
    list: to('request.list', (actor, filter: ListFilter) => list({ ports, actor }, filter)),
    listOwn: to('request.list', (actor, limit: number) => listOwn({ ports, actor }, limit)),
    listApprovals: to('approval.list', (actor, limit: number) => listApprovals({ ports, actor }, limit)),
    pageOfOwn: to('request.list', (actor, limit: number, at: PageAt) => pageOfOwn({ ports, actor }, limit, at)),
    pageOfApprovals: to('approval.list', (actor, limit: number, at: PageAt) =>
      pageOfApprovals({ ports, actor }, limit, at),
    ),
    /** Which right somebody has lost that a card of theirs needed, which is updated no more then; undefined: none. */
    withdrawClicked: to('request.list', ({ id: personId }, requestId: string, activityId: string) =>
      withdrawClicked({ ports, settings }, { requestId, personId, activityId }),
    ),
    timeline: to('request.read', (actor, requestId: string) => timeline({ ports, actor }, requestId)),
    explanation: to('request.read', (actor, requestId: string) => readExplanation({ ports, actor }, requestId)),
    approve: to('request.decide', (actor, requestId: string, comment?: string, attempt?: string, stage?: number) =>
      auditRefusals({ ports, actor }, requestId, 'approve', () =>
        approve(ports, settings, actor, requestId, comment, attempt, stage),
      ),
    ),
    reject: to('request.decide', (actor, requestId: string, comment?: string, attempt?: string, stage?: number) =>
      auditRefusals({ ports, actor }, requestId, 'reject', () =>
        reject(ports, settings, actor, requestId, comment, attempt, stage),
      ),
    ),
    reassign: to('request.reassign', (actor, requestId: string, asked: Reassignment, attempt?: string) =>
      auditRefusals({ ports, actor }, requestId, 'reassign', () =>
        reassign({ ports, settings, actor }, requestId, asked, attempt),
      ),
    ),
    override: to('request.override', (actor, requestId: string, asked: Override, attempt?: string) =>
      auditRefusals({ ports, actor }, requestId, 'override', () =>
        override({ ports, settings, actor }, requestId, asked, attempt),
      ),
    ),
    nudge: to('request.nudge', (actor, requestId: string, attempt?: string) =>
      nudge({ ports, settings, actor }, requestId, attempt),
    ),
    delegations: {
      read: to('approval.delegate', (actor) => readDelegations({ ports, actor })),
      begin: to('approval.delegate', (actor, asked: { to: string; until: string }) =>
        delegate({ ports, actor }, asked),
      ),
      end: to('approval.delegate', (actor) => endDelegation({ ports, actor })),
      find: to('approval.delegate', (_, typed: string) => findColleagues(ports, typed)),
    },
    digest: {
      read: to('digest.read', (actor) => readDigest({ ports, settings, actor })),
      standing: to('digest.read', (actor) => readStanding({ ports, settings }, actor)),
      choose: to('digest.choose', (actor, isOn: boolean) => chooseDigest({ ports, settings, actor }, isOn)),
    },
    cancel: to('request.cancel', (actor, requestId: string, comment?: string, attempt?: string) =>
      cancel({ ports, settings, actor }, requestId, comment, attempt),
    ),
    retry: to('request.retry', (actor, requestId: string, comment?: string, attempt?: string) =>
      retry({ ports, settings, actor }, requestId, comment, attempt),
    ),

    batches: {
      check: to('request.create', createBatchCheck({ ports, settings })),
      begin: to('request.create', (actor, batchId: string, order: BatchOrder) =>
        beginBatch({ ports, actor }, batchId, order),
      ),
      read: to('batch.read', (actor, batchId: string) => readBatch({ ports, actor }, batchId)),
      rows: to(
        'batch.read',
        (actor, batchId: string, page: { limit: number; cursor?: string; status?: BatchRowStatus }) =>
          readBatchRows({ ports, actor }, batchId, page),
      ),
      cancel: to('batch.cancel', (actor, batchId: string) => cancelBatch({ ports, actor }, batchId)),
    },

    admin: createAdministration(ports, settings, to),

    templates: {
      list: to('template.read', (actor) => listTemplates({ ports, actor })),
      usable: to('template.read', (actor) => usableTemplates({ ports, actor })),
      read: to('template.read', (actor, id: string) => readTemplate({ ports, actor }, id)),
      put: to('template.write', (actor, id: string, body: unknown, expected: number) =>
        putTemplate({ ports, settings, actor }, id, body, expected),
      ),
      /** How much templates are used, in pages: for those who look after them. */
      inUse: to('template.write', (actor, page: { from: number; most: number }) =>
        templatesInUse({ ports, actor }, page),
      ),
      useOf: to('template.write', (actor, some: readonly Template[]) => useOfTemplates({ ports, actor }, some)),
      report: to('template.write', (actor, id: string) => reportOnTemplate({ ports, settings, actor }, id)),
      switch: to('template.write', (actor, id: string, expected: number, active: boolean) =>
        switchTemplate({ ports, actor }, id, expected, active),
      ),
    },

    deliveries: createDeliveries(ports, settings, to),

    drafts: {
      open: to('request.create', (actor, templateId: string) => openDraft({ ports, actor }, templateId)),
      read: to('request.create', (actor, requestId: string) => readDraft({ ports, actor }, requestId)),
      review: to('request.create', (actor, requestId: string, version: number, values: Draft['values']) =>
        checks.ofForm(actor, values, () => reviewDraft({ ports, settings, actor }, requestId, version, values)),
      ),
      checkNames: to('request.create', (actor, requestId: string, version: number, values: Draft['values']) =>
        checks.ofForm(actor, {}, () => checkDraftNames({ ports, settings, actor }, requestId, version, values)),
      ),
      likelyNames: to('request.create', (actor, draft: Draft, template: Template) =>
        likelyNames({ ports, settings, actor }, draft, template),
      ),
      mailDomains: () => asking(() => ports.directory.mailDomains()),
      edit: to('request.create', (actor, requestId: string, version: number) =>
        editDraft({ ports, settings, actor }, requestId, version),
      ),
      submit: to('request.create', (actor, requestId: string, version: number, statusCard?: StatusCard) =>
        submitDraft({ ports, settings, actor }, requestId, version, (asked, along) =>
          submit(
            { ports, settings, actor },
            {
              ...asked,
              requestId,
              channel: 'chat',
              along,
              ...(statusCard && { statusCard }),
            },
          ),
        ),
      ),
      discard: to('request.create', (actor, requestId: string) => discardDraft({ ports, settings, actor }, requestId)),
      again: to('request.create', (actor, requestId: string) => draftFromRequest({ ports, actor }, requestId)),
      another: to('request.create', (actor, requestId: string) => draftLikeRequest({ ports, actor }, requestId)),
      listBegun: to('request.create', (actor) => listBegun({ ports, actor })),
      keep: to('request.create', (actor, requestId: string, version: number, values: Draft['values']) =>
        keepDraft({ ports, settings, actor }, requestId, version, values),
      ),
      continue: to('request.create', (actor, requestId: string) =>
        continueDraft({ ports, settings, actor }, requestId),
      ),
      people: (ids: readonly string[]) => peopleOf(ports, ids),
    },

    system: createSystem(ports, settings),
  }
}
export type Provisioning = ReturnType<typeof createProvisioning>

/** The people behind ids, as far as the directory knows them: only to show their names. */
async function peopleOf(ports: Ports, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => ports.directory.person(id).catch(() => undefined)))
  return found.filter((person) => person !== undefined)
}
