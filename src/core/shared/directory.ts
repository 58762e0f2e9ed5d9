import { isBusy, isPermissionMissing, ProvisioningError, TenantError } from './errors.ts'
import { asWritten, because, type Reason } from './reason.ts'
import type { Person, ResourceKind } from './resource.ts'

/** Which resources are looked for, and until when anybody waits for the answer. */
export interface SimilarQuery {
  readonly kind: ResourceKind
  /** Beginnings of words: letters and digits only, in lower case. */
  readonly beginnings: readonly string[]
  readonly signal: AbortSignal
}

/** Something that the tenant has, by its name. */
export interface Candidate {
  /** What has this id: a Microsoft 365 group, an account, or a site that no group was found for. */
  readonly of: 'group' | 'account' | 'site'
  readonly id: string
  readonly displayName: string
  /** The site's URL as far as it is known, else a mail address. */
  readonly address: string
  /** What a group's addresses are made of; `''` of anything else. */
  readonly alias: string
  /** A group that everybody may join and read. */
  readonly isPublic: boolean
}

/** The domains that the organisation takes mail for, in lower case. */
export interface MailDomains {
  readonly default: string
  readonly accepted: readonly string[]
}

/** What the directory knows of where somebody works, by the tokens that names are made of. */
export interface Profile {
  readonly department?: string
  readonly city?: string
  readonly country?: string
  readonly company?: string
  readonly office?: string
}

/** The organisation's directory (Microsoft Graph). Every answer is somebody else's text: ids decide. */
export interface Directory {
  person(id: string): Promise<Account | undefined>
  /** Those of these people who are in the directory, asked anew: few questions for many. */
  people(ids: readonly string[]): Promise<Account[]>
  /** Every mail address of a person; none of whom it does not know. */
  addressesOf(id: string): Promise<string[]>
  manager(id: string): Promise<Account | undefined>
  /** Where somebody works; nothing of whom it does not know. The answer may be a minute old. */
  profile(id: string): Promise<Profile>
  /** Whether somebody is of another organisation and only invited into ours. Nobody, for who is not known. */
  isGuest(personId: string): Promise<boolean>
  /** The people in a group, through nesting too. */
  membersOf(groupId: string): Promise<Account[]>
  ownersOf(groupId: string): Promise<Account[]>
  /** What a group is called now; undefined when there is none of that id. */
  groupName(groupId: string): Promise<string | undefined>
  /** Groups by their name, or else by its beginning. Ten at most. */
  findGroups(text: string): Promise<{ readonly id: string; readonly displayName: string }[]>
  /** Ids of the groups that the person is in, through nesting too. The answer may be a minute old, unless asked anew. */
  groupsOf(personId: string, how?: { readonly anew: boolean }): Promise<ReadonlySet<string>>
  /** People by what others type of them: a sign-in name or mail address, else the beginning of a name. Ten at most. */
  findPeople(text: string): Promise<Account[]>
  /** Whether the person is a guest, or of another organisation's domain. */
  isExternal(personId: string): Promise<boolean>
  /** Whether no site and no group's site has this alias, or will have it. */
  isSiteAddressFree(alias: string): Promise<boolean>
  /** The ids of those people whom Exchange does not know, and who can be given no access: who has no mailbox, say. */
  unknownToExchange(people: readonly Person[]): Promise<readonly string[]>
  /** Whether a mailbox can be made of this address: nobody has the address, nor what stands before its `@` as a name. */
  isMailboxNameFree(address: string): Promise<boolean>
  /** Whether nobody has this mail address. */
  isMailAddressFree(address: string): Promise<boolean>
  /** When what had this mail address was deleted, if it can still be restored and nothing else has the address. */
  deletedMail(address: string): Promise<Date | undefined>
  /** The same of a site's alias: when its group was deleted. */
  deletedSite(alias: string): Promise<Date | undefined>
  /** Returns all addresses of the tenant in pages: of people, mailboxes, groups and, where they may be listed, sites. */
  addressesInUse(): AsyncIterable<readonly HeldAddress[]>
  mailDomains(): Promise<MailDomains>
  /** The API document's look-up by request id: `GET {directory_url}/v1.0/groups?$filter=…`. */
  findProvisionedGroup(
    requestId: string,
  ): Promise<{ id: string; displayName: string; siteId?: string; url?: string } | undefined>
  /**
   * Resources whose name has a word that begins like one of these: for a site all sites, for a mailbox all accounts. As
   * the directory orders them, a hundred at most. No names for people yet: see {@link visibleTo}.
   */
  similar(query: SimilarQuery): Promise<readonly Candidate[]>
  /** Those of them whose names this person may read, which are of the kind that is asked for. */
  visibleTo(person: Person, candidates: readonly Candidate[], query: SimilarQuery): Promise<readonly Candidate[]>
}

/** What of an account the directory did not tell, by the names of Microsoft Graph. */
export type UnreadProperty = 'accountEnabled' | 'userType'
/** A person as the directory knows them now. */
export interface Account extends Person {
  readonly isBlocked?: true
  readonly isGuest?: true
  /** What was not readable; absent when everything was. Nobody gets a right from what was not read. */
  readonly unread?: readonly UnreadProperty[]
}

/** Why the directory is unavailable. Only the health report and the log name a missing permission: they are for admins. */
function whyAway(error: TenantError): Reason {
  if (isBusy(error)) return asWritten(error.message)
  return because(isPermissionMissing(error) ? 'permissionMissing' : 'directoryAway')
}

/** A directory that does not answer is "try again", not a defect. */
export async function asking<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof TenantError)) throw error
    throw new ProvisioningError('unavailable', whyAway(error), { cause: error })
  }
}

/** An address with what holds it in the tenant: the object id of a person, mailbox or group, or a site's id. */
export interface HeldAddress {
  readonly key: string
  readonly holder: string
}
