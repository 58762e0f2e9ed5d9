import { type Operation, Refused } from '../tenant/index.ts'
import { sharePointError } from './wire.ts'

/** SharePoint's application permissions: each includes those before it. */
const levels = ['Sites.Read.All', 'Sites.ReadWrite.All', 'Sites.Manage.All', 'Sites.FullControl.All']

/** Reads of a site's own properties. All other operations create sites, change owners or read people's permissions. */
const reads = [
  'sharepoint.web.get',
  'sharepoint.site.get',
  'sharepoint.owners.list',
  'sharepoint.site.exists',
  'sharepoint.alias.check',
]

/**
 * Refuses apps without the permission that an operation needs: any level for reads, Sites.FullControl.All for the others.
 * Without any SharePoint role the answer is 401, otherwise 403. People are checked by the sites themselves.
 */
export function permitted(one: Operation): Operation {
  const needed = reads.includes(one.name) ? levels : levels.slice(-1)
  return {
    ...one,
    handle: (call) => {
      const { appOnly, permissions } = call.caller
      if (!appOnly || permissions.some((name) => needed.includes(name))) return one.handle(call)
      const message = 'Attempted to perform an unauthorized operation.'
      const status = permissions.some((name) => levels.includes(name)) ? 403 : 401
      throw new Refused(sharePointError(status, '-2147024891, System.UnauthorizedAccessException', message))
    },
  }
}
