import { coreWith, requestOf, startIssuer, startRest } from './rest.ts'

/** The APIs of each audience, each with a call that the core of this test answers. */
export const calls = {
  mailbox: ['POST', '/mail/v1/mailboxes/', { name: 'info', displayName: 'Info' }],
  site: ['POST', '/collab/v1/spo/', { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }],
  requests: ['GET', '/requests/v1/', undefined],
  templates: ['GET', '/templates/v1/', undefined],
} as const
export type Call = keyof typeof calls
export const callNames = Object.keys(calls) as Call[]
/** The status of an accepted call. */
export const granted = { mailbox: 202, site: 202, requests: 200, templates: 200 } as const

/** Starts the REST API with a core that accepts everybody and records the callers, for tests of the token alone. */
export async function startTokenDoor({ now }: { now?: () => Date } = {}) {
  const issuer = await startIssuer()
  const actors: unknown[] = []
  const provisioning = coreWith({
    actor: async (identity: { tenantId: string; id: string }) => {
      actors.push(identity)
      return { ...identity, displayName: 'Caller', userPrincipalName: '', isAdmin: false }
    },
    submitMailbox: async () => requestOf(),
    submitSite: async () => requestOf(),
    listRequests: async () => ({ requests: [] }),
    listTemplates: async () => [],
  })
  const rest = await startRest(issuer, { core: provisioning, ...(now && { clock: { now } }) })
  return {
    issuer,
    rest,
    /** The callers that reached the core. Callers with a refused token are not among them. */
    actors,
    call: async (name: Call, token: string) => {
      const [method, path, body] = calls[name]
      return rest.call(method, path, { body, headers: { authorization: `Bearer ${token}` } })
    },
  }
}
