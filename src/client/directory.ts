import type { SendCall, Timing } from './call.ts'
import { idOf, isObject, textOf } from './call.ts'
import { DirectoryError } from './errors.ts'
import type { CallOptions, FoundPerson, ProvisionedGroup } from './types.ts'

interface DirectoryParts {
  readonly send: SendCall
  readonly root: string
  /** The name of the extension on groups: `svc_group`. */
  readonly extension: string
}

/** When to poll for a group (API document, "Limits"), in seconds. */
export interface GroupWaitOptions extends CallOptions {
  /** The first poll: after 20 s by default, because the group appears 15 to 20 s after the site. */
  readonly firstSeconds?: number
  /** Between two polls: 10 by default. */
  readonly everySeconds?: number
  /** From the first poll to the last: 30 by default. */
  readonly stopSeconds?: number
}

/** Looks up the user id of a sign-in name (Graph accepts it instead of the id). */
export async function findUserId(
  parts: Pick<DirectoryParts, 'send' | 'root'>,
  signInName: string,
  options: CallOptions = {},
): Promise<string | undefined> {
  const user = await readUser(parts, signInName, ['id'], options)
  return user && textOf(user['id'])
}

/** Looks up the names of a person by user id or sign-in name. */
export async function findPerson(
  parts: Pick<DirectoryParts, 'send' | 'root'>,
  idOrName: string,
  options: CallOptions = {},
): Promise<FoundPerson | undefined> {
  const user = await readUser(parts, idOrName, ['id', 'displayName', 'userPrincipalName'], options)
  const [id = '', displayName = '', userPrincipalName = ''] = ['id', 'displayName', 'userPrincipalName'].map((field) =>
    textOf(user?.[field]),
  )
  return id ? { id, displayName, userPrincipalName } : undefined
}

async function readUser(
  { send, root }: Pick<DirectoryParts, 'send' | 'root'>,
  idOrName: string,
  fields: readonly string[],
  { signal }: CallOptions,
): Promise<Record<string, unknown> | undefined> {
  const path = '/v1.0/users'
  try {
    const { body } = await send({
      about: { method: 'GET', path },
      url: `${root}${path}/${encodeURIComponent(idOrName)}?$select=${fields.join()}`,
      resource: 'directory',
      fields: ['id'],
      signal,
    })
    return body
  } catch (error) {
    if (error instanceof DirectoryError && error.status === 404) return undefined
    throw error
  }
}

/**
 * Looks up a group once (API document, "Look up the provisioned group"): `$filter={extension}/requestId eq
 * '{requestId}'`.
 */
export async function findProvisionedGroup(
  { send, root, extension }: DirectoryParts,
  requestId: string,
  { signal }: CallOptions = {},
): Promise<ProvisionedGroup | undefined> {
  const id = idOf('request', requestId)
  const path = '/v1.0/groups'
  const filter = encodeURIComponent(`${extension}/requestId eq '${id}'`)
  const { body } = await send({
    about: { method: 'GET', path, requestId: id },
    url: `${root}${path}?$filter=${filter}&$select=id,displayName,${extension}`,
    resource: 'directory',
    fields: ['value'],
    signal,
  })
  const value: unknown = body?.['value']
  const groups = Array.isArray(value) ? value.filter(isObject) : []
  const [first] = groups
  return first && shown(first, extension, groups.length > 1)
}

/** With several groups it is unknown which one belongs to the site. */
function shown(group: Record<string, unknown>, extension: string, isAmbiguous: boolean): ProvisionedGroup {
  const found = { id: textOf(group['id']), displayName: textOf(group['displayName']) }
  const about = group[extension]
  if (isAmbiguous || !isObject(about)) return found
  const { extensionAttribute1: siteId, extensionAttribute3: url } = about
  return {
    ...found,
    ...(typeof siteId === 'string' && { siteId }),
    ...(typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url) && { url }),
  }
}

/** Polls until the group appears; undefined after the last poll without it, although it may still appear later. */
export async function waitForProvisionedGroup(
  parts: DirectoryParts,
  timing: Timing,
  requestId: string,
  { firstSeconds = 20, everySeconds = 10, stopSeconds = 30, signal }: GroupWaitOptions = {},
): Promise<ProvisionedGroup | undefined> {
  const last = timing.now() + (firstSeconds + stopSeconds) * 1000
  await timing.sleep(firstSeconds * 1000, signal)
  for (;;) {
    const group = await findProvisionedGroup(parts, requestId, { signal })
    const pause = Math.max(everySeconds, 1) * 1000
    if (group || timing.now() + pause > last) return group
    await timing.sleep(pause, signal)
  }
}
