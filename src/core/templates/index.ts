/**
 * The template: its fields, properties, limits, versions, and the policies it carries (names, approval conditions, webhook address).
 * How a policy is applied to a request is decided in `naming` and `approvals`. Admins write templates in `operations`.
 */
export * from './approval-policy.ts'
export * from './blocked-words.ts'
export * from './catalogue.ts'
export * from './condition.ts'
export * from './conflicts.ts'
export * from './field.ts'
export * from './form-size.ts'
export * from './limits.ts'
export * from './name-pattern.ts'
export * from './naming-policy.ts'
export * from './ports.ts'
export * from './property.ts'
export * from './reserved-names.ts'
export * from './signing-secrets.ts'
export * from './template.ts'
export * from './version.ts'
export * from './webhook-address.ts'
