import type { Api } from '../http/index.ts'

/** The permission that every call needs, as the registrations of the APIs name it. */
const permission = 'App.ReadWrite.All'

const isUri = (audience: string): boolean => audience.includes('://')

/** The scope that callers request for an API unless a setting names it: of its first App ID URI, else `api://{client id}`. */
function scopeOf(audiences: readonly string[]): string {
  const uri = audiences.find(isUri) ?? `api://${audiences[0]}`
  return `${uri.replace(/\/+$/, '')}/${permission}`
}

/**
 * Whose tokens an API accepts and which scope callers request, from its settings. A token's `aud` is the API's client id in
 * version 2, and the URI that the client named in version 1. `uri` is the default; local mode has a registration as well.
 */
export function apiOf(
  { audiences, scope }: { readonly audiences: readonly string[]; readonly scope: string | undefined },
  uri: string,
  clientId?: string,
): Api {
  const usual = clientId === undefined ? [uri] : [clientId, `api://${clientId}`, uri]
  const accepted = audiences.length > 0 ? audiences : usual
  return { audiences: accepted, scope: scope ?? scopeOf(accepted) }
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Why a scope cannot be what callers request for an API with these audiences, as one sentence; undefined when it can. */
export function scopeFault(name: 'COLLAB' | 'MAIL', scope: string, audiences: readonly string[]): string | undefined {
  const example = `such as api://<client id of the API>/${permission}`
  const [, resource, last] = /^([^\s"\\]+)\/([^\s"\\/]+)$/.exec(scope) ?? []
  if (resource === undefined || !(isUri(`${resource}/`) || guid.test(resource.toLowerCase()))) {
    return `${name}_SCOPE must be one whole scope, ${example}, not ${scope}.`
  }
  if (last !== permission && last !== '.default') {
    return `${name}_SCOPE must end with /${permission}: the service accepts no token without that permission.`
  }
  const id = resource.toLowerCase().replace(/^api:\/\//, '')
  const accepted = audiences.flatMap((each) => each.toLowerCase().replace(/^api:\/\//, ''))
  if (guid.test(id) && audiences.length > 0 && !accepted.includes(id) && accepted.some((each) => guid.test(each))) {
    return `${name}_SCOPE requests tokens for ${id}, which ${name}_AUDIENCE does not name: add ${id} to ${name}_AUDIENCE.`
  }
  return undefined
}
