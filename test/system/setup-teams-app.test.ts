import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { appPackage } from '../../manifest/build.ts'
import recorded from '../../manifest/content.json' with { type: 'json' }
import { contentNumber } from '../../manifest/version.ts'
import { administrator, emptyTenant } from '../support/administrator.ts'
import { publishApp } from '../support/app-packages.ts'
import { installation } from '../support/setup-run.ts'

const current = contentNumber(recorded.sha256)

/** Runs setup with a catalogue that already has one version of the app. */
async function over(published: string) {
  const tenant = await emptyTenant()
  const graph = await administrator(tenant)
  const own = await installation(tenant)
  expect((await own.run({ args: [...own.answers, '--no-catalogue'] })).exit).toBe(0)
  const { MICROSOFT_APP_ID: bot = '', CLIENT_ID = '', BASE_URL = '' } = own.settings()
  const id = await publishApp(graph, bot, published)
  const { exit, text } = await own.run()
  expect(exit, text).toBe(0)
  expect(own.settings()).toMatchObject({ TEAMS_APP_ID: id })
  const { value } = await graph.api(`/appCatalogs/teamsApps/${id}/appDefinitions`).get()
  const versions = value.map(({ version }: { version: string }) => version)
  const variables = { MICROSOFT_APP_ID: bot, CLIENT_ID, BASE_URL }
  const file = readFileSync(join(own.folder, 'quartermaster.zip'))
  return { own, text, versions, fileIsFor: (version: string) => file.equals(appPackage(variables, version)) }
}

describe('an app in the catalogue', () => {
  it.each([
    ['an older content', `0.${current - 1}.99999`],
    ['the same content for another address', `0.${current}.499999`],
  ])('of %s is updated to a higher version', async (_, published) => {
    const { own, text, versions, fileIsFor } = await over(published)
    const [first, second, ...more] = versions
    expect([first, more]).toEqual([published, []])
    expect(text).toContain(`Update the app in the organisation’s catalogue to version ${second}`)
    expect(fileIsFor(second)).toBe(true)
    const again = await own.run()
    expect([again.exit, again.writes]).toEqual([0, []])
    expect(again.text).toContain('Nothing was changed.')
  })

  it('of a newer Quartermaster stays unchanged', async () => {
    const { versions } = await over('1.0.0')
    expect(versions).toEqual(['1.0.0'])
  })
})
