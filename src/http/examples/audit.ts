export const readAuditExamples = {} as const
