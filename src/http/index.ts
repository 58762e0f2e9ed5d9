/** HTTP: `server/` is how a call is served, `routes/` what each call does. No rules of the product. */

export { routes } from './routes/index.ts'
export type { Api, TokenOptions } from './server/authenticate.ts'
export { createSigningKeys, type SigningKeys } from './server/authenticate.ts'
export { definePublicRoute, defineRoute, type Route, routeRegistry } from './server/define-route.ts'
export { createHttpServer } from './server/index.ts'
export { createLimitsOfUse, createOwnBuckets, type LimitOptions } from './server/limits.ts'
export { openApiOf } from './server/openapi.ts'
export { faultMeanings, problemBody } from './server/problem.ts'
export { type ProblemCode, problemCodes } from './server/problem-codes.ts'
export type { Health, HttpLog, HttpOptions, HttpServer, MessagesHandler, Metrics } from './server/services.ts'
