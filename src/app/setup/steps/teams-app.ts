import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { fill } from '../../../client/command-line/terminal.ts'
import { clientIdIn } from '../registrations.ts'
import { isAllowed } from '../roles.ts'
import { writePrivate } from '../settings-file.ts'
import { type Change, defineStep, type Setup } from '../step.ts'
import texts from '../strings.json' with { type: 'json' }

interface AppPackage {
  readonly content: Buffer
  readonly version: string
  /** Whether the catalogue has neither this version nor a higher version. */
  readonly isHigher: boolean
}

interface Found {
  /** Undefined until the registrations and the address exist. */
  readonly wanted: AppPackage | undefined
  readonly path: string
  readonly file: Buffer | undefined
  /** The app in the organisation's catalogue; `unknown` if the person may not read the catalogue. */
  readonly app: { readonly id: string; readonly versions: readonly string[] } | 'unknown' | undefined
}

interface AppChange extends Change {
  readonly kind: 'file' | 'publish' | 'update' | 'setting'
}

const teamsApp = z.object({
  id: z.string(),
  appDefinitions: z.array(z.object({ version: z.string().nullish() })).nullish(),
})

/** The app package: a file, and the organisation's catalogue if the person may publish there. */
export const teamsAppStep = defineStep<Found, AppChange>({
  id: 'teams-app',
  group: 'teams',
  // Without the role, another person uploads the file.
  roles: [],
  scope: 'AppCatalog.ReadWrite.All',
  async find(setup) {
    const path = setup.settings.beside('quartermaster.zip')
    const file = await readFile(path).catch(() => undefined)
    const variables = variablesOf(setup)
    if (variables === undefined) return { wanted: undefined, path, file, app: undefined }
    const app = await appInCatalogue(setup)
    const versions = app === 'unknown' || app === undefined ? [] : app.versions
    return { wanted: await packageFor(variables, versions), path, file, app }
  },
  changes({ wanted, path, file, app }, { settings, options, roles }) {
    const write: AppChange = { kind: 'file', text: fill(texts.teams.file, { path }) }
    const publish: AppChange = { kind: 'publish', text: texts.teams.publish, renews: true }
    const canPublish = options.catalogue && isAllowed(roles, ['Teams Administrator'])
    if (wanted === undefined) return [write, ...(canPublish ? [publish] : [])]
    const changes = file?.equals(wanted.content) ? [] : [write]
    if (app === 'unknown') return changes
    if (app === undefined) return canPublish ? [...changes, publish] : changes
    if (settings['TEAMS_APP_ID'] !== app.id)
      changes.push({ kind: 'setting', text: fill(texts.settings.set, { names: 'TEAMS_APP_ID' }) })
    const update = {
      kind: 'update',
      text: fill(texts.teams.update, { version: wanted.version }),
      renews: true,
    } as const
    return wanted.isHigher && canPublish ? [...changes, update] : changes
  },
  async apply(setup, { kind }, { wanted, path, app }) {
    const { graph, settings } = setup
    if (!wanted) throw new Error('cannot create the app package yet')
    if (kind === 'file') return writePrivate(path, wanted.content)
    const body = wanted.content
    if (kind === 'publish') {
      const { id } = teamsApp.parse(await graph.send('POST', '/appCatalogs/teamsApps', { body }))
      return settings.set({ TEAMS_APP_ID: id })
    }
    if (app === undefined || app === 'unknown') throw new Error('the catalogue has no app')
    if (kind === 'setting') return settings.set({ TEAMS_APP_ID: app.id })
    await graph.send('POST', `/appCatalogs/teamsApps/${app.id}/appDefinitions`, { body })
  },
})

function variablesOf({ settings, names }: Setup) {
  const { BASE_URL, MICROSOFT_APP_ID, CLIENT_ID, TEAMS_APP_NAME = names.app } = settings.values()
  return BASE_URL && MICROSOFT_APP_ID && CLIENT_ID
    ? { BASE_URL, MICROSOFT_APP_ID, CLIENT_ID, TEAMS_APP_NAME }
    : undefined
}

/** The catalogue accepts only a version that is higher than the published ones. */
async function packageFor(
  variables: NonNullable<ReturnType<typeof variablesOf>>,
  versions: readonly string[],
): Promise<AppPackage> {
  // Loading the bot's commands takes a second, so only this step waits for it.
  const app = await import('../../../../manifest/build.ts')
  const known = versions.filter(app.isVersion)
  const published = known.length === 0 ? undefined : known.reduce(app.higherOf)
  const { version } = app.manifestFor(variables, published)
  const isHigher = published === undefined || app.standingOf(version, published) === 'update'
  return { content: app.appPackage(variables, published), version, isHigher }
}

async function appInCatalogue({ graph, settings, options }: Setup): Promise<Found['app']> {
  const externalId = clientIdIn(settings.get('MICROSOFT_APP_ID'))
  if (!options.catalogue) return 'unknown'
  const filter = `$filter=externalId eq '${externalId}'&$expand=appDefinitions($select=id,version)`
  const found = await graph.get(`/appCatalogs/teamsApps?${filter}`, z.object({ value: z.array(teamsApp) }), {
    refused: true,
  })
  if (!found) return 'unknown'
  const [app] = found.value
  if (!app) return undefined
  return { id: app.id, versions: (app.appDefinitions ?? []).flatMap(({ version }) => version ?? []) }
}
