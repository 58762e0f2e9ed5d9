import { DirectoryError } from '../index.ts'
import { accessTwice, type Body, type Fault, FieldsError } from './body.ts'
import type { Scope } from './define-command.ts'
import { directoryPermissions } from './settings.ts'
import { clean, fill, texts, UsageError } from './terminal.ts'

/**
 * Returns a function that replaces sign-in names by user ids, which the API requires. Each name is looked up once. It
 * throws {@link FieldsError} with all people that it does not find.
 */
export function peopleBySignInName(scope: Scope): (body: Body) => Promise<Body> {
  const known = new Map<string, Promise<string>>()
  const idOf = (typed: string): Promise<string> => {
    const name = typed.trim().toLowerCase()
    if (!name.includes('@')) return Promise.resolve(typed)
    const found = known.get(name) ?? findPerson(scope, name)
    known.set(name, found)
    return found
  }
  return async (body) => {
    const faults: Fault[] = []
    const idAt = async (pointer: string, typed: string): Promise<string> => {
      try {
        return await idOf(typed)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        faults.push({ pointer, detail: error.message })
        return typed
      }
    }
    const changed: Record<string, unknown> = { ...body }
    for (const field of ['primaryOwner', 'secondaryOwner'])
      if (typeof body[field] === 'string') changed[field] = await idAt(`#/${field}`, body[field])
    const { owners, permissions } = body
    if (Array.isArray(owners))
      changed['owners'] = await Promise.all(
        owners.map((one, index) => (typeof one === 'string' ? idAt(`#/owners/${index}`, one) : one)),
      )
    if (typeof permissions === 'object' && permissions !== null) {
      const byId: [string, unknown, string][] = []
      for (const [person, access] of Object.entries(permissions))
        byId.push([await idAt('#/permissions', person), access, person])
      faults.push(...accessTwice(byId.map(([id, access, typed]) => [id.toLowerCase(), access, typed])))
      changed['permissions'] = Object.fromEntries(byId)
    }
    if (faults.length > 0) throw new FieldsError(faults)
    return changed
  }
}

/**
 * Looks up the user id of a sign-in name. Throws {@link UsageError} if the name is unknown or the permission to
 * read users is missing.
 */
export async function findPerson(scope: Scope, name: string): Promise<string> {
  try {
    const id = await (await scope.client()).findUserId(name, { signal: scope.signal })
    if (id !== undefined && id !== '') return id
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.status !== 403) throw error
    throw new UsageError(
      fill(texts.csv.noDirectory, { why: error.code || String(error.status), permission: directoryPermissions.users }),
    )
  }
  throw new UsageError(fill(texts.csv.noPerson, { typed: clean(name) }))
}
