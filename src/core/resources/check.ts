import { z } from 'zod'
import type { MailboxStep } from './mailbox.ts'
import type { SiteStep } from './site.ts'

/** What the ready check reads back from the tenant, and which step puts right what it finds wrong. */
export const checkSteps = {
  siteOpens: 'wait-for-site',
  owners: 'add-owners',
  label: 'apply-label',
  address: 'create-mailbox',
  mailboxType: 'create-mailbox',
  signInBlocked: 'block-sign-in',
  alias: 'apply-settings',
  capacity: 'apply-settings',
  visibility: 'apply-settings',
  customAttributes: 'apply-settings',
  contact: 'apply-contact',
  place: 'apply-place',
  booking: 'apply-booking',
  fullAccess: 'grant-access',
  sendAs: 'grant-access',
  automaticReply: 'apply-automatic-reply',
} as const satisfies Record<string, SiteStep | MailboxStep>
export type CheckName = keyof typeof checkSteps
export const checkNames = Object.keys(checkSteps) as [CheckName, ...CheckName[]]

/** One thing that was asked for, read back: whether the tenant has it, and if not, what it has instead (for admins). */
export const check = z.object({
  name: z.enum(checkNames),
  ok: z.boolean(),
  detail: z.string().default(''),
  notVisibleYet: z
    .boolean()
    .optional()
    .describe('True when the tenant has accepted the values but shows them only later, up to 24 hours. No fault.'),
})
export type Check = z.output<typeof check>

/** Whether the request fails for it. Values that the tenant has accepted and shows later are no fault. */
export const isFault = ({ ok, notVisibleYet }: Check): boolean => !ok && notVisibleYet !== true
