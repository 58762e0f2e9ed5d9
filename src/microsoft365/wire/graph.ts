import type { Group, TeamsAppInstallation, User } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { because, type Reason, TenantError } from '../../core/index.ts'
import { type Answer, errorOf, parseAnswer, type ServiceError, unreadable } from './answer.ts'
import { type CallService, createPages, query, quoted, segment } from './call.ts'

// Microsoft's own types of Graph check our calls: a misspelled property does not compile. Only types are imported, so
// the running service contains nothing of Microsoft's package.
/** Properties of a Graph type, as we send them: without null and not changed afterwards. */
type Sent<T, K extends keyof T> = { readonly [P in K]-?: Readonly<NonNullable<T[P]>> }
/** References to other objects in a body: `owners@odata.bind`. */
type Bound<T, K extends keyof T & string, V> = { readonly [P in K as `${P}@odata.bind`]?: V }

/** Body of a new group (Microsoft Graph, group resource), without owners and members. */
export type GroupBody = Sent<Group, 'displayName' | 'mailNickname' | 'groupTypes' | 'mailEnabled' | 'securityEnabled'> &
  Partial<Sent<Group, 'description' | 'visibility'>>
/** Owners and members of a new group, by their addresses. */
type GroupBindings = Bound<Group, 'owners' | 'members', readonly string[]>
/** Body of the installation of an app of the catalogue. */
export type InstallationBody = Bound<TeamsAppInstallation, 'teamsApp', string>

/** Builds a `$select` of properties that a Graph type has: `fieldsOf<User>('id', 'displayName')`. */
export const fieldsOf = <T>(...names: readonly (keyof T & string)[]): string => names.join(',')

export const graphService = 'Microsoft Graph'
const graph = graphService

const entry = z.object({ id: z.guid() })
const account = z.object({ accountEnabled: z.boolean().nullish() })
const accounts = z.object({ value: z.array(account) })
const verifiedDomain = z.object({
  // The name becomes part of addresses, and addresses become part of filters.
  name: z.string().regex(/^[\w.-]{1,253}$/),
  isDefault: z.boolean().catch(false),
  capabilities: z.string().catch(''),
})
const organizations = z.object({ value: z.array(z.object({ verifiedDomains: z.array(z.unknown()) })).min(1) })
const groupSettings = z.object({
  value: z.array(
    z.object({ templateId: z.string(), values: z.array(z.object({ name: z.string(), value: z.string().nullish() })) }),
  ),
})
/** The template of the settings `Group.Unified` ("Microsoft Entra cmdlets for configuring group settings"). */
const unifiedGroups = '62375ab9-6b52-47ed-826b-58e47e0e304b'
const groupEntry = entry.extend({
  displayName: z.string(),
  mailNickname: z.string().nullish(),
  mail: z.string().nullish().catch(null),
})
const siteEntry = z.object({ id: z.string().regex(/^[\w.:-]+,[\da-f-]{36},[\da-f-]{36}$/i), webUrl: z.url() })

/** A person in Microsoft Graph. */
export const userEntry = z.object({
  id: z.uuid(),
  displayName: z.string().nullish(),
  userPrincipalName: z.string(),
  accountEnabled: z.boolean().nullish(),
  userType: z.string().nullish(),
  mail: z.string().nullish().catch(null),
})
export type UserEntry = z.output<typeof userEntry>
/**
 * The `$select` of a person. Graph returns `accountEnabled` and `userType` only on `$select`, and as null or not at all
 * without the permission: User.ReadBasic.All grants only names and addresses (Microsoft Graph, "user resource type").
 */
export const userFields = fieldsOf<User>('id', 'displayName', 'userPrincipalName', 'accountEnabled', 'userType', 'mail')

const known = z.string().nullish()
/** Where a person works (Microsoft Graph, user resource). */
export const workplaceEntry = z.object({
  department: known,
  city: known,
  country: known,
  companyName: known,
  officeLocation: known,
} satisfies { readonly [K in keyof User]?: unknown })

export interface FoundGroup {
  readonly id: string
  readonly displayName: string
  readonly mailNickname: string
  /** Mail address, or `''`. A new group may not have one yet. */
  readonly mail: string
  /** The value of the schema extension, unchecked. Only {@link Graph.linkedGroup} reads it. */
  readonly extension: unknown
}
export type Relation = 'owners' | 'members'

