import { readFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import type { Client } from '@microsoft/microsoft-graph-client'
import type { TeamsApp } from '@microsoft/microsoft-graph-types'
import { beforeEach, describe, expect, it } from 'vitest'
import { appPackage, manifestFor } from '../../manifest/build.ts'
import { zip } from '../../manifest/zip.ts'
import type { Simulator } from '../../src/simulator/index.ts'
import { administrator, delegatedToken, emptyTenant } from '../support/administrator.ts'
import { ask, kim, tokenOf } from '../support/simulator.ts'

const botId = '0b07b07b-1111-4222-8333-444455556666'
const variables = { MICROSOFT_APP_ID: botId, BASE_URL: 'https://provisioning.contoso.example' }
const icon = (name: string) => ({ name, content: readFileSync(new URL(`../../manifest/${name}`, import.meta.url)) })
/** Returns the product's package with changes of its manifest. */
const packageWith = (change: object) =>
  zip([
    { name: 'manifest.json', content: Buffer.from(JSON.stringify({ ...manifestFor(variables), ...change })) },
    icon('color.png'),
    icon('outline.png'),
  ])

describe('the catalogue of Teams', () => {
  let tenant: Simulator
  let graph: Client
  beforeEach(async () => {
    tenant = await emptyTenant()
    graph = await administrator(tenant)
  })
  async function upload(path: string, body: Buffer, person = 'sam', scopes?: readonly string[]) {
    const token = await delegatedToken(tenant, person, scopes)
    const response = await fetch(`${tenant.url}/v1.0/appCatalogs/teamsApps${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/zip' },
      body: new Uint8Array(body),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const find = (): Promise<{ value: TeamsApp[] }> =>
    graph.api('/appCatalogs/teamsApps').filter(`externalId eq '${botId}'`).expand('appDefinitions').get()

  it('publishes the product’s package once, and shows it by its external id', async () => {
    expect((await find()).value).toEqual([])
    const published = await upload('', appPackage(variables))
    expect(published).toMatchObject({
      status: 201,
      body: { externalId: botId, displayName: 'Quartermaster', distributionMethod: 'organization' },
    })
    const [app] = (await find()).value
    const version = manifestFor(variables).version
    expect(app).toMatchObject({ id: published.body.id, appDefinitions: [{ version, publishingState: 'published' }] })
    expect(await upload('', appPackage(variables))).toMatchObject({
      status: 409,
      body: { error: { code: 'Conflict', message: expect.stringContaining('App with same id already exists') } },
    })
  })

  it('accepts an update only with a higher version', async () => {
    const { body } = await upload('', packageWith({ version: '1.9.0' }))
    const update = (version: string, change = {}) =>
      upload(`/${body.id}/appDefinitions`, packageWith({ version, ...change }))
    for (const version of ['1.9.0', '1.8.9'])
      expect(await update(version)).toMatchObject({ status: 409, body: { error: { code: 'Conflict' } } })
    expect((await update('1.10.0', { name: { short: 'Renamed' } })).status).toBe(204)
    const [app] = (await find()).value
    expect(app?.displayName).toBe('Renamed')
    expect(app?.appDefinitions?.map(({ version }) => version)).toEqual(['1.9.0', '1.10.0'])
    expect((await update('2.0.0', { id: kim })).status).toBe(400)
  })

  it.each([
    ['no zip', Buffer.from('{}'), 'not a valid zip archive'],
    ['no manifest', zip([icon('color.png')]), 'no manifest.json'],
    ['a wrong version', packageWith({ version: '1.0' }), 'version'],
    ['an address without https', packageWith({ developer: { name: 'x', websiteUrl: 'http://x' } }), 'developer'],
    ['a long name', packageWith({ name: { short: 'x'.repeat(31) } }), 'name.short'],
    ['a missing icon', packageWith({ icons: { color: 'c.png', outline: 'outline.png' } }), "no icon 'c.png'"],
    ['a wrong icon', packageWith({ icons: { color: 'outline.png', outline: 'outline.png' } }), '192 by 192'],
  ])('refuses a package with %s', async (_, content, message) => {
    expect(await upload('', content)).toMatchObject({
      status: 400,
      body: { error: { code: 'BadRequest', message: expect.stringContaining(message) } },
    })
  })

  it('reads compressed packages', async () => {
    const entry = (name: string, content: Buffer) => ({ name, content: deflateRawSync(content) })
    const files = [
      entry('manifest.json', Buffer.from(JSON.stringify(manifestFor(variables)))),
      ...['color.png', 'outline.png'].map((name) => entry(name, icon(name).content)),
    ]
    // Our zip writer only stores files. The method is field 8 of a file's header, and field 10 in the directory.
    const archive = zip(files)
    for (let at = 0; at < archive.length - 4; at += 1) {
      if (archive.readUInt32LE(at) === 0x04034b50) archive.writeUInt16LE(8, at + 8)
      if (archive.readUInt32LE(at) === 0x02014b50) archive.writeUInt16LE(8, at + 10)
    }
    expect((await upload('', archive)).status).toBe(201)
  })

  it('lets only Teams administrators publish; other people submit an app for review', async () => {
    expect(await upload('', appPackage(variables), 'kim')).toMatchObject({
      status: 403,
      body: { error: { code: 'Forbidden' } },
    })
    expect((await upload('', appPackage(variables), 'sam', ['AppCatalog.Submit'])).status).toBe(403)
    expect((await upload('', appPackage(variables), 'sam', ['Group.ReadWrite.All'])).status).toBe(403)
    const submitted = await upload('?requiresReview=true', appPackage(variables), 'kim', ['AppCatalog.Submit'])
    expect(submitted.status).toBe(201)
    const [app] = (await find()).value
    expect(app?.appDefinitions).toMatchObject([{ publishingState: 'submitted' }])
  })

  it('contains the app that a service installs for people', async () => {
    const { body } = await upload('', appPackage(variables))
    const url = `${tenant.url}/v1.0/users/${kim}/teamwork/installedApps`
    await ask('POST', `${tenant.url}/control/consents`, {
      body: { resource: 'graph', roles: ['TeamsAppInstallation.ReadWriteSelfForUser.All'] },
    })
    const token = await tokenOf(tenant)
    const bind = { 'teamsApp@odata.bind': `https://graph.microsoft.com/v1.0/appCatalogs/teamsApps/${body.id}` }
    expect((await ask('POST', url, { token, body: bind })).status).toBe(201)
    const { value } = (await ask('GET', `${url}?$expand=teamsApp`, { token })).body
    expect(value).toMatchObject([{ teamsApp: { id: body.id, externalId: botId } }])
    const chat = await ask('GET', `${url}/${value[0].id}/chat`, { token })
    expect(chat.body.id).toContain(botId)
    await graph.api(`/appCatalogs/teamsApps/${body.id}`).delete()
    expect((await ask('GET', url, { token })).body.value).toEqual([])
  })
})
