import { z } from 'zod'

/** An API of the organisation itself, registered with Entra ID. */
export const apiRegistration = z.strictObject({
  /** Entra ID's id of the registration (application id). */
  clientId: z.uuid().toLowerCase(),
  /** Clients name the API by one of these URIs in a scope, or by the client id. */
  appIdUris: z.array(z.string().regex(/^[a-z]+:\/\/\S*[^\s/]$/, 'must be an address without a slash at the end')),
  /** Names of the delegated scopes, and of the app roles. */
  permissions: z.array(z.string()).default(['App.ReadWrite.All']),
})
export type ApiRegistration = z.output<typeof apiRegistration>

type Registrations = { apis: readonly ApiRegistration[] }

/** Finds the API that a scope names before its last slash: by client id or App ID URI. */
export function findApi({ apis }: Readonly<Registrations>, resource: string): ApiRegistration | undefined {
  const key = resource.toLowerCase()
  return apis.find(({ clientId, appIdUris }) => clientId === key || appIdUris.some((uri) => uri.toLowerCase() === key))
}

/** Registers an API, or adds App ID URIs to its registration. In memory only: a restart forgets it. */
export function registerApi(tenant: Registrations, registration: z.input<typeof apiRegistration>): ApiRegistration {
  const api = apiRegistration.parse(registration)
  const known = findApi(tenant, api.clientId)
  const registered = { ...api, appIdUris: [...new Set([...(known?.appIdUris ?? []), ...api.appIdUris])] }
  tenant.apis = [...tenant.apis.filter((each) => each !== known), registered]
  return registered
}
