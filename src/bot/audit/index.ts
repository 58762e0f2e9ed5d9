/** The audit of a request or of the organisation, for admins. */
export * from './audit.ts'
