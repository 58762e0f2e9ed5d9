import { readFileSync } from 'node:fs'
import { z } from 'zod'
import strings from '../cards/strings/en.json' with { type: 'json' }
import { commands } from '../src/bot/index.ts'
import template from './template.json' with { type: 'json' }
import { hashOf, versionOf } from './version.ts'
import { zip } from './zip.ts'

export { higherOf, isVersion, standingOf } from './version.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The settings of a manifest, with the names of `.env.example`. */
const environment = z.object({
  MICROSOFT_APP_ID: z.uuid({ error: "must be the bot registration's client id" }),
  /** The service's registration, which Graph requires here if the service installs the app for people. */
  CLIENT_ID: z.uuid({ error: "must be the client id of the service's own access" }).optional(),
  BASE_URL: z
    .url({ protocol: /^https$/, error: 'must be the public https address of the service' })
    .transform((text) => text.replace(/\/+$/, '')),
})
/** Sample values, to view a package without a registration. Teams would not find its bot. */
export const sample = {
  MICROSOFT_APP_ID: '00000000-0000-4000-8000-000000000000',
  BASE_URL: 'https://quartermaster.example',
}
/** The most commands that Teams shows (manifest schema 1.17). */
const mostCommands = 10

/** The icons, by their names in the manifest. */
const icons = [
  { name: template.icons.color, file: new URL('./color.png', import.meta.url) },
  { name: template.icons.outline, file: new URL('./outline.png', import.meta.url) },
]

/**
 * Creates the Teams app manifest (schema 1.17) for the bot in these variables. Its version follows its content
 * (`version.ts`); `published` is the version in the catalogue. Throws an error that names each variable that is missing or
 * wrong. https://learn.microsoft.com/microsoftteams/platform/resources/schema/manifest-schema
 */
export function manifestFor(variables: Variables, published?: string) {
  const settings = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(settings)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `  - ${path.join('.')} ${message}.`)
    throw new Error(
      `Cannot create the manifest. Correct these settings (or run npm run manifest -- --sample to view a sample):\n${faults.join('\n')}`,
    )
  }
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl } = parsed.data
  const organisation = [appId, clientId ?? null, baseUrl]
  return contentOf(parsed.data, versionOf({ sha256: productHash(), organisation }, published))
}

function contentOf(settings: z.output<typeof environment>, version: string) {
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl } = settings
  return {
    ...template,
    id: appId,
    version,
    developer: {
      ...template.developer,
      websiteUrl: `${baseUrl}/about`,
      privacyUrl: `${baseUrl}/privacy`,
      termsOfUseUrl: `${baseUrl}/terms`,
    },
    bots: template.bots.map((bot) => ({
      ...bot,
      botId: appId,
      commandLists: [{ scopes: bot.scopes, commands: menu() }],
    })),
    validDomains: [new URL(baseUrl).host],
    webApplicationInfo:
      clientId === undefined ? { id: appId, resource: `api://botid-${appId}` } : { id: clientId, resource: baseUrl },
  }
}

/** The hashes of the icons, by their names. */
export const iconHashes = (): Record<string, string> =>
  Object.fromEntries(icons.map(({ name, file }) => [name, hashOf(readFileSync(file))]))

/** Returns the hash of the product's part of the package: texts, commands and icons, without values of an organisation. */
export const productHash = (): string => hashOf(JSON.stringify([contentOf(sample, ''), iconHashes()]))

/** Returns Teams' command menu: the commands with a place in the menu, and their descriptions. */
function menu(): { title: string; description: string }[] {
  const descriptions: Readonly<Record<string, string>> = strings.menu
  return commands
    .flatMap(({ menu: place, name }) => (place === null ? [] : [{ place, name }]))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, mostCommands)
    .map(({ name }) => {
      const description = descriptions[name]
      if (description === undefined) throw new Error(`cards/strings/en.json has no menu["${name}"]`)
      return { title: name, description }
    })
}

/** Creates the app package for Teams: the manifest and its two icons. `published` is the version in the catalogue. */
export function appPackage(variables: Variables, published?: string): Buffer {
  const manifest = manifestFor(variables, published)
  return zip([
    { name: 'manifest.json', content: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) },
    ...icons.map(({ name, file }) => ({ name, content: readFileSync(file) })),
  ])
}
