import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { appPackage, manifestFor, productHash } from '../../manifest/build.ts'
import recorded from '../../manifest/content.json' with { type: 'json' }
import { standingOf, versionOf } from '../../manifest/version.ts'
import { writePackage } from '../../manifest/write.ts'
import { zip } from '../../manifest/zip.ts'
import { commands } from '../../src/bot/index.ts'
import { parseCommand } from '../../src/bot/registry.ts'

const variables = {
  MICROSOFT_APP_ID: '0c0ffee0-3333-4333-8333-000000000001',
  BASE_URL: 'https://quartermaster.contoso.example/',
}

/** Microsoft's own schema. It uses only keywords of draft-04 that Ajv also supports. */
function microsoftSchema(version: string, name = 'MicrosoftTeams') {
  const path = `../../node_modules/@microsoft/app-manifest/build/json-schemas/teams/v${version}/${name}.schema.json`
  const { $schema: _, id: __, ...schema } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
  // Some of its patterns are not valid with the flag `u`.
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false })
  addFormats.default(ajv)
  return ajv.compile(schema)
}

/** Reads an archive from its end like unzip, and checks the checksum of each file. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [size, nameLength] = [archive.readUInt32LE(at + 24), archive.readUInt16LE(at + 28)]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const local = archive.readUInt32LE(at + 42)
    const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const content = archive.subarray(begin, begin + size)
    expect(crc32(content), name).toBe(archive.readUInt32LE(at + 16))
    files.set(name, content)
    at += 46 + nameLength
  }
  expect(at).toBe(end)
  return files
}

/** A PNG's header (RFC 2083, IHDR): width, height, and 6 for a colour type with transparency. */
const png = (bytes: Buffer | undefined) => ({
  width: bytes?.readUInt32BE(16),
  height: bytes?.readUInt32BE(20),
  signed: bytes?.toString('latin1', 1, 4),
  colourType: bytes?.[25],
})

describe('the Teams manifest', () => {
  const manifest = manifestFor(variables)
  const menu = manifest.bots[0]?.commandLists[0]?.commands ?? []

  it("is valid by Microsoft's schema", () => {
    const fits = microsoftSchema(manifest.manifestVersion)
    expect(fits(manifest), JSON.stringify(fits.errors, null, 2)).toBe(true)
    expect(fits({ ...manifest, bots: [{ botId: 'no uuid', scopes: ['personal'] }] })).toBe(false)
  })

  it('contains the bot, the address of the service, and one scope', () => {
    expect(manifest.id).toBe(variables.MICROSOFT_APP_ID)
    expect(manifest.bots).toMatchObject([
      { botId: variables.MICROSOFT_APP_ID, scopes: ['personal'], supportsFiles: false },
    ])
    expect(manifest.webApplicationInfo.id).toBe(variables.MICROSOFT_APP_ID)
    expect(manifest.validDomains).toEqual(['quartermaster.contoso.example'])
  })

  it('has the name in the settings, in all languages and with another version', () => {
    const named = { ...variables, TEAMS_APP_NAME: 'Quartermaster test' }
    expect(manifestFor(named).name).toEqual({ short: 'Quartermaster test', full: 'Quartermaster test' })
    expect(manifest.name).toEqual({ short: 'Quartermaster', full: 'Quartermaster for Microsoft 365' })
    const names = [...unzip(appPackage(named))].filter(([name]) => /^[a-z]{2}\.json$/.test(name))
    expect(names).toHaveLength(3)
    for (const [name, content] of names)
      expect(JSON.parse(String(content)), name).toMatchObject({
        ...{ 'name.short': 'Quartermaster test', 'name.full': 'Quartermaster test' },
      })
    expect(manifestFor(named).version).not.toBe(manifest.version)
    expect(standingOf(manifestFor(named, manifest.version).version, manifest.version)).toBe('update')
    expect(() => manifestFor({ ...variables, TEAMS_APP_NAME: 'x'.repeat(31) })).toThrow('TEAMS_APP_NAME')
  })

  it('contains the registration that installs the app for people, if it is set', () => {
    const clientId = '0c0ffee0-2222-4222-8222-000000000001'
    const own = manifestFor({ ...variables, CLIENT_ID: clientId })
    expect(own.webApplicationInfo).toEqual({ id: clientId, resource: 'https://quartermaster.contoso.example' })
    expect(own.bots[0]?.botId).toBe(variables.MICROSOFT_APP_ID)
    expect(microsoftSchema(own.manifestVersion)(own)).toBe(true)
  })

  it('lists the commands of the menu in order, at most ten', () => {
    const placed = commands.filter((command) => command.menu !== null)
    const inOrder = placed.toSorted((one, other) => (one.menu ?? 0) - (other.menu ?? 0)).map(({ name }) => name)
    expect(menu.map(({ title }) => title)).toEqual(inOrder)
    expect(menu.length).toBeLessThanOrEqual(10)
    expect(new Set(placed.map((command) => command.menu)).size).toBe(placed.length)
    for (const { description } of menu) expect(description.length).toBeGreaterThan(10)
  })

  it('lists each kind of resource first, and no admin commands', () => {
    const titles = menu.map(({ title }) => title)
    expect(titles.slice(0, 4)).toEqual(['new site', 'new room', 'new shared mailbox', 'new equipment'])
    expect(titles).toContain('help')
    expect(titles.filter((title) => title.startsWith('admin'))).toEqual([])
  })

  it('is not created without its settings, and the error lists all faults', () => {
    expect(() => manifestFor({})).toThrow(/MICROSOFT_APP_ID[\s\S]*BASE_URL/)
    expect(() => manifestFor({ ...variables, BASE_URL: 'http://127.0.0.1:3978' })).toThrow('BASE_URL')
    expect(() => manifestFor({ ...variables, MICROSOFT_APP_ID: '' })).toThrow('MICROSOFT_APP_ID')
  })
})

