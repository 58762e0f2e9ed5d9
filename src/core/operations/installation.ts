import { mayTakePart } from '../approvals/index.ts'
import type { ServiceHealth } from '../resources/index.ts'
import { asWritten, because, type Directory, type Reason, type Settings, sentenceOf } from '../shared/index.ts'
import type { Template } from '../templates/index.ts'
import { type HealthPart, type HealthPartName, stateBy } from './health-report.ts'

/** The result of one harmless call: the name of the tested thing, and its problem, for admins. */
export interface Probe {
  readonly name: string
  readonly problem?: Reason | undefined
  readonly trouble?: ServiceHealth['trouble']
}

/** How the service can use PostgreSQL. */
export type DatabaseFacts =
  | { readonly engine: 'embedded'; readonly use: 'open' | 'new' | 'elsewhere' }
  | { readonly engine: 'server'; readonly problem: Reason }
  | {
      readonly engine: 'server'
      readonly version: string
      readonly major: number
      /** Whether the connection leaves this machine without encryption. */
      readonly isPlain: boolean
      readonly isReadOnly: boolean
      /** The rights that the user of the database lacks, as texts that complete "The user may not …". */
      readonly lacks: readonly Reason[]
    }

/** The answer at BASE_URL: of this service, of another server, or none. */
export type EndpointFacts = { readonly answer: 'own' } | { readonly answer: 'other' | 'none'; readonly problem: Reason }

/** The app of TEAMS_APP_ID in the organisation's catalogue. `unseen`: the service may not read the catalogue. */
type CatalogueFacts = 'nothing' | 'unseen' | 'notSet' | { readonly version: string; readonly ownVersion: string }

/** The difference between our clock and Microsoft's, by the `Date` of its last answer. Positive: ours is fast. */
export interface ClockFacts {
  /** null: Microsoft has not answered yet. */
  readonly aheadSeconds: number | null
}

/** The result of a sign-in with the bot's secret. */
export type BotTokenFacts = Probe | 'managed' | 'notNeeded'

/**
 * Probes that show whether the installation is complete: they make many calls and change nothing. A probe without a
 * definite answer throws, or returns a temporary trouble.
 */
export interface Installation {
  database(): Promise<DatabaseFacts>
  /** Tests each permission of Microsoft Graph with one call. */
  permissions(signal: AbortSignal): Promise<readonly Probe[]>
  siteHosts(signal: AbortSignal): Promise<readonly Probe[]>
  adminHosts(signal: AbortSignal): Promise<readonly Probe[]>
  extension(signal: AbortSignal): Promise<Probe>
  /** Tests each command of Exchange that the service uses. */
  cmdlets(signal: AbortSignal): Promise<readonly Probe[]>
  botToken(signal: AbortSignal): Promise<BotTokenFacts>
  endpoint(signal: AbortSignal): Promise<EndpointFacts>
  catalogueApp(signal: AbortSignal): Promise<CatalogueFacts>
  /** Tests whether our key seals the audit of the store. */
  auditKey(): Promise<Probe>
}

/** The oldest version of PostgreSQL that still gets fixes. The service is not tested with older versions. */
const oldestServer = 14

/** Temporary troubles, and troubles that another part reports: they prove nothing about an installation. */
const passing: ReadonlySet<ServiceHealth['trouble']> = new Set([
  'throttled',
  'timedOut',
  'unreachable',
  'failed',
  'noSignIn',
])
const isPassing = ({ problem, trouble = 'failed' }: Probe): boolean => problem !== undefined && passing.has(trouble)

/**
 * Judges probes. A refusal is red, a missing optional permission amber; a part that could not be tested is amber as not
 * checked.
 */
function judgeProbes(
  name: HealthPartName,
  probes: readonly Probe[],
  says: { readonly good: HealthPart['says']; readonly bad: HealthPart['says'] },
): HealthPart[] {
  const refused = probes.filter((one) => one.problem !== undefined && !isPassing(one))
  const list = (some: readonly Probe[]): Reason => {
    const problems = some.flatMap(({ problem }) => (problem ? [[sentenceOf(problem), problem] as const] : []))
    return because('faults', { faults: [...new Map(problems).values()] })
  }
  if (refused.length > 0) {
    const isOptional = refused.every(({ trouble }) => trouble === 'optionalPermissionMissing')
    return [{ name, state: isOptional ? 'amber' : 'red', says: says.bad, problem: list(refused) }]
  }
  const untested = probes.filter(isPassing)
  if (untested.length > 0) return [notChecked(name, list(untested))]
  return [{ name, state: 'green', says: says.good, count: probes.length }]
}

