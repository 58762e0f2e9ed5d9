/**
 * Calls to Microsoft 365: sign-in with a certificate, HTTP with retries, limits and errors, one caller for each service
 * (Graph, SharePoint, Exchange) and what all provisioning steps share. Nothing here knows templates, requests or kinds of
 * resources. This room imports no other room of the layer.
 */
export * from './answer.ts'
export * from './call.ts'
export * from './certificate.ts'
export * from './exchange.ts'
export * from './exchange-cmdlets.ts'
export * from './graph.ts'
export * from './permissions.ts'
export * from './sharepoint.ts'
export * from './sign-in.ts'
export * from './steps.ts'
