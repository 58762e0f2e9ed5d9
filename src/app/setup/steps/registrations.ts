import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { GraphError } from '../graph.ts'
import {
  clientIdIn,
  differences,
  findPrincipal,
  findRegistration,
  type Registration,
  type RegistrationName,
  registration,
  registrations,
} from '../registrations.ts'
import { applicationRoles } from '../roles.ts'
import { type Change, defineStep, type Setup, type Step } from '../step.ts'
import { fill, texts } from '../texts.ts'

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
      const shown = { name: found?.displayName ?? names.title(title) }
      const wrong = differences(name, found, randomUUID)
      const body = Object.assign({}, ...wrong.map((one) => one.body))
      const create = { displayName: names.title(title), ...body }
      const what = { ...shown, what: new Intl.ListFormat('en-GB').format(wrong.map(({ text }) => text)) }
      const needsAddress = isApi && !found?.identifierUris.includes(`api://${found.appId}`)
      const needsSetting = setting !== undefined && clientIdIn(settings[setting]) === undefined
      const all: (RegistrationChange | false)[] = [
        found === undefined && {
          ...{ kind: 'create', renews: true, body: create },
          text: fill(wrong.length > 2 ? texts.registration.createWith : texts.registration.create, what),
        },
        found !== undefined && needsSetting && { kind: 'setting', text: settingText(setting), body: {} },
        found !== undefined &&
          wrong.length > 0 && { kind: 'update', text: fill(texts.registration.update, what), body },
        needsAddress && {
          ...{ kind: 'address', text: fill(texts.registration.address, shown) },
          body: { identifierUris: [...(found?.identifierUris ?? []), `api://${found?.appId}`] },
        },
        principal === undefined && {
          ...{ kind: 'principal', text: fill(texts.registration.principal, shown) },
          body: { appId: found?.appId },
        },
        !owners.includes(personId) && {
          ...{ kind: 'owner', text: fill(texts.registration.owner, shown) },
          body: { personId },
        },
      ]
      return all.filter((one) => one !== false)
    },
    async apply(setup, { kind, body }, { registration: found }) {
      const { graph, names, settings, person, graphResource } = setup
      if (kind === 'create') {
        const path = `/applications(uniqueName='${names.key(part)}')`
        const answer = await graph.send('PATCH', path, { body, headers: { prefer: 'create-if-missing' } })
        // Somebody else has created it meanwhile: the answer is empty, and the next look finds it.
        const created = registration.safeParse(answer).data
        if (created && setting !== undefined) await settings.set({ [setting]: created.appId })
      } else if (found === undefined) {
        throw new Error('nothing was found to change')
      } else if (kind === 'setting' && setting !== undefined) {
        const others = settings.get(setting)
        await settings.set({ [setting]: others === undefined ? found.appId : `${found.appId},${others}` })
      } else if (kind === 'principal') {
        await graph.send('POST', '/servicePrincipals', { body, isDone: isThereAlready })
      } else if (kind === 'owner') {
        // Microsoft requires its public address in references, in every cloud the resource's own.
        const reference = { '@odata.id': `${graphResource}/v1.0/directoryObjects/${person.id}` }
        await graph.send('POST', `/applications/${found.id}/owners/$ref`, { body: reference, isDone: isThereAlready })
      } else {
        await graph.send('PATCH', `/applications/${found.id}`, { body })
      }
    },
  })
}

const settingText = (setting: string): string => fill(texts.settings.set, { names: setting })

/** Refusals of a change that somebody has made already, or whose answer was lost. */
export const isThereAlready = ({ status, code, description }: GraphError): boolean =>
  status === 409 || (status === 400 && /already exist|being assigned already/i.test(`${code} ${description}`))

/** The object id of the service principal of one of our registrations; undefined before it is there. */
export async function principalOf(setup: Setup, name: RegistrationName): Promise<string | undefined> {
  const found = await findRegistration(setup, name)
  return found && findPrincipal(setup, found.appId)
}

export const registrationSteps: readonly Step[] = (
  ['bot', 'sites', 'mailboxes', 'service', 'commandLine'] as const
).map(registrationStep)
