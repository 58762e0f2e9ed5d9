/**
 * The kinds of mailboxes and sites: their fields, the steps that create them, and the checks of the result. The port `Tenant` runs
 * the steps. Requests, templates and names do not belong here.
 */
export * from './mailbox.ts'
export * from './site.ts'
export * from './tenant.ts'
