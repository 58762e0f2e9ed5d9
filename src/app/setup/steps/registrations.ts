import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { fill } from '../../../client/command-line/terminal.ts'
import type { GraphError } from '../graph.ts'
import {
  clientIdIn,
  differences,
  findPrincipal,
  findRegistration,
  isManagedIdentity,
  type Registration,
  type RegistrationName,
  registration,
  registrations,
} from '../registrations.ts'
import { applicationRoles } from '../roles.ts'
import { type Change, defineStep, type Setup, type Step } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }

interface Found {
  readonly registration: Registration | undefined
  readonly principal: string | undefined
  /** Object ids. */
  readonly owners: readonly string[]
}

interface RegistrationChange extends Change {
  readonly kind: 'create' | 'update' | 'address' | 'principal' | 'owner' | 'setting'
  readonly body: object
}

const owner = z.object({ id: z.string() })

const registrationStep = (name: RegistrationName): Step => {
  const { part, title, setting } = registrations[name]
  const isApi = name === 'sites' || name === 'mailboxes'
  return defineStep<Found, RegistrationChange>({
    id: `registration-${part}`,
    group: 'registrations',
    roles: applicationRoles,
    scope: 'Application.ReadWrite.All',
    async find(setup) {
      const found = await findRegistration(setup, name)
      if (!found) return { registration: undefined, principal: undefined, owners: [] }
      const principal = await findPrincipal(setup, found.appId)
      const owners = await setup.graph.list(`/applications/${found.id}/owners?$select=id`, owner)
      return { registration: found, principal, owners: owners.map(({ id }) => id) }
    },
    changes({ registration: found, principal, owners }, { names, settings, personId }) {
      if (name === 'bot' && isManagedIdentity(settings)) return []
      const wrong = differences(name, found, settings['BASE_URL'], randomUUID)
      const body = Object.assign({}, ...wrong.map((one) => one.body))
      if (found === undefined) {
        const own = wrong.filter(({ isUsual }) => !isUsual).map(({ text }) => text)
        const shown = { name: names.title(title), what: own.join(', ') }
        const text = fill(own.length > 0 ? texts.registration.createWith : texts.registration.create, shown)
        return [{ kind: 'create', renews: true, text, body: { displayName: names.title(title), ...body } }]
      }
      const shown = { name: found.displayName ?? names.title(title), what: wrong.map(({ text }) => text).join(', ') }
      const needsAddress = isApi && !found.identifierUris.includes(addressOf(found))
      const needsSetting = clientIdIn(settings[setting]) === undefined
      const all: (RegistrationChange | false)[] = [
        needsSetting && { kind: 'setting', text: settingText(setting), body: {} },
        wrong.length > 0 && { kind: 'update', text: fill(texts.registration.update, shown), body },
        needsAddress && { kind: 'address', text: fill(texts.registration.address, shown), body: {} },
        principal === undefined && { kind: 'principal', text: fill(texts.registration.principal, shown), body: {} },
        !owners.includes(personId) && { kind: 'owner', text: fill(texts.registration.owner, shown), body: {} },
      ]
      return all.filter((one) => one !== false)
    },
    async apply(setup, { kind, body }, { registration: found }) {
      const { graph, names, settings } = setup
      if (kind === 'create') {
        const path = `/applications(uniqueName='${names.key(part)}')`
        const answer = await graph.send('PATCH', path, { body, headers: { prefer: 'create-if-missing' } })
        // An empty answer: somebody else has created it meanwhile. The next run finds what is missing, also an owner:
        // Microsoft Graph makes the person who creates a registration its owner.
        const created = registration.safeParse(answer).data
        if (!created) return
        await settings.set({ [setting]: created.appId })
        if (isApi) await addAddress(setup, created)
        await addPrincipal(setup, created)
      } else if (found === undefined) throw new Error('nothing was found to change')
      else if (kind === 'setting') {
        const others = settings.get(setting)
        await settings.set({ [setting]: others === undefined ? found.appId : `${found.appId},${others}` })
      } else if (kind === 'address') await addAddress(setup, found)
      else if (kind === 'principal') await addPrincipal(setup, found)
      else if (kind === 'owner') await addOwner(setup, found)
      else await graph.send('PATCH', `/applications/${found.id}`, { body })
    },
  })
}

/** The App ID URI of an API, which Microsoft's policies allow everywhere. */
const addressOf = ({ appId }: Registration): string => `api://${appId}`

async function addAddress({ graph }: Setup, api: Registration): Promise<void> {
  const body = { identifierUris: [...api.identifierUris, addressOf(api)] }
  await graph.send('PATCH', `/applications/${api.id}`, { body })
}

async function addPrincipal({ graph }: Setup, { appId }: Registration): Promise<void> {
  await graph.send('POST', '/servicePrincipals', { body: { appId }, isDone: isThereAlready })
}

async function addOwner({ graph, person, graphResource }: Setup, { id }: Registration): Promise<void> {
  const body = { '@odata.id': `${graphResource}/v1.0/directoryObjects/${person.id}` }
  await graph.send('POST', `/applications/${id}/owners/$ref`, { body, isDone: isThereAlready })
}

const settingText = (setting: string): string => fill(texts.settings.set, { names: setting })

/** Refusals of a change that somebody has made already, or whose answer was lost. */
export const isThereAlready = ({ status, code, description }: GraphError): boolean =>
  status === 409 ||
  (status === 400 && /already exist|being assigned already|conflicting object/i.test(`${code} ${description}`))

/** The object id of the service principal of one of our registrations; undefined before it is there. */
export async function principalOf(setup: Setup, name: RegistrationName): Promise<string | undefined> {
  const found = await findRegistration(setup, name)
  return found && findPrincipal(setup, found.appId)
}

export const registrationSteps: readonly Step[] = (
  ['bot', 'sites', 'mailboxes', 'service', 'commandLine'] as const
).map(registrationStep)
