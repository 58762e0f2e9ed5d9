import { z } from 'zod'
import { noteAct } from '../audit/index.ts'
import { asking, because, type Context, defineUseCase, type Person, ProvisioningError } from '../shared/index.ts'
import { issueLinks } from './exporting.ts'
import type { PrivacyPorts } from './ports.ts'

/** Whom an admin may mean: of the directory, or somebody whom only the store still knows. */
export const findPerson = defineUseCase({
  permission: 'export.create',
  input: z.object({ typed: z.string() }),
  async handle({ ports, actor }: Context<PrivacyPorts>, { typed }): Promise<Person[]> {
    const text = typed.trim()
    if (text === '') return []
    const id = z.uuid().safeParse(text).data?.toLowerCase()
    const ofDirectory = await asking(async () => {
      if (id === undefined) return ports.directory.findPeople(text)
      const found = await ports.directory.person(id)
      return found ? [found] : []
    })
    const ofStore = await ports.personData.known(actor.tenantId, id ?? text)
    const all = [...ofDirectory, ...ofStore].map(({ id, displayName, userPrincipalName }) => {
      return { id, displayName, userPrincipalName }
    })
    return [...new Map(all.reverse().map((one) => [one.id, one])).values()].reverse()
  },
})

/** A person by id, as the directory or the store knows them. Throws `not-found`. */
export async function personOf(context: Context<PrivacyPorts>, personId: string): Promise<Person> {
  const [found] = await findPerson.handle(context, { typed: personId })
  if (!found) throw new ProvisioningError('not-found', because('noSuchPerson'))
  return found
}

/** A link to all that is stored of somebody. */
export interface PersonExportOffer {
  readonly person: Person
  readonly url: string
  readonly until: string
}

/** Issues a link to all that the store holds about a person. It works once, within a quarter of an hour. */
export const offerPersonExport = defineUseCase({
  permission: 'export.create',
  input: z.object({ personId: z.string() }),
  async handle(context: Context<PrivacyPorts>, { personId }): Promise<PersonExportOffer> {
    const { ports, settings, actor } = context
    const person = await personOf(context, personId)
    const today = ports.clock.now().toISOString().slice(0, 10)
    const content = { what: 'person', format: 'json', from: today, to: today, personId: person.id } as const
    const { links, until } = await issueLinks(ports, settings, actor, [content], (until) =>
      noteAct(ports, actor, 'person-exported', { personId: person.id, until }),
    )
    return { person, url: links[0]?.url ?? '', until }
  },
})
