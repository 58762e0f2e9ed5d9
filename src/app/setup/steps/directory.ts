import { z } from 'zod'
import { fill } from '../../../client/command-line/terminal.ts'
import { quotedValue } from '../graph.ts'
import { SetupProblem } from '../problem.ts'
import { clientIdIn, findNamed } from '../registrations.ts'
import { applicationRoles } from '../roles.ts'
import { type Change, defineStep } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }

const extension = z.object({
  id: z.string(),
  owner: z.string().nullish(),
  status: z.string().nullish(),
  targetTypes: z.array(z.string()),
  properties: z.array(z.object({ name: z.string(), type: z.string() })),
})

/** The values that the service writes to the group of a site (docs/integrators). */
const properties = ['requestId', 'extensionAttribute1', 'extensionAttribute3'].map((name) => ({ name, type: 'String' }))

const fits = ({ targetTypes, properties: found, status }: z.output<typeof extension>): boolean =>
  targetTypes.includes('Group') &&
  status !== 'Deprecated' &&
  properties.every(({ name, type }) => found.some((one) => one.name === name && one.type === type))

interface ExtensionFound {
  readonly extension: z.output<typeof extension> | undefined
}

interface ExtensionChange extends Change {
  readonly kind: 'create' | 'setting'
}

/** The schema extension that stores the request id on groups. Microsoft puts a prefix before its name. */
export const extensionStep = defineStep<ExtensionFound, ExtensionChange>({
  id: 'extension',
  group: 'directory',
  roles: applicationRoles,
  scope: 'Application.ReadWrite.All',
  async find(setup) {
    const { graph, settings } = setup
    const known = settings.get('DIRECTORY_EXTENSION')
    if (known !== undefined) {
      const path = `/schemaExtensions/${quotedValue(known)}`
      const found = await findNamed(setup, 'DIRECTORY_EXTENSION', () => graph.get(path, extension))
      if (found && fits(found)) return { extension: found }
      const what = found ? texts.extension.unfit : texts.extension.unknown
      throw new SetupProblem(fill(what, { id: known }), texts.extension.unfitHint)
    }
    const owner = clientIdIn(settings.get('CLIENT_ID'))
    if (owner === undefined) return { extension: undefined }
    const all = await graph.list(`/schemaExtensions?$filter=owner eq '${owner}'`, extension)
    return { extension: all.find(fits) }
  },
  changes({ extension: found }, { settings }) {
    if (!found) return [{ kind: 'create', renews: true, text: texts.extension.create }]
    if (settings['DIRECTORY_EXTENSION'] === found.id) return []
    return [{ kind: 'setting', text: fill(texts.settings.set, { names: 'DIRECTORY_EXTENSION' }) }]
  },
  async apply({ graph, settings, remark }, { kind }, { extension: found }) {
    if (kind === 'setting' && found) return settings.set({ DIRECTORY_EXTENSION: found.id })
    const owner = clientIdIn(settings.get('CLIENT_ID'))
    const description = texts.extension.description
    const body = { id: 'quartermaster', description, targetTypes: ['Group'], owner, properties }
    const created = extension.pick({ id: true }).parse(await graph.send('POST', '/schemaExtensions', { body }))
    await settings.set({ DIRECTORY_EXTENSION: created.id })
    remark(texts.extension.delay)
  },
})

const group = z.object({ id: z.string() })

interface AdminsFound {
  readonly group: string | undefined
}

interface AdminsChange extends Change {
  readonly kind: 'create' | 'setting'
}

/** The group whose members manage the service. Setup adds only the first member; people change the group later. */
export const adminsStep = defineStep<AdminsFound, AdminsChange>({
  id: 'admins',
  group: 'directory',
  roles: ['Groups Administrator'],
  scope: 'Group.ReadWrite.All',
  async find({ graph, names, settings }) {
    if (settings.get('ADMINS') !== undefined) return { group: undefined }
    const found = await graph.get(`/groups(uniqueName='${names.key('admins')}')?$select=id`, group)
    return { group: found?.id }
  },
  changes({ group: found }, { settings, names }) {
    if (settings['ADMINS'] !== undefined) return []
    if (found !== undefined) return [{ kind: 'setting', text: fill(texts.settings.set, { names: 'ADMINS' }) }]
    return [{ kind: 'create', renews: true, text: fill(texts.admins.create, { name: names.title('admins') }) }]
  },
  async apply({ graph, names, settings, person, graphResource }, { kind }, { group: found }) {
    if (kind === 'setting' && found !== undefined) return settings.set({ ADMINS: found })
    const body = {
      ...{ displayName: names.title('admins'), description: texts.admins.description },
      ...{ mailNickname: names.key('admins'), mailEnabled: false, securityEnabled: true, groupTypes: [] },
      // The person who creates a group is its owner, and must not be added as owner again.
      'members@odata.bind': [`${graphResource}/v1.0/users/${person.id}`],
    }
    const path = `/groups(uniqueName='${names.key('admins')}')`
    const answer = await graph.send('PATCH', path, { body, headers: { prefer: 'create-if-missing' } })
    const created = group.safeParse(answer).data
    if (created) await settings.set({ ADMINS: created.id })
  },
})