/** Returns the part for a check without an answer. */
export const notChecked = (name: HealthPartName, problem: Reason): HealthPart => ({
  ...{ name, state: 'amber', says: 'notChecked', problem },
})

export const judgePermissions = (probes: readonly Probe[]): HealthPart[] =>
  judgeProbes('permissions', probes, { good: 'permissionsGood', bad: 'permissionsRefused' })
export const judgeSiteHosts = (probes: readonly Probe[]): HealthPart[] =>
  judgeProbes('siteHosts', probes, { good: 'hostsGood', bad: 'hostsRefuse' })
export const judgeAdminHosts = (probes: readonly Probe[]): HealthPart[] =>
  judgeProbes('adminHosts', probes, { good: 'hostsGood', bad: 'hostsRefuse' })
export const judgeExtension = (probe: Probe): HealthPart[] =>
  judgeProbes('extension', [probe], { good: 'extensionGood', bad: 'extensionUnknown' })
export const judgeCmdlets = (probes: readonly Probe[]): HealthPart[] =>
  judgeProbes('cmdlets', probes, { good: 'cmdletsGood', bad: 'cmdletsMissing' })

export const judgeAuditKey = (probe: Probe): HealthPart[] =>
  judgeProbes('auditKey', [probe], { good: 'auditKeyGood', bad: 'auditKeyOther' })

export function judgeBotToken(facts: BotTokenFacts): HealthPart[] {
  const name = 'botToken'
  if (facts === 'managed') return [{ name, state: 'green', says: 'botTokenManaged' }]
  if (facts === 'notNeeded') return [{ name, state: 'green', says: 'botTokenNotNeeded' }]
  return judgeProbes(name, [facts], { good: 'botTokenGood', bad: 'botTokenRefused' })
}

/**
 * Judges the endpoint. No answer is only amber: the service may not run yet, and some networks cannot reach their own
 * public address.
 */
export function judgeEndpoint(facts: EndpointFacts): HealthPart[] {
  const name = 'endpoint'
  if (facts.answer === 'own') return [{ name, state: 'green', says: 'endpointGood' }]
  const { problem } = facts
  if (facts.answer === 'none') return [{ name, state: 'amber', says: 'endpointSilent', problem }]
  return [{ name, state: 'red', says: 'endpointOther', problem }]
}

export function judgeDatabase(facts: DatabaseFacts): HealthPart[] {
  const name = 'databaseServer'
  if (facts.engine === 'embedded') {
    if (facts.use === 'elsewhere') return [{ name, state: 'amber', says: 'serverInUse' }]
    return [{ name, state: 'green', says: facts.use === 'new' ? 'serverNew' : 'serverEmbedded' }]
  }
  if ('problem' in facts) return [{ name, state: 'red', says: 'serverAway', problem: facts.problem }]
  const { version, lacks } = facts
  if (facts.isReadOnly) return [{ name, state: 'red', says: 'serverReadOnly', version }]
  if (lacks.length > 0)
    return [
      {
        name,
        state: 'red',
        says: 'serverRights',
        version,
        problem: because('faults', { faults: { parts: lacks, between: ', ' } }),
      },
    ]
  if (facts.isPlain) return [{ name, state: 'red', says: 'serverPlain', version }]
  if (facts.major < oldestServer) return [{ name, state: 'amber', says: 'serverOld', version }]
  return [{ name, state: 'green', says: 'serverGood', version }]
}

export function judgeCatalogueApp(facts: CatalogueFacts): HealthPart[] {
  const name = 'catalogueApp'
  if (facts === 'notSet') return [{ name, state: 'green', says: 'appNotSet' }]
  if (facts === 'unseen') return [{ name, state: 'green', says: 'appUnseen' }]
  if (facts === 'nothing') return [{ name, state: 'red', says: 'appUnknown' }]
  const { version, ownVersion } = facts
  if (isOlder(version, ownVersion)) return [{ name, state: 'amber', says: 'appOlder', version, ownVersion }]
  return [{ name, state: 'green', says: 'appGood', version }]
}

