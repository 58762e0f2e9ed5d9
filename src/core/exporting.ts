import { z } from 'zod'
import { type Actor, authorize } from './access.ts'
import { actorFor } from './acting.ts'
import { byteOrderMark, csvLine } from './csv.ts'
import { type Fault, ProvisioningError, refuseFields } from './errors.ts'
import { type ExportFormat, type ExportKind, linkMinutes, openTicket, sealTicket, type Ticket } from './export-link.ts'
import {
  cellsOfEntry,
  cellsOfRequest,
  type ExportedEntry,
  headOfEntries,
  headOfRequests,
  jsonOfRequest,
  type UnreadableRequest,
} from './export-rows.ts'
import { personRecords } from './known-person.ts'
import { noteAct } from './organisation-audit.ts'
import type { Ports, Settings } from './ports.ts'
import type { Request } from './request.ts'
import { fault } from './validation.ts'

/** What was submitted, or written, from one moment on and before another. */
export interface ExportQuery {
  readonly tenantId: string
  readonly from: Date
  readonly before: Date
}
/** Reads much, a page at a time, in the order of time. */
export interface ExportSource {
  count(query: ExportQuery): Promise<{ readonly requests: number; readonly entries: number }>
  requests(query: ExportQuery): AsyncIterable<readonly (Request | UnreadableRequest)[]>
  entries(query: ExportQuery): AsyncIterable<readonly ExportedEntry[]>
}

/** Days as they are written, `2026-11-01`, both of them included, by UTC. */
export interface Days {
  readonly from: string
  readonly to: string
}
export interface ExportLink {
  readonly what: ExportKind
  readonly format: ExportFormat
  readonly url: string
}
export interface ExportOffer extends Days {
  readonly requests: number
  readonly entries: number
  readonly until: string
  readonly links: readonly ExportLink[]
}

/** What a link that was opened gives: a file in parts. */
export interface ExportFile {
  readonly state: 'open'
  readonly name: string
  readonly format: ExportFormat
  readonly content: AsyncIterable<string>
}
/** Why a link gives nothing: it is not as it was made, its time is over, or who had it made is no admin any more. */
export interface ClosedLink {
  readonly state: 'changed' | 'expired' | 'refused'
}

/**
 * Links to the requests that were submitted and the audit that was written between two days, for a quarter of an hour. Refuses as
 * `validation-failed`, at `/from` or `/to`.
 */
export async function offerExport(ports: Ports, settings: Settings, actor: Actor, days: Days): Promise<ExportOffer> {
  const faults = faultsOfDays(days)
  if (faults.length > 0) refuseFields(faults)
  const counted = await ports.exports.count(queryOf(settings, days))
  const until = endOfLinks(ports)
  const ticket = { ...days, by: actor.id, until }
  const link = linkTo(settings)
  const kinds = ['requests', 'audit'] as const
  const formats = ['csv', 'json'] as const
  const links = kinds.flatMap((what) => formats.map((format) => link({ ...ticket, what, format })))
  await noteAct(ports, actor, 'exported', { ...days, until: until.toISOString() })
  return { ...days, ...counted, until: until.toISOString(), links }
}

export const endOfLinks = ({ clock }: Pick<Ports, 'clock'>): Date =>
  new Date(Math.ceil(clock.now().getTime() / 1000) * 1000 + linkMinutes * 60_000)

/** Makes addresses that a browser opens. */
export function linkTo({ tenantId, exportLinks }: Settings): (ticket: Ticket) => ExportLink {
  if (!exportLinks) throw new ProvisioningError('unavailable', 'Exports are not set up here.')
  const { key, root } = exportLinks
  return (ticket) => {
    const { what, format } = ticket
    return { what, format, url: `${root}/exports/v1/${sealTicket(key, tenantId, ticket)}` }
  }
}

function faultsOfDays({ from, to }: Days): Fault[] {
  const isDay = (day: string) => z.iso.date().safeParse(day).success && day >= '1970-01-01' && day < '2149-06-06'
  const faults = Object.entries({ from, to }).flatMap(([name, day]) => {
    if (day === '') return [fault(`/${name}`, 'required', 'Choose a day.')]
    return isDay(day) ? [] : [fault(`/${name}`, 'invalid', 'This is no day.')]
  })
  if (faults.length === 0 && to < from) faults.push(fault('/to', 'past', 'This is before the first day.'))
  return faults
}

const queryOf = ({ tenantId }: Settings, { from, to }: Days): ExportQuery => ({
  tenantId,
  from: new Date(`${from}T00:00:00Z`),
  before: new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000),
})

/**
 * Opens a link: for whom it was made, as long as they are an admin. That it was used is written down before anything is read; `isLook`:
 * nobody reads it, but only wants to know whether it works.
 */
export async function openExport(
  ports: Ports,
  settings: Settings,
  token: string,
  isLook: boolean,
): Promise<ExportFile | ClosedLink> {
  const { exportLinks, tenantId } = settings
  const ticket = exportLinks ? openTicket(exportLinks.key, tenantId, token, ports.clock.now()) : 'changed'
  if (typeof ticket === 'string') return { state: ticket }
  const actor = await stillAdmin(ports, settings, ticket.by)
  if (!actor) return { state: 'refused' }
  const { what, format, from, to, personId } = ticket
  const about = what === 'person' ? { personId } : { from, to }
  if (!isLook) await noteAct(ports, actor, 'export-read', { what, format, ...about })
  const days = from === to ? from : `${from}-to-${to}`
  const name = what === 'person' ? `person-${personId}.json` : `${what}-${days}.${format}`
  return { state: 'open', name, format, content: contentOf(ports, settings, ticket) }
}

async function stillAdmin(ports: Ports, settings: Settings, id: string): Promise<Actor | undefined> {
  try {
    const actor = await actorFor(ports, settings, { tenantId: settings.tenantId, id })
    authorize(actor, 'export.create')
    return actor
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'forbidden') return undefined
    throw error
  }
}

function contentOf(ports: Ports, settings: Settings, ticket: Ticket): AsyncIterable<string> {
  const { what, format, personId } = ticket
  const query = queryOf(settings, ticket)
  const head = { tenantId: settings.tenantId, exportedAt: ports.clock.now().toISOString() }
  if (what === 'person')
    return asJson({ ...head, personId }, personRecords(ports, settings.tenantId, personId ?? ''), 'records')
  const days = { ...head, from: ticket.from, to: ticket.to, days: 'UTC' }
  if (what === 'requests') {
    const pages = ports.exports.requests(query)
    return format === 'csv' ? asCsv(headOfRequests, pages, cellsOfRequest) : asJson(days, pages, what, jsonOfRequest)
  }
  const pages = ports.exports.entries(query)
  return format === 'csv' ? asCsv(headOfEntries, pages, cellsOfEntry) : asJson(days, pages, 'entries')
}

async function* asCsv<T>(
  head: readonly string[],
  pages: AsyncIterable<readonly T[]>,
  cells: (one: T) => readonly string[],
): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(head)
  for await (const page of pages) yield page.map((one) => csvLine(cells(one))).join('')
}

/** One object: what is said of the whole, and a list under `name`, each member on a line of its own. */
async function* asJson<T>(
  head: object,
  pages: AsyncIterable<readonly T[]>,
  name: string,
  shown: (one: T) => unknown = (one) => one,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`
  let separator = '\n'
  for await (const page of pages) {
    if (page.length === 0) continue
    yield separator + page.map((one) => JSON.stringify(shown(one))).join(',\n')
    separator = ',\n'
  }
  yield '\n]}\n'
}
