import { z } from 'zod'
import { mayTakePart } from '../approvals/index.ts'
import { type Account, asking, type Context, defineUseCase, type Person } from '../shared/index.ts'
import type { DecisionPorts } from './ports.ts'

/**
 * People of the organisation who can decide here, by what somebody typed of them: an object id, a sign-in name, a mail address or the
 * beginning of a name. Several are in no order that means anything; ten at most.
 */
export const findColleagues = defineUseCase({
  permission: 'approval.delegate',
  input: z.object({ typed: z.string() }),
  async handle({ ports: { directory } }: Context<DecisionPorts>, { typed }): Promise<Person[]> {
    const text = typed.trim()
    if (text === '') return []
    const found = await asking(() => lookUp(directory, text))
    return found
      .filter(mayTakePart)
      .map(({ id, displayName, userPrincipalName }) => ({ id, displayName, userPrincipalName }))
  },
})

async function lookUp(directory: DecisionPorts['directory'], text: string): Promise<Account[]> {
  if (!z.uuid().safeParse(text).success) return directory.findPeople(text)
  const person = await directory.person(text)
  return person ? [person] : []
}
