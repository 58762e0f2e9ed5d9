import { z } from 'zod'
import { TenantError } from '../../core/index.ts'
import { type Answer, type CallService, errorOf, readAs, unreadable } from './call.ts'
import { createPages, query, quoted, segment } from './odata.ts'

export const graphService = 'Microsoft Graph'
const graph = graphService

const entry = z.object({ id: z.guid() })
const account = z.object({ accountEnabled: z.boolean().nullish() })
const accounts = z.object({ value: z.array(account) })
const verifiedDomain = z.object({
  // It becomes part of addresses, and those of filters.
  name: z.string().regex(/^[\w.-]{1,253}$/),
  isDefault: z.boolean().catch(false),
  capabilities: z.string().catch(''),
})
const organizations = z.object({ value: z.array(z.object({ verifiedDomains: z.array(z.unknown()) })).min(1) })
const groupEntry = entry.extend({ displayName: z.string(), mailNickname: z.string().nullish() })
const siteEntry = z.object({ id: z.string().regex(/^[\w.:-]+,[\da-f-]{36},[\da-f-]{36}$/i), webUrl: z.url() })

/** A person as Microsoft Graph tells of them. */
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
 * The properties of a person that are read. `accountEnabled` and `userType` come only on `$select`, and as null, or not at all,
 * where a permission does not reach: User.ReadBasic.All gives names and addresses only (Microsoft Graph, "user resource type").
 */
export const userFields = 'id,displayName,userPrincipalName,accountEnabled,userType,mail'

const known = z.string().nullish()
/** Where somebody works (Microsoft Graph, user resource). */
export const workplaceEntry = z.object({
  department: known,
  city: known,
  country: known,
  companyName: known,
  officeLocation: known,
})

/** A group to make: the body of Microsoft Graph's group resource, without its owners and members. */
export interface GroupBody {
  readonly displayName: string
  readonly description?: string
  readonly mailNickname: string
  readonly groupTypes: readonly string[]
  readonly mailEnabled: boolean
  readonly securityEnabled: boolean
  readonly visibility?: 'Private'
}
export interface FoundGroup {
  readonly id: string
  readonly displayName: string
  /** The value of the schema extension, unchecked. */
  readonly extension: unknown
}
export type Relation = 'owners' | 'members'

export type Graph = ReturnType<typeof createGraph>

