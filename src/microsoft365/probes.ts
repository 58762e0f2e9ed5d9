/** Harmless probes that show whether the tenant lets the service do its work. They change nothing. */
import { randomUUID } from 'node:crypto'
import type { Group, TeamsAppInstallation, User } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { because, type Probe, TenantError } from '../core/index.ts'
import {
  type Call,
  type CallService,
  type Cmdlet,
  cmdlets,
  extensionProperties,
  fieldsOf,
  type Graph,
  graphService,
  type Permission,
  parseAnswer,
  query,
  quoted,
  type Services,
  segment,
} from './wire/index.ts'

interface ProbeParts extends Services {
  /** Calls Graph. */
  readonly call: CallService
  /** The permissions that the service needs with its settings. */
  readonly needed: readonly Permission[]
  /** Name of the schema extension on groups. */
  readonly extension: string
  /** The bot's app in the organisation's catalogue. */
  readonly teamsAppId: string | undefined
}

/** Probes of the tenant. An answer that proves nothing counts as a temporary trouble. */
export interface Probes {
  permissions(signal: AbortSignal): Promise<readonly Probe[]>
  siteHosts(signal: AbortSignal): Promise<readonly Probe[]>
  adminHosts(signal: AbortSignal): Promise<readonly Probe[]>
  extension(signal: AbortSignal): Promise<Probe>
  cmdlets(signal: AbortSignal): Promise<readonly Probe[]>
  /**
   * Returns the version of the bot's app in the catalogue, or `nothing` without such an app. Reading the catalogue
   * needs a permission that no other call needs. Without this permission, returns the version that one of these people
   * has, or `unseen` if none of them has the app.
   */
  catalogueApp(people: readonly string[], signal: AbortSignal): Promise<'nothing' | 'unseen' | { version: string }>
}

export function createProbes(parts: ProbeParts): Probes {
  const { call, graph, sharePoint, exchange, needed, extension, teamsAppId } = parts
  const questions = questionsOf(graph.root, teamsAppId ?? '')
  return {
    permissions: (signal) =>
      Promise.all(
        needed
          .filter(({ service }) => service === 'graph')
          .map((permission) =>
            probe(permission.name, () => call({ ...questionFor(questions, permission), signal, accept: [404] })),
          ),
      ),
    siteHosts: (signal) =>
      Promise.all(sharePoint.hosts.map(({ url }) => probe(url, () => sharePoint.rootSite(url, signal)))),
    adminHosts: (signal) =>
      Promise.all(
        sharePoint.hosts.map(({ url, adminUrl }) =>
          probe(adminUrl, async () => {
            const { id } = await sharePoint.rootSite(url, signal).catch(hostIsSilent)
            if (await sharePoint.administered(`${new URL(url).hostname},${id},`, signal)) return
            throw new TenantError('foreign-address', because('rootSiteUnknown'), { retryable: false, status: 403 })
          }),
        ),
      ),
    extension: (signal) =>
      probe(extension, async () => {
        // Reading the extension itself needs a permission that no other call needs. Instead, this filters by its
        // properties. Graph refuses a property that groups do not have: the name is wrong, the extension is another
        // one, or it is new.
        for (const property of extensionProperties) {
          const $filter = `${extension}/${property} eq ${quoted(randomUUID())}`
          const url = `${graph.root}/groups${query({ $filter, $select: `id,${extension}`, $top: '1' })}`
          const { status } = await call({ url, purpose: because('findingExtension'), accept: [400], signal })
          if (status !== 400) continue
          throw new TenantError('extension-not-accepted', because('extensionUnknown', { property }), {
            retryable: true,
            status,
          })
        }
      }),
    cmdlets: (signal) =>
      Promise.all(
        cmdlets.map((cmdlet: Cmdlet) =>
          probe(cmdlet, async () => {
            if (await exchange.isAvailable(cmdlet, signal)) return
            throw new TenantError('cmdlet-missing', because('cmdletUnknown', { cmdlet }), {
              retryable: false,
              status: 403,
            })
          }),
        ),
      ),
    async catalogueApp(people, signal) {
      if (teamsAppId === undefined) return 'nothing'
      const listed = await versionInCatalogue(call, graph, teamsAppId, signal)
      if (listed !== 'refused') return listed
      for (const id of people) {
        const version = await versionOf(call, graph, { id, teamsAppId }, signal)
        if (version !== undefined) return { version }
      }
      return 'unseen'
    },
  }
}

