import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { commands } from '../src/bot/index.ts'
import { type Catalogue, catalogues } from '../src/cards/index.ts'
import template from './template.json' with { type: 'json' }
import { hashOf, versionOf } from './version.ts'
import { zip } from './zip.ts'

export { higherOf, isVersion, standingOf } from './version.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The most characters of an app's short name (manifest schema 1.17). */
const nameLength = 30

/** The settings of a manifest, with the names of `.env.example`. */
const environment = z.object({
  MICROSOFT_APP_ID: z.uuid({ error: "must be the bot registration's client id" }),
  /** The service's registration, which Graph requires here if the service installs the app for people. */
  CLIENT_ID: z.uuid({ error: "must be the client id of the service's own access" }).optional(),
  TEAMS_APP_NAME: z.string().max(nameLength, `must have at most ${nameLength} characters`).optional(),
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

/** English is the language of the manifest itself. */
const english = catalogueOf('en')
const translations = [...catalogues].filter(([language]) => language !== 'en')
const fileOf = (language: string): string => `${language}.json`

function catalogueOf(language: string): Catalogue {
  const found = catalogues.get(language)
  if (!found) throw new Error(`cards/strings has no ${language}.json`)
  return found
}

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
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl, TEAMS_APP_NAME: name } = parsed.data
  const organisation = [appId, clientId ?? null, baseUrl, ...(name === undefined ? [] : [name])]
  return contentOf(parsed.data, versionOf({ sha256: productHash(), organisation }, published))
}

function contentOf(settings: z.output<typeof environment>, version: string) {
  const { MICROSOFT_APP_ID: appId, CLIENT_ID: clientId, BASE_URL: baseUrl } = settings
  return {
    ...template,
    localizationInfo: {
      defaultLanguageTag: 'en',
      additionalLanguages: translations.map(([languageTag]) => ({ languageTag, file: fileOf(languageTag) })),
    },
    name: nameIn(english, settings),
    description: { short: english.app.short, full: english.app.full },
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
      commandLists: [{ scopes: bot.scopes, commands: menuIn(english) }],
    })),
    validDomains: [new URL(baseUrl).host],
    webApplicationInfo:
      clientId === undefined ? { id: appId, resource: `api://botid-${appId}` } : { id: clientId, resource: baseUrl },
  }
}

/** Returns the names of the app: the name in the settings, which is the same in all languages, or the product's. */
const nameIn = ({ app }: Catalogue, { TEAMS_APP_NAME: name }: Variables) =>
  name ? { short: name, full: name } : { ...template.name, full: app.name }

/** The hashes of the icons, by their names. */
export const iconHashes = (): Record<string, string> =>
  Object.fromEntries(icons.map(({ name, file }) => [name, hashOf(readFileSync(file))]))

/** Returns the hash of the product's part of the package: texts, commands and icons, without values of an organisation. */
export const productHash = (): string =>
  hashOf(JSON.stringify([contentOf(sample, ''), localisations(sample), iconHashes()]))

/**
 * Returns Teams' command menu in a language: the commands with a place in the menu, and their descriptions. Throws if the
 * catalogue has no description of a command.
 */
function menuIn(texts: Catalogue): { title: string; description: string }[] {
  const names: Readonly<Record<string, readonly string[]>> = texts.commands
  const descriptions: Readonly<Record<string, string>> = texts.menu
  return commands
    .flatMap(({ menu: place, name }) => (place === null ? [] : [{ place, name }]))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, mostCommands)
    .map(({ name }) => {
      const [title, description] = [names[name]?.[0], descriptions[name]]
      if (title === undefined || description === undefined)
        throw new Error(`cards/strings/${texts.locale}.json has no name or no menu["${name}"]`)
      return { title, description }
    })
}

/**
 * Returns the files with the texts of the other languages, by their names in the package. `variables` can set the app's
 * name.
 * https://learn.microsoft.com/microsoftteams/platform/resources/schema/localization-schema
 */
export function localisations(variables: Variables): Record<string, Record<string, string>> {
  return Object.fromEntries(
    translations.map(([language, texts]) => [
      fileOf(language),
      {
        $schema:
          'https://developer.microsoft.com/en-us/json-schemas/teams/v1.17/MicrosoftTeams.Localization.schema.json',
        'name.short': nameIn(texts, variables).short,
        'name.full': nameIn(texts, variables).full,
        'description.short': texts.app.short,
        'description.full': texts.app.full,
        ...Object.fromEntries(
          menuIn(texts).flatMap(({ title, description }, index) => [
            [`bots[0].commandLists[0].commands[${index}].title`, title],
            [`bots[0].commandLists[0].commands[${index}].description`, description],
          ]),
        ),
      },
    ]),
  )
}

const jsonFile = (content: object): Buffer => Buffer.from(`${JSON.stringify(content, null, 2)}\n`)

/** Creates the app package for Teams: the manifest and its two icons. `published` is the version in the catalogue. */
export function appPackage(variables: Variables, published?: string): Buffer {
  const manifest = manifestFor(variables, published)
  return zip([
    { name: 'manifest.json', content: jsonFile(manifest) },
    ...Object.entries(localisations(variables)).map(([name, texts]) => ({ name, content: jsonFile(texts) })),
    ...icons.map(({ name, file }) => ({ name, content: readFileSync(file) })),
  ])
}
