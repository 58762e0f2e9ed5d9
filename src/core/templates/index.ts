/**
 * The template: its fields, properties, limits, versions and policies (names, approval conditions, webhook address).
 * `naming` and `approvals` apply the policies to requests. `operations` contains the use cases of admins for templates.
 */
export * from './approval-policy.ts'
export * from './catalogue.ts'
export * from './field.ts'
export { allNamesOf, inLocale } from './localised.ts'
export * from './name-pattern.ts'
export * from './naming-policy.ts'
export * from './property.ts'
export * from './refused-names.ts'
export * from './starters.ts'
export * from './template.ts'
export * from './template-faults.ts'
export * from './webhook.ts'
