import { auditEntry, type EntryFacts } from '../audit/index.ts'
import { isForMailbox, type Request, referenceOf, viewOf } from '../requests/index.ts'

/** An entry of the audit as it is taken out: all that proves it away from here, and what its request is called. */
export interface ExportedEntry extends EntryFacts {
  readonly reference: string | null
  /** As it was written; null once its words were erased. */
  readonly text: unknown
  readonly salt: string | null
  readonly hash: string
  /** The hash of the entry before it; null for the first of its chain. */
  readonly previous: string | null
}
/** A request whose stored form cannot be read: what is known of it all the same. */
export interface UnreadableRequest {
  readonly requestId: string
  readonly reference: string
  readonly status: string
  readonly unreadable: true
}
export const isUnreadable = (one: Request | UnreadableRequest): one is UnreadableRequest => 'unreadable' in one

type Columns<T> = Readonly<Record<string, (one: T) => string | number | boolean | null | undefined>>

/** The columns of requests, in their order. */
const requestColumns: Columns<Request> = {
  reference: referenceOf,
  requestId: ({ requestId }) => requestId,
  kind: ({ kind }) => kind,
  status: ({ status }) => status,
  displayName: ({ details }) => details.displayName,
  address: addressOf,
  templateId: ({ template }) => template.id,
  templateName: ({ template }) => template.name,
  templateVersion: ({ template }) => template.version,
  channel: ({ channel }) => channel,
  requesterId: ({ requester }) => requester.id,
  requesterName: ({ requester }) => requester.displayName,
  requesterAddress: ({ requester }) => requester.userPrincipalName,
  reason: ({ reason }) => reason,
  submittedAt: ({ submittedAt }) => submittedAt,
  startedAt: ({ startedAt }) => startedAt,
  finishedAt: ({ finishedAt }) => finishedAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  decisions: decisionsOf,
  cancelledBy: ({ cancelledBy }) => cancelledBy?.displayName,
  cancelComment: ({ cancelComment }) => cancelComment,
  problemCode: ({ problem }) => problem?.code,
  problem: ({ problem }) => problem?.detail,
  resource: resourceOf,
  reducedAt: ({ reducedAt }) => reducedAt,
}

function addressOf(request: Request): string {
  return isForMailbox(request) ? request.address : request.alias
}

function resourceOf(request: Request): string | undefined {
  return isForMailbox(request) ? request.resource?.address : request.resource?.url
}

/** Who decided what, when and with which words: one line each. */
function decisionsOf({ approvals }: Request): string {
  const decisions = approvals.flatMap(({ stage, decisions }) => decisions.map((one) => ({ stage, ...one })))
  return decisions
    .map(({ stage, by, decision, at, comment }) =>
      [`stage ${stage}`, by.displayName, decision, at, ...(comment ? [comment] : [])].join(' · '),
    )
    .join('\n')
}

/** The columns of the audit, in their order. */
const entryColumns: Columns<ExportedEntry> = {
  at: ({ at }) => at,
  reference: ({ reference }) => reference,
  requestId: ({ requestId }) => requestId,
  entry: ({ seq }) => seq,
  action: ({ action }) => action,
  actorId: ({ actorId }) => actorId,
  actorName: (one) => actorNameOf(one),
  from: (one) => one.from,
  traceId: ({ trace }) => trace,
  version: ({ version }) => version,
  comment: (one) => saidOf(one)?.comment,
  data: (one) => {
    const data = saidOf(one)?.data
    return data && JSON.stringify(data)
  },
  erased: ({ text }) => text === null,
  hash: ({ hash }) => hash,
}
const saidOf = ({ text }: ExportedEntry) => auditEntry.safeParse(text).data
function actorNameOf(entry: ExportedEntry): string {
  const actor = saidOf(entry)?.actor
  return actor && 'displayName' in actor ? actor.displayName : ''
}

const cellsOf = <T>(columns: Columns<T>, one: T): string[] =>
  Object.values(columns).map((cell) => String(cell(one) ?? ''))

export const headOfRequests = Object.keys(requestColumns)
export const headOfEntries = Object.keys(entryColumns)
export const cellsOfEntry = (entry: ExportedEntry): string[] => cellsOf(entryColumns, entry)
export function cellsOfRequest(one: Request | UnreadableRequest): string[] {
  if (!isUnreadable(one)) return cellsOf(requestColumns, one)
  const known: Readonly<Record<string, string>> = { ...one, unreadable: '', problemCode: 'unreadable' }
  return headOfRequests.map((column) => known[column] ?? '')
}

/** A request as the API shows it, with the name of its template. */
export const jsonOfRequest = (one: Request | UnreadableRequest): unknown =>
  isUnreadable(one)
    ? one
    : { ...viewOf(one), template: { id: one.template.id, version: one.template.version, name: one.template.name } }
