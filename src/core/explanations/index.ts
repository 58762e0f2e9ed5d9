/** Explanations: why this approver, why this name, why it takes this long. */
export * from './codes.ts'
export * from './explanation.ts'
export * from './explanation-approval.ts'
export * from './explanation-time.ts'
