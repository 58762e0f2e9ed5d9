import { z } from 'zod'
import { auditAct } from '../audit/index.ts'
import { authorize } from '../requests/index.ts'
import {
  type Actor,
  actorFor,
  because,
  type Context,
  defineUseCase,
  type Fault,
  fault,
  type Person,
  ProvisioningError,
  refuseFields,
  type Settings,
  type SystemContext,
} from '../shared/index.ts'
import {
  type ExportContent,
  type ExportFormat,
  type ExportKind,
  type ExportTicket,
  lifeOfLink,
  partsOfToken,
  type StoredTicket,
  sealTicket,
  stateOfLink,
} from './export-link.ts'
import {
  byteOrderMark,
  cellsOfEntry,
  cellsOfRequest,
  csvLines,
  headOfEntries,
  headOfRequests,
  jsonOfRequest,
} from './export-rows.ts'
import { knownPerson, personOf } from './known-person.ts'
import type { ExportQuery, PersonRecord, PrivacyPorts } from './ports.ts'

/** Days by UTC (`2026-11-01`), both included. */
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

/** The content of a link, before it is used. */
export interface ExportPreview {
  readonly state: 'open'
  readonly name: string
  readonly content: ExportContent
  readonly until: Date
}
/** The file of a used link, in parts. */
export interface ExportFile {
  readonly state: 'open'
  readonly name: string
  readonly format: ExportFormat
  readonly content: AsyncIterable<string>
}
/**
 * Why a link has no file. `changed`: it was not issued, or is sealed with another key. `used`: it was used before.
 * `expired`: it is too old. `refused`: the person who requested it is not an admin now.
 */
export interface ClosedLink {
  readonly state: 'changed' | 'used' | 'expired' | 'refused'
}

/**
 * Issues links to the requests that were submitted and the audit that was written between two days. Each works once,
 * within a quarter of an hour. Refuses as `validation-failed`, at `/from` or `/to`.
 */
export const offerExport = defineUseCase({
  permission: 'export.create',
  input: z.object({ from: z.string(), to: z.string() }),
  async handle({ ports, settings, actor }: Context<PrivacyPorts>, days): Promise<ExportOffer> {
    const faults = faultsOfDays(days)
    if (faults.length > 0) refuseFields(faults)
    const counted = await ports.exports.count(queryOf(settings, days))
    const kinds = ['requests', 'audit'] as const
    const formats = ['csv', 'json'] as const
    const contents = kinds.flatMap((what) => formats.map((format) => ({ ...days, what, format })))
    const { links, until } = await issueLinks(ports, settings, actor, contents, (until) =>
      auditAct(ports, actor, 'exported', { ...days, until }),
    )
    return { ...days, ...counted, until, links }
  },
})

/** Issues a link to each of these, in one transaction with the entry that `note` writes; `until` is in ISO 8601. */
async function issueLinks(
  ports: PrivacyPorts,
  { tenantId, exportLinks }: Settings,
  actor: Actor,
  contents: readonly ExportContent[],
  note: (until: string) => Promise<void>,
): Promise<{ readonly links: readonly ExportLink[]; readonly until: string }> {
  const { key, root } = exportLinks
  const life = lifeOfLink(ports.clock.now())
  const until = life.until.toISOString()
  const sealed = contents.map((content) => sealTicket(key, { ...content, ...life, tenantId, by: actor.id }))
  await ports.work.transaction(async () => {
    await ports.exportTickets.issue(sealed.map(({ ticket }) => ticket))
    await note(until)
  })
  const links = sealed.map(({ token, ticket: { what, format } }) => ({
    ...{ what, format, url: `${root}/exports/v1/${token}` },
  }))
  return { links, until }
}

/** A link to all stored data about a person. */
export interface PersonExportOffer {
  readonly person: Person
  readonly url: string
  readonly until: string
}

/** Issues a link to all that the store holds about a person. It works once, within a quarter of an hour. */
export const offerPersonExport = defineUseCase({
  permission: 'export.create',
  input: z.object({ personId: z.string() }),
  async handle(context: Context<PrivacyPorts>, { personId }): Promise<PersonExportOffer> {
    const { ports, settings, actor } = context
    const person = await personOf(context, personId)
    const today = ports.clock.now().toISOString().slice(0, 10)
    const content = { what: 'person', format: 'json', from: today, to: today, personId: person.id } as const
    const { links, until } = await issueLinks(ports, settings, actor, [content], (until) =>
      auditAct(ports, actor, 'person-exported', { personId: person.id, until }),
    )
    return { person, url: links[0]?.url ?? '', until }
  },
})