describe('the app package', () => {
  const files = unzip(appPackage(variables))

  it('contains only the manifest, its texts in the other languages and its two icons', () => {
    const languages = ['de.json', 'es.json', 'fr.json']
    expect([...files.keys()].toSorted()).toEqual(['color.png', ...languages, 'manifest.json', 'outline.png'].toSorted())
    expect(JSON.parse(String(files.get('manifest.json')))).toEqual(manifestFor(variables))
    const { additionalLanguages } = manifestFor(variables).localizationInfo
    expect(additionalLanguages.map(({ file }) => file).toSorted()).toEqual(languages)
  })

  it.each(['de', 'fr', 'es'])(
    'has the menu, the name and the descriptions in %s, within the limits of Teams',
    (language) => {
      const texts: Record<string, string> = JSON.parse(String(files.get(`${language}.json`)))
      const { bots, description, manifestVersion } = manifestFor(variables)
      const fits = microsoftSchema(manifestVersion, 'MicrosoftTeams.Localization')
      expect(fits(texts), JSON.stringify(fits.errors)).toBe(true)
      const { short = '', full = '' } = { short: texts['description.short'], full: texts['description.full'] }
      expect(short).not.toBe(description.short)
      expect(short.length).toBeLessThanOrEqual(80)
      expect(full.length).toBeLessThanOrEqual(4000)
      expect(texts['name.full']?.length).toBeLessThanOrEqual(100)
      const menu = bots[0]?.commandLists[0]?.commands ?? []
      expect(menu).toHaveLength(10)
      for (const [index, english] of menu.entries()) {
        const command = `bots[0].commandLists[0].commands[${index}]`
        const [title = '', says = ''] = [texts[`${command}.title`], texts[`${command}.description`]]
        expect(title.length).toBeLessThanOrEqual(32)
        expect(says.length).toBeLessThanOrEqual(128)
        expect(says).not.toBe(english.description)
        expect(parseCommand(title, language)?.command.name).toBe(english.title)
      }
      expect(Object.keys(texts)).toHaveLength(5 + 2 * menu.length)
    },
  )

  it('has icons of the sizes that Teams requires', () => {
    expect(png(files.get('color.png'))).toMatchObject({ width: 192, height: 192, signed: 'PNG' })
    expect(png(files.get('outline.png'))).toEqual({ width: 32, height: 32, signed: 'PNG', colourType: 6 })
  })

  it('has the same bytes for the same settings', () => {
    expect(appPackage(variables).equals(appPackage(variables))).toBe(true)
  })

  it('preserves any name and any bytes', () => {
    const entries = [
      { name: 'leer.txt', content: Buffer.alloc(0) },
      { name: 'Zürich/山田.bin', content: Buffer.from([0x50, 0x4b, 5, 6, 0, 255]) },
    ]
    expect([...unzip(zip(entries))]).toEqual(entries.map(({ name, content }) => [name, content]))
  })
})

