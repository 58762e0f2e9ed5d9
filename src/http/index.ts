/** The HTTP room's door. */
export type { TokenOptions } from './authenticate.ts'
export { definePublicRoute, defineRoute, type Route, routeRegistry } from './define-route.ts'
export type { LimitOptions } from './limits.ts'
export { problemBody } from './problem.ts'
export { routes } from './routes/index.ts'
export { createHttpServer } from './server.ts'
export type { Health, HttpLog, HttpOptions, HttpServer, MessagesHandler } from './services.ts'
export { createSigningKeys, type SigningKeys } from './signing-keys.ts'
