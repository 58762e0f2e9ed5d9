/**
 * Objects that administrators create in Entra ID and in Teams' catalogue: registrations, service principals, consents,
 * roles, schema extensions, apps. Microsoft's own service principals are in `microsoft.json`. Imports `tenant`.
 */
export * from './applications.ts'
export * from './catalogue.ts'
export * from './grants.ts'
export * from './microsoft.ts'
export * from './principals.ts'
export { seedAdministration } from './seed.ts'
export { allOf, change, isReplicated, type Kind, remove, type Stored, store } from './store.ts'
