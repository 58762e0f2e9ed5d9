/**
 * The template: its fields, properties, limits, versions, and the policies it carries (names, approval conditions, webhook address).
 * How a policy is applied to a request is decided in `naming` and `approvals`. Admins write templates in `operations`.
 */
export * from './approval-policy.ts'
export * from './catalogue.ts'
export * from './field.ts'
export * from './name-pattern.ts'
export * from './naming-policy.ts'
export * from './property.ts'
export * from './refused-names.ts'
export * from './starters.ts'
export * from './template.ts'
export * from './template-faults.ts'
export * from './webhook.ts'
