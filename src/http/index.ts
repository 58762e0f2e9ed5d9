/** HTTP: `server/` serves a call, `routes/` defines what each call does. No rules of the product. */

export { routes } from './routes/index.ts'
export { type Api, createSigningKeys } from './server/authenticate.ts'
export { definePublicRoute, type Route, routeRegistry } from './server/define-route.ts'
export { createHttpServer, type HttpOptions } from './server/index.ts'
export { createOwnBuckets, createRateLimits, type LimitOptions } from './server/limits.ts'
export { openApiOf } from './server/openapi.ts'
export { faultMeanings, problemBody } from './server/problem.ts'
export { type ProblemCode, problemCodes } from './server/problem-codes.ts'
