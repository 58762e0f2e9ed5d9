import { coreWith, requestOf, startIssuer, startRest } from './rest.ts'

/** The addresses that each audience's tokens open, each with a call that the core behind this door answers. */
export const calls = {
  mailbox: ['POST', '/mail/v1/mailboxes/', { name: 'info', displayName: 'Info' }],
  site: ['POST', '/collab/v1/spo/', { displayName: 'Apollo', templateId: 'bbbbbbbb-0000-4000-8000-000000000001' }],
  requests: ['GET', '/requests/v1/', undefined],
  templates: ['GET', '/templates/v1/', undefined],
} as const
export type Call = keyof typeof calls
export const callNames = Object.keys(calls) as Call[]
/** What a call is answered with that is let in. */
export const granted = { mailbox: 202, site: 202, requests: 200, templates: 200 } as const

/** The REST API before a core that lets everybody in and notes who they are: for what is decided by the token alone. */
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
    /** Who came to the core: nobody whose token was refused. */
    actors,
    call: async (name: Call, token: string) => {
      const [method, path, body] = calls[name]
      return rest.call(method, path, { body, headers: { authorization: `Bearer ${token}` } })
    },
  }
}
