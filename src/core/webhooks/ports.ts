import type { ProvisioningPorts } from '../provisioning/index.ts'
import type { WebhookEndpoint } from './endpoint.ts'

/** How receivers of webhooks do. One that nobody has stored does well. */
export interface WebhookEndpointStore {
  /** Those of the tenant that fail or are switched off, in any order. */
  troubled(tenantId: string): Promise<WebhookEndpoint[]>
  find(endpointId: string): Promise<WebhookEndpoint | undefined>
  /** Stores one that is not known yet, reads it as it is stored, and locks it until the transaction ends. */
  lock(endpoint: WebhookEndpoint): Promise<WebhookEndpoint>
  update(endpoint: WebhookEndpoint): Promise<void>
  /** Forgets how those of a template did. */
  forget(tenantId: string, templateId: string): Promise<void>
}

/** The addresses that a host's name has just now. Rejects when it has none or nobody answers. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>
/**
 * Sends one webhook now, outside the queue, and gives what came of it as the log of deliveries says it. `own`: the bot's own
 * subscription, which goes to where the service itself is.
 */
export type SendWebhook = (message: {
  readonly url: string
  /** The `webhook-id`. */
  readonly id: string
  readonly at: Date
  readonly body: string
  readonly secrets: readonly string[] | 'own'
}) => Promise<{ readonly said: string; readonly milliseconds: number }>

/** The ports that this room and the rooms above it need. */
export interface WebhookPorts extends ProvisioningPorts {
  readonly endpoints: WebhookEndpointStore
  readonly resolveHost: ResolveHost
  readonly sendWebhook: SendWebhook
}