function faultsOfDays({ from, to }: Days): Fault[] {
  const isDay = (day: string) => z.iso.date().safeParse(day).success && day >= '1970-01-01' && day < '2149-06-06'
  const faults = Object.entries({ from, to }).flatMap(([name, day]) => {
    if (day === '') return [fault(`/${name}`, 'required', because('dayRequired'))]
    return isDay(day) ? [] : [fault(`/${name}`, 'invalid', because('dayInvalid'))]
  })
  if (faults.length === 0 && to < from) faults.push(fault('/to', 'past', because('dayBeforeFirst')))
  return faults
}

const queryOf = ({ tenantId }: Settings, { from, to }: Days): ExportQuery => ({
  tenantId,
  from: new Date(`${from}T00:00:00Z`),
  before: new Date(Date.parse(`${to}T00:00:00Z`) + 86_400_000),
})

/** Previews a link without using it, so scanners and link previews may call this any number of times. */
export async function previewExport(
  context: SystemContext<PrivacyPorts>,
  token: string,
): Promise<ExportPreview | ClosedLink> {
  const { ports } = context
  const found = await findTicket(context, token, ports.clock.now())
  if (found.state !== 'open') return found
  const { ticket } = found
  return { state: 'open', name: nameOf(ticket), content: ticket, until: ticket.until }
}

/**
 * Uses a link up and returns its file. The use and its audit entry are one transaction before the data is read, so an
 * aborted download has used the link.
 */
export async function openExport(
  context: SystemContext<PrivacyPorts>,
  token: string,
): Promise<ExportFile | ClosedLink> {
  const { ports } = context
  const at = ports.clock.now()
  const found = await findTicket(context, token, at)
  if (found.state !== 'open') return found
  const { ticket, actor } = found
  const { what, format, from, to, personId } = ticket
  const isFirst = await ports.work.transaction(async () => {
    if (!(await ports.exportTickets.use(ticket.hash, at))) return false
    await auditAct(ports, actor, 'export-read', { what, format, ...(what === 'person' ? { personId } : { from, to }) })
    return true
  })
  if (!isFirst) return { state: 'used' }
  return { state: 'open', name: nameOf(ticket), format, content: contentOf(context, ticket) }
}

interface OpenTicket {
  readonly state: 'open'
  readonly ticket: StoredTicket
  readonly actor: Actor
}

async function findTicket(
  context: SystemContext<PrivacyPorts>,
  token: string,
  at: Date,
): Promise<OpenTicket | ClosedLink> {
  const { ports, settings } = context
  const { exportLinks, tenantId } = settings
  const parts = partsOfToken(token)
  const ticket = parts && (await ports.exportTickets.find(parts.hash))
  if (!parts || ticket?.tenantId !== tenantId) return { state: 'changed' }
  const state = stateOfLink(exportLinks.key, parts, ticket, at)
  if (state !== 'open') return { state }
  const actor = await stillAdmin(context, ticket.by)
  return actor ? { state, ticket, actor } : { state: 'refused' }
}

function nameOf({ what, format, from, to, personId }: ExportContent): string {
  if (what === 'person') return `person-${personId}.json`
  return `${what}-${from === to ? from : `${from}-to-${to}`}.${format}`
}

async function stillAdmin(context: SystemContext<PrivacyPorts>, id: string): Promise<Actor | undefined> {
  const { settings } = context
  try {
    const actor = await actorFor(context, { tenantId: settings.tenantId, id })
    authorize(actor, 'export.create')
    return actor
  } catch (error) {
    if (error instanceof ProvisioningError && error.code === 'forbidden') return undefined
    throw error
  }
}

function contentOf({ ports, settings }: SystemContext<PrivacyPorts>, ticket: ExportTicket): AsyncIterable<string> {
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

/** All stored records of a person, found in the same way as by erasure. */
export async function* personRecords(
  ports: PrivacyPorts,
  tenantId: string,
  personId: string,
): AsyncGenerator<readonly PersonRecord[]> {
  yield* ports.personData.records(tenantId, await knownPerson(ports, tenantId, personId))
}

async function* asCsv<T>(
  head: readonly string[],
  pages: AsyncIterable<readonly T[]>,
  cells: (one: T) => readonly string[],
): AsyncGenerator<string> {
  yield byteOrderMark + csvLines([head])
  for await (const page of pages) yield csvLines(page.map((one) => cells(one)))
}

/** One JSON object: the members of `head`, and a list under `name`, each entry on a line of its own. */
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