/** The properties of the schema extension on groups. */
export const extensionProperties = ['requestId', 'extensionAttribute1', 'extensionAttribute3'] as const

export type Graph = ReturnType<typeof createGraph>

/** Creates the calls to Microsoft Graph v1.0. `extension` is the name of the schema extension on groups. */
export function createGraph(call: CallService, directoryUrl: string, extension: string) {
  const root = `${directoryUrl}/v1.0`
  const byName = (uniqueName: string) => `${root}/groups(uniqueName=${segment(quoted(uniqueName))})`
  const { list, first, pages } = createPages(call, root, graph)
  const bind = (ids: readonly string[]) => ids.map((id) => `${root}/users/${id}`)

  const groupFields = 'id,displayName,mailNickname,mail'
  async function groupWith(uniqueName: string, $select: string, signal: AbortSignal): Promise<FoundGroup | undefined> {
    const url = `${byName(uniqueName)}${query({ $select })}`
    const answer = await call({ url, purpose: because('findingRequestGroup'), accept: [404], signal })
    if (answer.status === 404) return undefined
    const { id, displayName, mailNickname, mail } = parseAnswer(groupEntry, answer, graph)
    const known = Reflect.get(Object(answer.body), extension)
    return { id, displayName, mailNickname: mailNickname ?? '', mail: mail ?? '', extension: known }
  }
  function explainExtension(error: unknown): never {
    const isRefusal = error instanceof TenantError && error.status === 400 && error.cause instanceof Error
    throw isRefusal && String(error.cause).includes(extension) ? extensionRefused(extension, error) : error
  }

  async function user(path: string, purpose: Reason): Promise<UserEntry | undefined> {
    const url = `${root}/users/${path}${query({ $select: userFields })}`
    const answer = await call({ url, purpose, accept: [404] })
    return answer.status === 404 ? undefined : parseAnswer(userEntry, answer, graph)
  }

  return {
    list,
    first,
    pages,
    root,
    /** Reads a person by object id. Throws a retryable `TenantError` when Graph answers with another person. */
    async user(id: string): Promise<UserEntry | undefined> {
      const found = await user(segment(id), because('findingPerson'))
      if (found && found.id.toLowerCase() !== id.toLowerCase()) throw unreadable(graph, 'otherPerson')
      return found
    },
    /** Blocks the sign-in of an account. Returns false when Graph does not know the account (yet). */
    async blockSignIn(userId: string, signal: AbortSignal): Promise<boolean> {
      const url = `${root}/users/${segment(userId)}`
      const body = { accountEnabled: false } satisfies User
      const purpose = because('blockingAccount')
      return (await call({ method: 'PATCH', url, body, purpose, accept: [404], signal })).status !== 404
    },
    /** Returns whether an account exists and its sign-in is blocked. */
    async isSignInBlocked(userId: string, signal: AbortSignal): Promise<boolean> {
      const url = `${root}/users/${segment(userId)}${query({ $select: fieldsOf<User>('id', 'accountEnabled') })}`
      const answer = await call({ url, purpose: because('readingAccount'), accept: [404], signal })
      return answer.status !== 404 && parseAnswer(account, answer, graph).accountEnabled === false
    },
    /** Lists the organisation's mail domains, in lower case. */
    async mailDomains(): Promise<{ name: string; isDefault: boolean }[]> {
      const url = `${root}/organization${query({ $select: 'verifiedDomains' })}`
      const { value } = parseAnswer(organizations, await call({ url, purpose: because('readingMailDomains') }), graph)
      return value
        .flatMap(({ verifiedDomains }) => verifiedDomains)
        .flatMap((one) => verifiedDomain.safeParse(one).data ?? [])
        .filter(({ capabilities }) => /(^|,)\s*Email\s*(,|$)/i.test(capabilities))
        .map(({ name, isDefault }) => ({ name: name.toLowerCase(), isDefault }))
    },
    /** Reads one account. Throws a `TenantError` when Graph hides whether accounts are enabled. */
    async ping(signal: AbortSignal): Promise<void> {
      const url = `${root}/users${query({ $select: 'id,accountEnabled', $top: '1' })}`
      const answer = await call({ url, purpose: because('checkingHealth'), signal })
      const { value } = parseAnswer(accounts, answer, graph)
      if (value.some(({ accountEnabled }) => typeof accountEnabled !== 'boolean')) throw accountsHidden()
    },
    /** Reads where a person works; `{}` for an unknown person. */
    async workplace(id: string) {
      const url = `${root}/users/${segment(id)}${query({ $select: Object.keys(workplaceEntry.shape).join(',') })}`
      const answer = await call({ url, purpose: because('findingWorkplace'), accept: [404] })
      return answer.status === 404 ? {} : parseAnswer(workplaceEntry, answer, graph)
    },
    manager: (id: string) => user(`${segment(id)}/manager`, because('findingManager')),
    /** Lists the ids of a person's groups, including nested groups. */
    groupIdsOf: async (userId: string) => {
      const url = `${root}/users/${segment(userId)}/transitiveMemberOf${query({ $select: 'id', $top: '999' })}`
      return (await list(url, entry, because('readingGroupsOfPerson'))).map(({ id }) => id)
    },
    async groupName(id: string): Promise<string | undefined> {
      const url = `${root}/groups/${segment(id)}${query({ $select: 'id,displayName' })}`
      const answer = await call({ url, purpose: because('findingGroup'), accept: [404] })
      return answer.status === 404 ? undefined : parseAnswer(groupEntry, answer, graph).displayName
    },
    groupsByNickname(mailNickname: string) {
      const $filter = `mailNickname eq ${quoted(mailNickname)}`
      return list(`${root}/groups${query({ $filter, $select: 'id' })}`, entry, because('checkingAddress'))
    },

    /**
     * Returns the tenant's naming policy for groups, for example `GRP [GroupName]`; '' without a policy; undefined when
     * Graph refuses to return it. Microsoft's pages disagree on whether Group.ReadWrite.All is sufficient, so a refusal
     * is no error.
     */
    async groupNamingPolicy(): Promise<string | undefined> {
      const purpose = because('readingNamingPolicy')
      const answer = await call({ url: `${root}/groupSettings`, purpose, accept: [403] })
      if (answer.status === 403) return undefined
      const { value } = parseAnswer(groupSettings, answer, graph)
      const { values = [] } = value.find(({ templateId }) => templateId.toLowerCase() === unifiedGroups) ?? {}
      return values.find(({ name }) => name === 'PrefixSuffixNamingRequirement')?.value ?? ''
    },

    /** Reads the group with this alternate key (`uniqueName`, see "Upsert group"), without the schema extension. */
    groupByUniqueName: (uniqueName: string, signal: AbortSignal) => groupWith(uniqueName, groupFields, signal),
    /** The same with the schema extension. Throws {@link extensionRefused} while Graph does not know it. */
    linkedGroup: (uniqueName: string, signal: AbortSignal) =>
      groupWith(uniqueName, `${groupFields},${extension}`, signal).catch(explainExtension),
    /** Throws {@link extensionRefused} instead of a 400 that is about the schema extension, else the same error. */
    explainExtension,

    /** Creates or updates the group with this key: `PATCH` with `Prefer: create-if-missing`. */
    upsertGroup: (
      uniqueName: string,
      group: GroupBody,
      people: { [R in Relation]?: readonly string[] },
      signal: AbortSignal,
    ): Promise<Answer> =>
      call({
        method: 'PATCH',
        url: byName(uniqueName),
        headers: { prefer: 'create-if-missing' },
        body: {
          ...group,
          // Graph refuses an empty array with 400.
          ...(people.owners?.length && ({ 'owners@odata.bind': bind(people.owners) } satisfies GroupBindings)),
          ...(people.members?.length && ({ 'members@odata.bind': bind(people.members) } satisfies GroupBindings)),
        },
        purpose: because('creatingGroup'),
        accept: [400],
        signal,
      }),

    async patchExtension(groupId: string, value: object, signal: AbortSignal): Promise<void> {
      const url = `${root}/groups/${segment(groupId)}`
      const body = { [extension]: value }
      const purpose = because('linkingGroup')
      const answer = await call({ method: 'PATCH', url, body, purpose, accept: [404], signal }).catch(explainExtension)
      if (answer.status === 404) throw notThereYet('securityGroup')
    },

    related: async (groupId: string, relation: Relation, signal: AbortSignal): Promise<string[]> => {
      const url = `${root}/groups/${segment(groupId)}/${relation}${query({ $select: 'id', $top: '999' })}`
      return (await list(url, entry, because('readingGroupPeople', { relation }), signal)).map(({ id }) => id)
    },

    /** Adds an owner or member. 400 also means "already added"; 404 means that group or person does not exist (yet). */
    addRelated(groupId: string, relation: Relation, userId: string, signal: AbortSignal): Promise<Answer> {
      const url = `${root}/groups/${segment(groupId)}/${relation}/$ref`
      const body = { '@odata.id': `${root}/users/${userId}` }
      return call({
        method: 'POST',
        url,
        body,
        purpose: because('addingToGroup', { relation }),
        accept: [400, 404],
        signal,
      })
    },

    /** Reads the site of a group. Graph answers 404, 409, 423 or 503 while the site is being created. */
    async siteOfGroup(groupId: string, signal: AbortSignal) {
      const url = `${root}/groups/${segment(groupId)}/sites/root${query({ $select: 'id,webUrl' })}`
      const answer = await call({ url, purpose: because('waitingForSite'), accept: [404, 409, 423, 503], signal })
      const site = answer.status === 200 ? parseAnswer(siteEntry, answer, graph) : undefined
      return { site, retryAfterSeconds: answer.retryAfterSeconds }
    },

    /** Reads the site at an address; undefined while Graph does not know it. */
    async siteAt(address: string, signal: AbortSignal) {
      const { host, pathname } = new URL(address)
      const url = `${root}/sites/${host}:${pathname}${query({ $select: 'id,webUrl' })}`
      const answer = await call({ url, purpose: because('findingSite'), accept: [404, 423], signal })
      return answer.status === 200 ? parseAnswer(siteEntry, answer, graph) : undefined
    },
  }
}

