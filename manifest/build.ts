import { readFileSync } from 'node:fs'
import { z } from 'zod'
import strings from '../cards/strings/en.json' with { type: 'json' }
import { commands } from '../src/bot/index.ts'
import template from './template.json' with { type: 'json' }
import { hashOf, versionOf } from './version.ts'
import { zip } from './zip.ts'

export { higherOf, isVersion, standingOf } from './version.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** What a manifest is made for; named as in `.env.example`. */
const environment = z.object({
  MICROSOFT_APP_ID: z.uuid({ error: "must be the bot registration's client id" }),
  /** Who may install the app for people, when the service does so: Graph asks for it to be named here. */
  CLIENT_ID: z.uuid({ error: "must be the client id of the service's own access" }).optional(),
  BASE_URL: z
    .url({ protocol: /^https$/, error: 'must be the public https address of the service' })
    .transform((text) => text.replace(/\/+$/, '')),
})
/** For a look at the package without a registration. Teams would not find a bot behind it. */
export const sample = {
  MICROSOFT_APP_ID: '00000000-0000-4000-8000-000000000000',
  BASE_URL: 'https://quartermaster.example',
}
/** Teams shows no more commands than these (manifest schema 1.17). */
const mostCommands = 10

/** The icons by the names that the manifest gives them. */
const icons = [
  { name: template.icons.color, file: new URL('./color.png', import.meta.url) },
  { name: template.icons.outline, file: new URL('./outline.png', import.meta.url) },
]

/**
 * The Teams app manifest (schema 1.17) for the bot that these variables name. Its version follows its content
 * (`version.ts`); `published` is the version in the catalogue. Throws an error that names each variable that is missing or
 * wrong. https://learn.microsoft.com/microsoftteams/platform/resources/schema/manifest-schema
 */
export function manifestFor(variables: Variables, published?: string) {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `  - ${path.join('.')} ${message}.`)
    throw new Error(
      `The manifest cannot be made (npm run manifest -- --sample makes one to look at):\n${faults.join('\n')}`,
    )
  }
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl } = parsed.data
  const organisation = [appId, clientId ?? null, baseUrl]
  return contentOf(parsed.data, versionOf({ sha256: productHash(), organisation }, published))
}

function contentOf(given: z.output<typeof environment>, version: string) {
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl } = given
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

/** The hash of all that the product puts into the package: texts, commands and icons, without any organisation's values. */
export const productHash = (): string => hashOf(JSON.stringify([contentOf(sample, ''), iconHashes()]))

/** Teams' command menu: the commands that have a place in it, what to type and what it does. */
function menu(): { title: string; description: string }[] {
  const descriptions: Readonly<Record<string, string>> = strings.menu
  return commands
    .flatMap(({ menu: place, words }) => (place === null ? [] : [{ place, words }]))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, mostCommands)
    .map(({ words }) => {
      const description = descriptions[words]
      if (description === undefined) throw new Error(`cards/strings/en.json has no menu["${words}"]`)
      return { title: words, description }
    })
}

/** The app package to upload to Teams: the manifest and its two icons. `published` is the version in the catalogue. */
export function appPackage(variables: Variables, published?: string): Buffer {
  const manifest = manifestFor(variables, published)
  return zip([
    { name: 'manifest.json', content: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) },
    ...icons.map(({ name, file }) => ({ name, content: readFileSync(file) })),
  ])
}
