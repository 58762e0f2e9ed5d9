import type { Person } from '../core/index.ts'
import type { Turn } from './turn.ts'

export interface FoundPeople {
  readonly people: readonly Person[]
  /** The whole name, the sign-in name or a mention was given: nobody else can be meant. */
  readonly isSure: boolean
}

/** The people whom somebody may mean by what they typed: a mention, a sign-in name, a name or the beginning of one. */
export async function peopleMeant({ provisioning, actor, mentions }: Turn, typed: string): Promise<FoundPeople> {
  const mentioned = mentions.find(({ name, id }) => id !== undefined && isSame(name, typed))?.id
  if (mentioned !== undefined) return { people: await provisioning.delegations.find(actor, mentioned), isSure: true }
  const people = await provisioning.delegations.find(actor, typed)
  return { people, isSure: people.length === 1 && people.some((person) => isCalled(person, typed)) }
}

/** A sign-in name is nobody else's. A name may be anything, also somebody else's address. */
const isCalled = ({ displayName, userPrincipalName }: Person, typed: string): boolean =>
  isSame(userPrincipalName, typed) || (!typed.includes('@') && isSame(displayName, typed))

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
