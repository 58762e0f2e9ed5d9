/** What an organisation decides about the service as a whole. Times in seconds. */
export interface Settings {
  readonly tenantId: string
  /** Entra object ids of people and groups. Read at use, so a removed admin is none at once. */
  readonly admins: readonly string[]
  /** Whether an admin may decide alone what they have reassigned to themselves. */
  readonly adminDecidesOwnReassignment?: boolean
  readonly openRequestsPerPerson: number
  /** Client ids of the applications that may act for themselves; undefined: whoever looked at their token has decided. */
  readonly mailApplications?: readonly string[]
  readonly approvals: ApprovalTimes
  /** At which hour of their day, 0 to 23, people get a summary of what is open for them; null = nobody does. */
  readonly digest: { readonly hour: number } | null
  readonly followUp: { readonly firstSeconds: number; readonly everySeconds: number; readonly stopSeconds: number }
  /** The bot's own subscription, or null when it is switched off and the poll alone reports. */
  readonly followUpWebhookUrl: string | null
  /** Networks (`10.1.0.0/16`) that webhooks of templates may go to although they are private, and by http. */
  readonly webhookAllowCidrs: readonly string[]
  /** Where links to exports lead, and the key that seals them; without it there are none. */
  readonly exportLinks?: { readonly root: string; readonly key: Uint8Array }
  /** For how many days the address of a person who has left, or of a former resource, is kept from others; absent or 0: not at all. */
  readonly formerAddressDays?: number
  /** After how many days a request that has ended is reduced to what the audit needs; absent: never. */
  readonly retentionDays?: number
  /** The secret that the bot signs in with, and when it ends; null: unknown. Absent: the bot signs in without a secret. */
  readonly botSecret?: { readonly endsAt: Date | null }
}

/** When something is done for want of a decision, counted from the moment that a stage's turn came; 0 = never. */
export interface ApprovalTimes {
  /** From then on somebody without a chat is taken for unreachable. */
  readonly reachMinutes: number
  readonly remindAfterHours: number
  readonly escalateAfterHours: number
  /** Never 0. */
  readonly expireAfterDays: number
}
