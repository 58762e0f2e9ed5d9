import { because, type MailboxKind, type Reason } from '../../core/index.ts'

/** A change to a list property: Exchange's hashtable in JSON, as the EXO v3 module sends it. */
export interface ListChange {
  readonly '@odata.type': '#Exchange.GenericHashTable'
  readonly add: readonly string[]
}

interface OfMailbox {
  /** Guid, object id, address or user principal name. */
  readonly Identity: string
}
/** Custom attributes that templates may assign. The 15th holds the request's id. */
export const customAttributeNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] as const
export type CustomAttribute = `CustomAttribute${(typeof customAttributeNumbers)[number]}`

type Quotas = Partial<Record<'IssueWarningQuota' | 'ProhibitSendQuota' | 'ProhibitSendReceiveQuota', string>>
type UserText =
  | 'City'
  | 'Company'
  | 'CountryOrRegion'
  | 'Department'
  | 'Notes'
  | 'Office'
  | 'Phone'
  | 'PostalCode'
  | 'StateOrProvince'
  | 'StreetAddress'
type PlaceText =
  | 'AudioDeviceName'
  | 'City'
  | 'CountryOrRegion'
  | 'DisplayDeviceName'
  | 'Phone'
  | 'PostalCode'
  | 'State'
  | 'Street'
  | 'VideoDeviceName'

/** The cmdlets and parameters of Exchange Online that this service uses, by their published names. */
export interface CmdletParameters {
  'New-Mailbox': {
    readonly Name: string
    readonly DisplayName: string
    readonly Alias: string
    readonly PrimarySmtpAddress: string
    readonly Shared?: true
    readonly Equipment?: true
    readonly Room?: true
  }
  'Set-Mailbox': OfMailbox &
    Quotas &
    Partial<Record<CustomAttribute | 'CustomAttribute15', string>> & {
      readonly EmailAddresses?: ListChange
      readonly HiddenFromAddressListsEnabled?: boolean
      readonly ResourceCapacity?: number
    }
  'Set-User': OfMailbox & Partial<Record<UserText, string>> & { readonly OtherTelephone?: readonly string[] }
  'Set-Place': OfMailbox &
    Partial<Record<PlaceText, string>> & {
      readonly Capacity?: number
      readonly IsWheelChairAccessible?: boolean
      readonly Tags?: readonly string[]
    }
  'Set-CalendarProcessing': OfMailbox & { readonly AutomateProcessing: 'AutoAccept' }
  'Add-MailboxPermission': OfMailbox & {
    readonly User: string
    readonly AccessRights: readonly ['FullAccess']
    readonly InheritanceType: 'All'
    readonly AutoMapping?: boolean
  }
  'Add-RecipientPermission': OfMailbox & {
    readonly Trustee: string
    readonly AccessRights: readonly ['SendAs']
    /** Suppresses the cmdlet's interactive question. */
    readonly Confirm: false
  }
  'Set-MailboxAutoReplyConfiguration': OfMailbox & {
    readonly AutoReplyState?: 'Enabled'
    readonly InternalMessage?: string
    readonly ExternalMessage?: string
    readonly ExternalAudience?: 'All'
  }
  'Remove-Mailbox': OfMailbox & { readonly Confirm: false }
  'Get-Mailbox': OfMailbox | { readonly Filter: string } | { readonly ResultSize: number }
  'Get-Recipient': { readonly Filter: string; readonly RecipientTypeDetails?: readonly string[] }
  'Get-User': OfMailbox
  'Get-Place': OfMailbox
  'Get-CalendarProcessing': OfMailbox
  'Get-MailboxPermission': OfMailbox
  'Get-RecipientPermission': OfMailbox
  'Get-MailboxAutoReplyConfiguration': OfMailbox
}
export type Cmdlet = keyof CmdletParameters
/** Cmdlets that change nothing. */
export type ReadingCmdlet = Extract<Cmdlet, `Get-${string}`>
/** Cmdlets of the steps that create mailboxes. */
export type WritingCmdlet = Exclude<Cmdlet, ReadingCmdlet | 'Remove-Mailbox'>

/** The purpose of each cmdlet, as a reason whose text completes "… while". */
export const purposes: { readonly [C in Cmdlet]: Reason } = {
  'New-Mailbox': because('creatingMailbox'),
  'Set-Mailbox': because('changingMailbox'),
  'Set-User': because('writingContact'),
  'Set-Place': because('writingPlace'),
  'Set-CalendarProcessing': because('settingBookings'),
  'Add-MailboxPermission': because('grantingFullAccess'),
  'Add-RecipientPermission': because('grantingSendAs'),
  'Set-MailboxAutoReplyConfiguration': because('settingReply'),
  'Remove-Mailbox': because('deletingCheckMailbox'),
  'Get-Mailbox': because('findingMailbox'),
  'Get-Recipient': because('checkingAddress'),
  'Get-User': because('readingContact'),
  'Get-Place': because('readingPlace'),
  'Get-CalendarProcessing': because('readingBookings'),
  'Get-MailboxPermission': because('readingFullAccess'),
  'Get-RecipientPermission': because('readingSendAs'),
  'Get-MailboxAutoReplyConfiguration': because('readingReply'),
}

/** The cmdlets that the service uses, without Remove-Mailbox: the service removes nothing. */
export const cmdlets = (Object.keys(purposes) as Cmdlet[]).filter((one) => one !== 'Remove-Mailbox')

/**
 * Returns parameters that change nothing, even if the id of nobody belonged to somebody: New-Mailbox lacks a name, the
 * others lack a value.
 */
export function harmlessParameters(cmdlet: Cmdlet, nobody: string): object {
  if (cmdlet === 'New-Mailbox') return { Shared: true }
  if (cmdlet === 'Get-Mailbox') return { ResultSize: 1 }
  if (cmdlet === 'Get-Recipient') return { Filter: `Guid -eq '${nobody}'` }
  // With an unknown identity Get-Place lists all places.
  if (cmdlet === 'Get-Place') return { ResultSize: 1 }
  if (cmdlet === 'Add-MailboxPermission') return { Identity: nobody, User: nobody, AccessRights: ['FullAccess'] }
  if (cmdlet === 'Add-RecipientPermission')
    return { Identity: nobody, Trustee: nobody, AccessRights: ['SendAs'], Confirm: false }
  return { Identity: nobody }
}

/** Exchange's names for the kinds of mailboxes. */
export const recipientTypes: { readonly [K in MailboxKind]: string } = {
  sharedMailbox: 'SharedMailbox',
  equipmentMailbox: 'EquipmentMailbox',
  roomMailbox: 'RoomMailbox',
}