/** The calls of Microsoft Graph v1.0 that this service makes, in the directory's words. */
export function createGraph(call: CallService, directoryUrl: string, extension: string) {
  const root = `${directoryUrl}/v1.0`
  const byName = (uniqueName: string) => `${root}/groups(uniqueName=${segment(quoted(uniqueName))})`
  const { list, first, pages } = createPages(call, root, graph)
  const bind = (ids: readonly string[]) => ids.map((id) => `${root}/users/${id}`)

  async function user(path: string, purpose: string): Promise<UserEntry | undefined> {
    const url = `${root}/users/${path}${query({ $select: userFields })}`
    const answer = await call({ url, purpose, accept: [404] })
    return answer.status === 404 ? undefined : readAs(userEntry, answer, graph)
  }

  return {
    list,
    first,
    pages,
    root,
    /** By object id. An answer about somebody else is none. */
    async user(id: string): Promise<UserEntry | undefined> {
      const found = await user(segment(id), 'looking a person up')
      if (found && found.id.toLowerCase() !== id.toLowerCase())
        throw unreadable(graph, 'another person than was asked for')
      return found
    },
    /** Keeps an account from signing in; false when Graph does not know it (yet). */
    async blockSignIn(userId: string, signal: AbortSignal): Promise<boolean> {
      const url = `${root}/users/${segment(userId)}`
      const purpose = "blocking the mailbox's account"
      const answer = await call({
        method: 'PATCH',
        url,
        body: { accountEnabled: false },
        purpose,
        accept: [404],
        signal,
      })
      return answer.status !== 404
    },
    /** Whether an account is there and cannot sign in. */
    async isSignInBlocked(userId: string, signal: AbortSignal): Promise<boolean> {
      const url = `${root}/users/${segment(userId)}${query({ $select: 'id,accountEnabled' })}`
      const answer = await call({ url, purpose: "reading the mailbox's account", accept: [404], signal })
      return answer.status !== 404 && readAs(account, answer, graph).accountEnabled === false
    },
    /** The domains of the organisation that take mail, in lower case. */
    async mailDomains(): Promise<{ name: string; isDefault: boolean }[]> {
      const url = `${root}/organization${query({ $select: 'verifiedDomains' })}`
      const { value } = readAs(organizations, await call({ url, purpose: 'reading the mail domains' }), graph)
      return value
        .flatMap(({ verifiedDomains }) => verifiedDomains)
        .flatMap((one) => verifiedDomain.safeParse(one).data ?? [])
        .filter(({ capabilities }) => /(^|,)\s*Email\s*(,|$)/i.test(capabilities))
        .map(({ name, isDefault }) => ({ name: name.toLowerCase(), isDefault }))
    },
    /** Asks for one account. Throws a `TenantError` with the status 403 when Graph hides whether accounts are enabled. */
    async ping(signal: AbortSignal): Promise<void> {
      const url = `${root}/users${query({ $select: 'id,accountEnabled', $top: '1' })}`
      const answer = await call({ url, purpose: 'asking how it does', accept: [403], signal })
      if (answer.status === 403) throw hidesAccounts('answered 403 when asked')
      const { value } = readAs(accounts, answer, graph)
      if (value.some(({ accountEnabled }) => typeof accountEnabled !== 'boolean')) throw hidesAccounts('does not show')
    },
    /** Where somebody works, as far as it is known; nothing of whom there is not. */
    async workplace(id: string) {
      const url = `${root}/users/${segment(id)}${query({ $select: Object.keys(workplaceEntry.shape).join(',') })}`
      const answer = await call({ url, purpose: 'looking up where a person works', accept: [404] })
      return answer.status === 404 ? {} : readAs(workplaceEntry, answer, graph)
    },
    manager: (id: string) => user(`${segment(id)}/manager`, 'looking a manager up'),
    /** Ids of the groups that somebody is in, through nested groups too. */
    groupIdsOf: async (userId: string) => {
      const url = `${root}/users/${segment(userId)}/transitiveMemberOf${query({ $select: 'id', $top: '999' })}`
      return (await list(url, entry, 'reading the groups of a person')).map(({ id }) => id)
    },
    async groupName(id: string): Promise<string | undefined> {
      const url = `${root}/groups/${segment(id)}${query({ $select: 'id,displayName' })}`
      const answer = await call({ url, purpose: 'looking a group up', accept: [404] })
      return answer.status === 404 ? undefined : readAs(groupEntry, answer, graph).displayName
    },
    groupsByNickname: (mailNickname: string) =>
      list(
        `${root}/groups${query({ $filter: `mailNickname eq ${quoted(mailNickname)}`, $select: 'id' })}`,
        entry,
        'checking whether an address is free',
      ),

    /** The group made under this key (group-upsert, alternate key `uniqueName`); undefined when there is none. */
    async groupByUniqueName(uniqueName: string, signal: AbortSignal): Promise<FoundGroup | undefined> {
      const url = `${byName(uniqueName)}${query({ $select: `id,displayName,mailNickname,${extension}` })}`
      const answer = await call({ url, purpose: 'looking the group up', accept: [404], signal })
      if (answer.status === 404) return undefined
      const { id, displayName } = readAs(groupEntry, answer, graph)
      return { id, displayName, extension: Reflect.get(Object(answer.body), extension) }
    },

    /** Makes the group of this key, or updates it: `PATCH` with `Prefer: create-if-missing`. The caller has looked. */
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
          // An empty array is refused with 400.
          ...(people.owners?.length && { 'owners@odata.bind': bind(people.owners) }),
          ...(people.members?.length && { 'members@odata.bind': bind(people.members) }),
        },
        purpose: 'making the group',
        accept: [400],
        signal,
      }),

    async patchExtension(groupId: string, value: object, signal: AbortSignal): Promise<void> {
      const url = `${root}/groups/${segment(groupId)}`
      const answer = await call({
        method: 'PATCH',
        url,
        body: { [extension]: value },
        purpose: 'linking the security group to the site',
        accept: [404],
        signal,
      })
      if (answer.status === 404) throw notThereYet('The security group')
    },

    related: async (groupId: string, relation: Relation, signal: AbortSignal): Promise<string[]> => {
      const url = `${root}/groups/${segment(groupId)}/${relation}${query({ $select: 'id', $top: '999' })}`
      return (await list(url, entry, `reading the group's ${relation}`, signal)).map(({ id }) => id)
    },

    /** Adds one owner or member; 400 also means that it is one already, 404 that one of the two is not there (yet). */
    addRelated: (groupId: string, relation: Relation, userId: string, signal: AbortSignal): Promise<Answer> =>
      call({
        method: 'POST',
        url: `${root}/groups/${segment(groupId)}/${relation}/$ref`,
        body: { '@odata.id': `${root}/users/${userId}` },
        purpose: `adding to the group's ${relation}`,
        accept: [400, 404],
        signal,
      }),

    /** The site of a group; none while it is being made, which 404, 409, 423 and 503 all say. */
    async siteOfGroup(groupId: string, signal: AbortSignal) {
      const url = `${root}/groups/${segment(groupId)}/sites/root${query({ $select: 'id,webUrl' })}`
      const answer = await call({ url, purpose: 'waiting for the site', accept: [404, 409, 423, 503], signal })
      const site = answer.status === 200 ? readAs(siteEntry, answer, graph) : undefined
      return { site, retryAfterSeconds: answer.retryAfterSeconds }
    },

    /** The site at an address, or undefined while Graph does not know it. */
    async siteAt(address: string, signal: AbortSignal) {
      const { host, pathname } = new URL(address)
      const url = `${root}/sites/${host}:${pathname}${query({ $select: 'id,webUrl' })}`
      const answer = await call({ url, purpose: 'looking the site up', accept: [404, 423], signal })
      return answer.status === 200 ? readAs(siteEntry, answer, graph) : undefined
    },
  }
}

/** A 400 of a group's upsert, read by code and details; only where Graph has no code for it by its words. */
export function refusalOfUpsert(answer: Answer, purpose: string): 'name-taken' | 'already-bound' | TenantError {
  const { error } = answer
  const taken = error?.details.some(({ code, target }) => code === 'ObjectConflict' && target === 'mailNickname')
  if (taken) return 'name-taken'
  if (error?.text.includes('added object references already exist')) return 'already-bound'
  return errorOf(graph, purpose, answer)
}

/** What the permissions of the app registration do not reach; without it nobody is let in. */
const hidesAccounts = (how: string): TenantError =>
  new TenantError(
    'accounts-hidden',
    `${graph} ${how} whether accounts are enabled, so nobody is let in. Grant the app registration the application permission User.Read.All, with admin consent.`,
    { retryable: false, status: 403 },
  )

/** A new object is not on every replica at once: it is there in seconds. */
export const notThereYet = (what: string): TenantError =>
  new TenantError('not-there-yet', `${what} is not to be seen everywhere yet.`, {
    retryable: true,
    retryAfterSeconds: 2,
  })
