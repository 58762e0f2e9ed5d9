import { type Options, stringify } from 'csv-stringify/sync'
import { auditEntry, type EntryFacts } from '../audit/index.ts'
import { isForMailbox, type Request, referenceOf, viewOf } from '../requests/index.ts'

/**
 * An exported entry of the audit, with everything that proves it outside the service, and the reference of its request.
 */
export interface ExportedEntry extends EntryFacts {
  readonly reference: string | null
  /** Unchanged; null after erasure. */
  readonly text: unknown
  readonly salt: string | null
  readonly hash: string
  /** The hash of the previous entry; null for the first of its chain. */
  readonly previous: string | null
}
/** A request whose stored form cannot be read: only its columns are known. */
export interface UnreadableRequest {
  readonly requestId: string
  readonly reference: string
  readonly status: string
  readonly unreadable: true
}
const isUnreadable = (one: Request | UnreadableRequest): one is UnreadableRequest => 'unreadable' in one

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

/** The decisions with person, time and comment, one line each. */
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
  comment: (one) => textOf(one)?.comment,
  data: (one) => {
    const data = textOf(one)?.data
    return data && JSON.stringify(data)
  },
  erased: ({ text }) => text === null,
  hash: ({ hash }) => hash,
}
const textOf = ({ text }: ExportedEntry) => auditEntry.safeParse(text).data
function actorNameOf(entry: ExportedEntry): string {
  const actor = textOf(entry)?.actor
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
  isUnreadable(one) ? one : { ...withoutReasons(viewOf(one)), template: templateOf(one) }

const templateOf = ({ template: { id, version, name } }: Request) => ({ id, version, name })

/** The warnings of a mailbox by code and field. The texts of the API are not part of a request. */
const withoutReasons = (view: ReturnType<typeof viewOf>) =>
  'warnings' in view ? { ...view, warnings: view.warnings.map(({ code, field }) => ({ code, field })) } : view

/**
 * The start of a formula for spreadsheets (OWASP, "CSV Injection"; full-width signs included): at the start of a cell,
 * after spaces, which spreadsheets trim, and after characters that other settings read as the end of a cell, also in
 * quotes. The library's own protection checks only the first character of a cell.
 */
const formula = /(^|[,;|\t\r\n])(?=[ \u00a0'"]*[=+\-@＝＋－＠]|'*[\t\r])/g

const layout: Options = {
  record_delimiter: 'windows',
  quoted: true,
  quoted_empty: true,
  cast: { string: (text) => text.replace(formula, "$1'") },
}

/** Writes lines of a table (RFC 4180 §2), each with its end: every cell is in quotes, and none is a formula. */
export const csvLines = (rows: readonly (readonly string[])[]): string => stringify([...rows], layout)

/** The first character of a file: Excel recognises UTF-8 only by it. */
export const byteOrderMark = '\ufeff'