/** Runs one probe. A refusal of the tenant becomes the probe's problem. */
async function probe(name: string, run: () => Promise<unknown>): Promise<Probe> {
  try {
    await run()
    return { name }
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    return { name, problem: because('aboutProbe', { subject: name, reason: error.reason }), trouble: troubleOf(error) }
  }
}

/** Returns the kind of trouble that an error means. */
export function troubleOf({ code, status }: TenantError): NonNullable<Probe['trouble']> {
  if (code === 'permission-missing') return 'permissionMissing'
  if (code === 'timeout') return 'timedOut'
  if (code === 'unreachable') return 'unreachable'
  if (code.startsWith('sign-in-')) return 'noSignIn'
  if (status === 429) return 'throttled'
  const isRefused = status === 401 || status === 403 || code === 'extension-not-accepted'
  return isRefused ? 'refused' : 'failed'
}

function hostIsSilent(cause: unknown): never {
  throw new TenantError('unreachable', because('hostSilent'), { retryable: true, cause })
}

/**
 * Returns a call for each permission of Graph. Write calls name an object that cannot exist: Graph answers 404 to
 * callers who may write, and 403 to others.
 */
function questionsOf(root: string, teamsAppId: string): ReadonlyMap<string, Omit<Call, 'purpose'>> {
  const nobody = randomUUID()
  const teamsApp = query({ $expand: 'teamsApp', $filter: `teamsApp/id eq ${quoted(teamsAppId)}` })
  return new Map<string, Omit<Call, 'purpose'>>([
    [
      'Group.ReadWrite.All',
      { method: 'PATCH', url: `${root}/groups/${nobody}`, body: { description: 'Nothing' } satisfies Group },
    ],
    ['User.Read.All', { url: `${root}/users${query({ $select: fieldsOf<User>('id', 'accountEnabled'), $top: '1' })}` }],
    [
      'User.EnableDisableAccount.All',
      { method: 'PATCH', url: `${root}/users/${nobody}`, body: { accountEnabled: false } satisfies User },
    ],
    ['Sites.Read.All', { url: `${root}/sites/root${query({ $select: 'id' })}` }],
    [
      'TeamsAppInstallation.ReadWriteSelfForUser.All',
      { url: `${root}/users/${nobody}/teamwork/installedApps${teamsApp}` },
    ],
  ])
}

function questionFor(questions: ReadonlyMap<string, Omit<Call, 'purpose'>>, { name }: Permission): Call {
  const question = questions.get(name)
  if (!question) throw new Error(`no call checks ${name}`)
  return { ...question, purpose: because('checkingPermission') }
}

const definition = z.object({ version: z.string().max(50), publishingState: z.string().nullish() })
const catalogue = z.object({
  value: z.array(z.object({ id: z.string(), appDefinitions: z.array(definition).catch([]) })),
})

/**
 * Returns the app's published version: Graph, "List teamsApp", filtered by id, with all definitions. The last published
 * definition is in use.
 */
async function versionInCatalogue(call: CallService, { root }: Graph, teamsAppId: string, signal: AbortSignal) {
  const filter = query({ $filter: `id eq ${quoted(teamsAppId)}`, $expand: 'appDefinitions' })
  const url = `${root}/appCatalogs/teamsApps${filter}`
  const answer = await call({ url, purpose: because('findingApp'), accept: [403], signal })
  if (answer.status === 403) return 'refused'
  const found = parseAnswer(catalogue, answer, graphService).value.find(({ id }) => id === teamsAppId)
  const published = found?.appDefinitions.filter(({ publishingState: state }) => !state || state === 'published')
  const last = published?.at(-1)
  return last ? { version: last.version } : 'nothing'
}

const installed = z.object({
  value: z.array(z.object({ teamsAppDefinition: z.object({ version: z.string().max(50) }).nullish() })),
})

/** Returns the version that a person has (Graph, "List apps installed for user"); undefined without the app. */
async function versionOf(
  call: CallService,
  { root }: Graph,
  { id, teamsAppId }: { id: string; teamsAppId: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const expand = 'teamsApp,teamsAppDefinition' satisfies `${keyof TeamsAppInstallation},${keyof TeamsAppInstallation}`
  const filter = query({ $expand: expand, $filter: `teamsApp/id eq ${quoted(teamsAppId)}` })
  const url = `${root}/users/${segment(id)}/teamwork/installedApps${filter}`
  const answer = await call({ url, purpose: because('readingAppVersion'), accept: [403, 404], signal })
  if (answer.status !== 200) return undefined
  return parseAnswer(installed, answer, graphService).value[0]?.teamsAppDefinition?.version
}