type GroupNames = Partial<Pick<GroupBody, 'displayName' | 'mailNickname'>>

/**
 * Interprets a 400 of a group's upsert: by code and details, or by the message where Graph has no code. Under the
 * tenant's naming policy Graph suggests names; the result contains the valid ones.
 */
export function upsertRefusal(
  answer: Answer,
  purpose: Reason,
): 'name-taken' | 'already-bound' | { readonly suggested: GroupNames } | TenantError {
  const { error } = answer
  if (error?.text.includes(namingRequirements)) {
    const suggested = suggestedNames(error.details)
    return Object.keys(suggested).length > 0 ? { suggested } : namingPolicyError()
  }
  const conflicts = error?.details.flatMap(({ code, target }) => (code === 'ObjectConflict' ? [target] : []))
  // The key is the request's id, so our earlier attempt created the group, and replicas do not show it yet.
  if (conflicts?.includes('uniqueName')) return notThereYet('group')
  if (conflicts?.includes('mailNickname')) return 'name-taken'
  if (error?.text.includes('added object references already exist')) return 'already-bound'
  return errorOf(graph, purpose, answer)
}

/** Part of Graph's message for a name that violates the tenant's group naming policy. */
const namingRequirements = "organization's Group naming requirements"

/** Returns the valid names that Graph suggests for a group. */
function suggestedNames(details: ServiceError['details']): GroupNames {
  const of = (property: string) =>
    details.find(({ code, target }) => code === 'MissingPrefixSuffix' && target === property)?.suggestedPropertyValue
  const [displayName, mailNickname] = [of('displayName'), of('mailNickname')]
  return {
    ...(displayName && displayName.length <= 256 && { displayName }),
    ...(mailNickname && /^[\w.-]{1,64}$/.test(mailNickname) && { mailNickname }),
  }
}

/** Error for a name that the tenant's naming policy does not allow, and for which it suggests no other. */
export const namingPolicyError = (): TenantError =>
  new TenantError('naming-policy', because('namingPolicyRefuses', { service: graph }), { retryable: false })

/** Error while groups do not accept the schema extension: it is new, or the setting names another one. Retryable. */
const extensionRefused = (extension: string, cause: unknown): TenantError =>
  new TenantError('extension-not-accepted', because('extensionRefused', { service: graph, extension }), {
    retryable: true,
    retryAfterSeconds: 10,
    status: 400,
    cause,
  })

/**
 * Error for a missing permission. Without it the service cannot distinguish blocked accounts from others, so it refuses
 * everybody.
 */
const accountsHidden = (): TenantError =>
  new TenantError('accounts-hidden', because('accountsHidden', { service: graph }), { retryable: false, status: 403 })

/** Error for a new object that has not reached every replica. Retryable. */
export const notThereYet = (what: 'group' | 'newSecurityGroup' | 'securityGroup'): TenantError =>
  new TenantError('not-there-yet', because('notVisibleYet', { what }), { retryable: true })
