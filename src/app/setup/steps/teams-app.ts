import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { clientIdIn } from '../registrations.ts'
import { isAllowed } from '../roles.ts'
import { writePrivate } from '../settings-file.ts'
import { type Change, defineStep, type Setup } from '../step.ts'
import { fill, texts } from '../texts.ts'

interface AppPackage {
  readonly content: Buffer
  readonly version: string
}

interface Found {
  /** Undefined until the registrations and the address are there. */
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

/** The app package: a file, and the organisation's catalogue where the person may publish there. */
export const teamsAppStep = defineStep<Found, AppChange>({
  id: 'teams-app',
  group: 'teams',
  // Without the role the file is uploaded by somebody else.
  roles: [],
  scope: 'AppCatalog.ReadWrite.All',
  async find(setup) {
    const path = setup.settings.beside('quartermaster.zip')
    const file = await readFile(path).catch(() => undefined)
    const wanted = await packageFor(setup)
    return { wanted, path, file, app: wanted === undefined ? undefined : await appInCatalogue(setup) }
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
    const isOld = app.versions.every((one) => isHigher(wanted.version, one))
    const update = {
      kind: 'update',
      text: fill(texts.teams.update, { version: wanted.version }),
      renews: true,
    } as const
    return isOld && canPublish ? [...changes, update] : changes
  },
  async apply(setup, { kind }, { wanted, path, app }) {
    const { graph, settings } = setup
    if (!wanted) throw new Error('the app package cannot be made yet')
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

async function packageFor({ settings }: Setup): Promise<AppPackage | undefined> {
  const { BASE_URL, MICROSOFT_APP_ID, CLIENT_ID } = settings.values()
  if (!BASE_URL || !MICROSOFT_APP_ID || !CLIENT_ID) return undefined
  // Loading the bot's commands takes a second, so only this step waits for it.
  const { appPackage, manifestFor } = await import('../../../../manifest/build.ts')
  const variables = { BASE_URL, MICROSOFT_APP_ID, CLIENT_ID }
  return { content: appPackage(variables), version: manifestFor(variables).version }
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
  const versions = (app?.appDefinitions ?? []).flatMap(({ version }) => version ?? [])
  return app && { id: app.id, versions }
}

/** Compares versions by their numbers: 1.10.0 is higher than 1.9.0. */
function isHigher(one: string, other: string): boolean {
  const numbers = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10) || 0)
  const [left, right] = [numbers(one), numbers(other)]
  const place = left.findIndex((number, index) => number !== (right[index] ?? 0))
  return place >= 0 && (left[place] ?? 0) > (right[place] ?? 0)
}
