import { DirectoryError } from '../index.ts'
import type { Body } from './body.ts'
import { type Scope, UsageError } from './define-command.ts'
import { clean } from './terminal.ts'
import { fill, words } from './words.ts'

/** People call each other by sign-in names; the API takes user ids. Gives a body with ids in place of names, each looked up once. */
export function peopleBySignInName(scope: Scope): (body: Body) => Promise<Body> {
  const known = new Map<string, Promise<string>>()
  const idOf = (said: string): Promise<string> => {
    const name = said.trim().toLowerCase()
    if (!name.includes('@')) return Promise.resolve(said)
    const found = known.get(name) ?? lookUp(scope, name)
    known.set(name, found)
    return found
  }
  return async (body) => {
    const changed: Record<string, unknown> = { ...body }
    for (const field of ['primaryOwner', 'secondaryOwner'])
      if (typeof body[field] === 'string') changed[field] = await idOf(body[field])
    const { owners, permissions } = body
    if (Array.isArray(owners))
      changed['owners'] = await Promise.all(owners.map((one) => (typeof one === 'string' ? idOf(one) : one)))
    if (typeof permissions === 'object' && permissions !== null) {
      const given: [string, unknown][] = []
      for (const [person, access] of Object.entries(permissions)) given.push([await idOf(person), access])
      changed['permissions'] = Object.fromEntries(given)
    }
    return changed
  }
}

async function lookUp(scope: Scope, name: string): Promise<string> {
  try {
    const id = await (await scope.client()).findUserId(name, { signal: scope.signal })
    if (id !== undefined && id !== '') return id
  } catch (error) {
    if (!(error instanceof DirectoryError) || error.status !== 403) throw error
    throw new UsageError(fill(words.csv.noDirectory, { why: error.code || String(error.status) }))
  }
  throw new UsageError(fill(words.csv.noPerson, { said: clean(name) }))
}