describe('the version of the app', () => {
  const current = { sha256: recorded.sha256, organisation: 'Contoso' }
  const changed = { sha256: 'another hash', organisation: 'Contoso' }

  it('uses an up-to-date record of the product’s content', () => {
    const remedy =
      'The texts, commands or icons of the app changed. Run npm run manifest -- --sample and commit manifest/content.json.'
    expect(productHash(), remedy).toBe(recorded.sha256)
    expect(Number.isSafeInteger(recorded.number)).toBe(true)
  })

  it('is the same for the same content on each machine and after each publication', () => {
    expect(versionOf(current)).toMatch(new RegExp(`^0\\.${recorded.number}\\.\\d{1,5}$`))
    expect(versionOf(current, versionOf(current))).toBe(versionOf(current))
    expect(manifestFor(variables).version).toBe(manifestFor(variables, manifestFor(variables).version).version)
    expect(manifestFor(variables).version).toBe(manifestFor({ ...variables, CLIENT_ID: '' }).version)
  })

  it('is higher after a change of the product’s content, for any values of the organisation', () => {
    for (const organisation of ['Contoso', 'Fabrikam', 'A', 'B', 'C'])
      expect(standingOf(versionOf({ ...changed, organisation }), versionOf(current))).toBe('update')
  })

  it('is higher than the published version after any changes of the organisation’s values', () => {
    const values = fc.array(fc.string(), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(values, (organisations) => {
        let published = versionOf({ ...current, organisation: '' })
        let last = ''
        for (const organisation of organisations) {
          const version = versionOf({ ...current, organisation }, published)
          // Once in 100,000 changes, two values have the same mark (decision 25).
          const isSameMark = versionOf({ ...current, organisation }) === versionOf({ ...current, organisation: last })
          expect(standingOf(version, published)).toBe(isSameMark ? 'same' : 'update')
          ;[published, last] = [version, organisation]
        }
      }),
    )
  })

  it('differs for two values of the organisation', () => {
    const [one, other] = ['contoso.example', 'fabrikam.example'].map((organisation) =>
      versionOf({ ...current, organisation }),
    )
    expect(one).not.toBe(other)
  })

  it('is higher than all versions of the former numbering', () => {
    expect(standingOf(versionOf({ ...current, organisation: 0 }), '0.1.0')).toBe('update')
  })

  it('is older than the version of a newer product', () => {
    const newer = `0.${recorded.number + 1}.5`
    expect(standingOf(versionOf(current, newer), newer)).toBe('older')
    expect(() => versionOf(current, '1.0')).toThrow('“1.0” is not a version of the app. A version has three numbers')
  })
})

describe('npm run manifest', () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'manifest-'))
  const run = (more: Record<string, string>, published?: string): string =>
    writePackage({ ...variables, ...more }, folder, published)
  const versionIn = (output: string): string => /^Version ([\d.]+\d)/.exec(output)?.[1] ?? 'none'

  it('reports the changes since the last package, and gives each change a higher version', () => {
    const first = run({})
    expect(first).toContain('the first package in this folder')
    expect(run({})).toContain(`Version ${versionIn(first)}. Nothing changed since the last package.`)
    const moved = run({ BASE_URL: 'https://new.contoso.example' })
    expect(moved).toContain(`Changed since version ${versionIn(first)}:`)
    expect(moved).toContain('manifest.validDomains[0]: "quartermaster.contoso.example" → "new.contoso.example"')
    expect(moved).not.toContain('manifest.version')
    expect(standingOf(versionIn(moved), versionIn(first))).toBe('update')
    const back = run({})
    expect(standingOf(versionIn(back), versionIn(moved))).toBe('update')
    const manifest = unzip(readFileSync(join(folder, 'quartermaster.zip'))).get('manifest.json')
    expect(JSON.parse(String(manifest)).version).toBe(versionIn(back))
  })

  it('creates a version above the published version, and fails if a newer product has published', () => {
    const published = `0.${recorded.number}.99999999`
    expect(standingOf(versionIn(run({}, published)), published)).toBe('update')
    expect(() => run({}, `0.${recorded.number + 1}.0`)).toThrow(/A newer Quartermaster created version/)
  })
})
