/**
 * The shared parts of all simulated services: the tenant's state in SQLite, the organisation Contoso, and the shape of
 * calls and replies (`wire.ts`). No service's URLs or errors belong here. This room imports no other room of the layer.
 */

export * from './contoso.ts'
export * from './groups.ts'
export * from './mailboxes.ts'
export * from './sites.ts'
export * from './state.ts'
export * from './wire.ts'
