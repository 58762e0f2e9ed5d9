/** Templates and their policies. */
export * from './admin-template.ts'
export * from './admin-templates.ts'
export * from './template-policies.ts'
