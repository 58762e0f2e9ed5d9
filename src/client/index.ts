/**
 * The client's only entry: a typed client of the service for other programs. It runs on Node 20 and later, and wherever
 * `fetch` exists, and contains no code of the server.
 *
 * ```ts
 * const client = createClient({ baseUrl, directoryUrl, token: (resource) => yourTokenFor(resource) })
 * const { requestId } = await client.createSite({ displayName: 'Apollo', templateId })
 * const request = await client.waitForRequest(requestId, { onChange: ({ status }) => show(status) })
 * if (request.status === 'succeeded') show(request.resource)
 * ```
 */

export type { Fetch } from './call.ts'
export { realTiming, type Timing } from './call.ts'
export {
  type AddressOptions,
  type BatchWaitOptions,
  type Client,
  type ClientOptions,
  createClient,
  type DecisionOptions,
  type EndingOptions,
  isBatchOver,
  type ReassignOptions,
  type RejectionOptions,
} from './client.ts'
export type { GroupWaitOptions } from './directory.ts'
export {
  type CallAbout,
  DirectoryError,
  type FieldFault,
  NetworkError,
  type ProblemCode,
  type ProblemDetails,
  ProblemError,
  problemCodes,
  type QuartermasterError,
  StillUnderWayError,
  TimedOutError,
  UnexpectedAnswerError,
} from './errors.ts'
export type * from './types.ts'
export { isOver, type WaitOptions } from './wait.ts'
export { verifyProvisioningWebhook, WebhookError, type WebhookHeaders } from './webhook.ts'