/** Compares the versions of two manifests, which are three numbers. */
function isOlder(version: string, other: string): boolean {
  const [one, two] = [version, other].map((text) => text.split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0))
  for (let index = 0; index < 3; index += 1) {
    const difference = (one?.[index] ?? 0) - (two?.[index] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}

export function judgeClock({ aheadSeconds }: ClockFacts): HealthPart[] {
  const name = 'clock'
  if (aheadSeconds === null) return [{ name, state: 'green', says: 'clockUnseen' }]
  const skewSeconds = Math.abs(aheadSeconds)
  const state = stateBy(name, 'skewSeconds', skewSeconds)
  const says = state === 'green' ? 'clockGood' : aheadSeconds > 0 ? 'clockFast' : 'clockSlow'
  return [{ name, state, says, skewSeconds }]
}

/**
 * An id of ADMINS and the number of admins that it names. 0: an unknown id, a blocked account, a guest or an empty
 * group.
 */
interface NamedAdmin {
  readonly id: string
  readonly people: number
}

export async function readAdmins(directory: Directory, { admins }: Pick<Settings, 'admins'>): Promise<NamedAdmin[]> {
  return Promise.all(
    admins.map(async (id) => {
      const person = await directory.person(id)
      const all = person ? [person] : await directory.membersOf(id)
      return { id, people: all.filter(mayTakePart).length }
    }),
  )
}

export function judgeAdmins(all: readonly NamedAdmin[]): HealthPart[] {
  const name = 'admins'
  const count = all.reduce((sum, { people }) => sum + people, 0)
  const idle = all.flatMap(({ id, people }) => (people === 0 ? id : []))
  const problem = asWritten(idle.join(', '))
  if (count === 0) return [{ name, state: 'red', says: 'adminsNone', problem }]
  if (idle.length > 0) return [{ name, state: 'amber', says: 'adminsSome', count, problem }]
  return [{ name, state: 'green', says: 'adminsGood', count }]
}

/** The enabled templates, and their approvers that are not in the directory. */
interface TemplateFacts {
  readonly count: number
  /** Pairs of a template's name and an id. */
  readonly missing: readonly { readonly template: string; readonly id: string }[]
}

export async function readTemplates(directory: Directory, all: readonly Template[]): Promise<TemplateFacts> {
  const active = all.filter((one) => one.active)
  const named = active.flatMap(({ name, approval }) => approversOf(approval).map((one) => ({ template: name, ...one })))
  const known = new Map<string, Promise<boolean>>()
  const exists = ({ id, isGroup }: { id: string; isGroup: boolean }): Promise<boolean> => {
    const lookup =
      known.get(id) ?? (isGroup ? directory.groupName(id) : directory.person(id)).then((one) => one !== undefined)
    known.set(id, lookup)
    return lookup
  }
  const found = await Promise.all(named.map(exists))
  const missing = named.filter((_, index) => found[index] === false).map(({ template, id }) => ({ template, id }))
  return { count: active.length, missing }
}

function approversOf(approval: Template['approval']): { id: string; isGroup: boolean }[] {
  const all = (approval?.stages ?? []).flatMap(({ approvers, backup = [] }) => [...approvers, ...backup])
  return all.flatMap((one) => {
    if ('user' in one) return { id: one.user, isGroup: false }
    if ('group' in one) return { id: one.group, isGroup: true }
    return 'ownersOf' in one ? { id: one.ownersOf, isGroup: true } : []
  })
}

export function judgeTemplates({ count, missing }: TemplateFacts): HealthPart[] {
  const name = 'templates'
  if (missing.length > 0) {
    const parts = missing.map(({ template, id }) => because('aboutProbe', { subject: template, reason: id }))
    const problem = because('faults', { faults: { parts, between: '; ' } })
    return [{ name, state: 'amber', says: 'templatesPeople', count, problem }]
  }
  if (count === 0) return [{ name, state: 'amber', says: 'templatesNone' }]
  return [{ name, state: 'green', says: 'templatesGood', count }]
}
