import { isBusy, isPermissionMissing, ProvisioningError, TenantError } from './errors.ts'
import { because, type Reason } from './reason.ts'
import type { Person, ResourceKind } from './resource.ts'

/** A search for similar resources. The signal ends the wait for its answer. */
export interface SimilarQuery {
  readonly kind: ResourceKind
  /** The first characters of words in a name: letters and digits only, in lower case. */
  readonly beginnings: readonly string[]
  readonly signal: AbortSignal
}

/** An existing resource of the tenant. */
export interface Candidate {
  /** The type of the id: a Microsoft 365 group, an account, or a site without a known group. */
  readonly of: 'group' | 'account' | 'site'
  readonly id: string
  readonly displayName: string
  /** The site's URL if it is known, else a mail address. */
  readonly address: string
  /** The alias in a group's addresses; `''` for accounts and sites. */
  readonly alias: string
  /** Whether everybody may join and read the group. */
  readonly isPublic: boolean
}

/** The organisation's mail domains, in lower case. */
export interface MailDomains {
  readonly default: string
  readonly accepted: readonly string[]
}

/** The directory's data about a person's work, by the tokens of name patterns. */
export interface Profile {
  readonly department?: string
  readonly city?: string
  readonly country?: string
  readonly company?: string
  readonly office?: string
}

/** The organisation's directory (Microsoft Graph). Other people write the texts in its answers, so only ids decide. */
export interface Directory {
  person(id: string): Promise<Account | undefined>
  /** Returns those of these people who are in the directory. Reads them again without a cache, many with one call. */
  people(ids: readonly string[]): Promise<Account[]>
  /** Returns all mail addresses of a person; an empty list for an unknown person. */
  addressesOf(id: string): Promise<string[]>
  manager(id: string): Promise<Account | undefined>
  /** Returns the work data of a person; `{}` for an unknown person. The answer may be a minute old. */
  profile(id: string): Promise<Profile>
  /** Whether the person belongs to another organisation and is invited into ours. False for an unknown person. */
  isGuest(personId: string): Promise<boolean>
  /** Returns the people in a group and in its nested groups. */
  membersOf(groupId: string): Promise<Account[]>
  ownersOf(groupId: string): Promise<Account[]>
  /** Returns the current name of a group; undefined for an unknown id. */
  groupName(groupId: string): Promise<string | undefined>
  /** Finds groups with this name, else groups whose name begins with it. Ten at most. */
  findGroups(text: string): Promise<{ readonly id: string; readonly displayName: string }[]>
  /** Returns the ids of the person's groups, also through nesting. The answer may be a minute old, except with `uncached`. */
  groupsOf(personId: string, how?: { readonly uncached: boolean }): Promise<ReadonlySet<string>>
  /** Finds people by sign-in name or mail address, else by the beginning of a name. Ten at most. */
  findPeople(text: string): Promise<Account[]>
  /** Whether the person is a guest or has another organisation's domain. */
  isExternal(personId: string): Promise<boolean>
  /** Whether the alias is free: no site has it, and no group that has or will have a site. */
  isSiteAddressFree(alias: string): Promise<boolean>
  /** Returns the ids of people who are unknown to Exchange, for example without a mailbox. They cannot get access. */
  unknownToExchange(people: readonly Person[]): Promise<readonly string[]>
  /** Whether a new mailbox can get this address: neither the address nor the part before its `@` is taken. */
  isMailboxNameFree(address: string): Promise<boolean>
  /** Whether this mail address is free. */
  isMailAddressFree(address: string): Promise<boolean>
  /** Returns the deletion time of the object with this mail address, if it can be restored and the address is unused. */
  deletedMail(address: string): Promise<Date | undefined>
  /** Returns the deletion time of the group with this site alias, if it can be restored. */
  deletedSite(alias: string): Promise<Date | undefined>
  /** Returns pages of all addresses in the tenant: people, mailboxes, groups and, if the service may list them, sites. */
  addressesInUse(): AsyncIterable<readonly HeldAddress[]>
  mailDomains(): Promise<MailDomains>
  /** Finds the provisioned group by request id (API document: `GET {directory_url}/v1.0/groups?$filter=…`). */
  findProvisionedGroup(
    requestId: string,
  ): Promise<{ id: string; displayName: string; siteId?: string; url?: string } | undefined>
  /**
   * Finds resources with a name part that begins with one of `beginnings`: sites for a site, accounts for a mailbox. Returns a
   * hundred at most, in the directory's order. Only {@link visibleTo} tells which of them a person may see.
   */
  similar(query: SimilarQuery): Promise<readonly Candidate[]>
  /** Returns the candidates of the requested kind whose names this person may read. */
  visibleTo(person: Person, candidates: readonly Candidate[], query: SimilarQuery): Promise<readonly Candidate[]>
}

/** A property that the directory did not return for an account, by its name in Microsoft Graph. */
export type UnreadProperty = 'accountEnabled' | 'userType'
/** A person with the directory's current data. */
export interface Account extends Person {
  readonly isBlocked?: true
  readonly isGuest?: true
  /** The unreadable properties; absent if all were read. An unread property never gives anybody a right. */
  readonly unread?: readonly UnreadProperty[]
}

/** Returns why the directory is unavailable. Only the health report and the log name a missing permission, for admins. */
function whyAway(error: TenantError): Reason {
  if (isBusy(error)) return error.reason
  return because(isPermissionMissing(error) ? 'permissionMissing' : 'directoryAway')
}

/** Runs a call to the directory. Throws `unavailable` instead of a `TenantError`, so that the caller tries again. */
export async function asking<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    throw new ProvisioningError('unavailable', whyAway(error), { cause: error })
  }
}

/** An address and its holder in the tenant: the object id of a person, mailbox or group, or a site's id. */
export interface HeldAddress {
  readonly key: string
  readonly holder: string
}
