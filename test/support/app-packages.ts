import { readFileSync } from 'node:fs'
import type { Client } from '@microsoft/microsoft-graph-client'
import { manifestFor } from '../../manifest/build.ts'
import { zip } from '../../manifest/zip.ts'

/** Uploads the app of a bot to the organisation's catalogue in any version, and returns its id there. */
export async function publishApp(graph: Client, bot: string, version: string): Promise<string> {
  const variables = { MICROSOFT_APP_ID: bot, BASE_URL: 'https://earlier.contoso.example' }
  const manifest = { ...manifestFor(variables), version }
  const icon = (name: string) => ({ name, content: readFileSync(`manifest/${name}`) })
  const files = [{ name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) }]
  const body = zip([...files, icon('color.png'), icon('outline.png')])
  const { id } = await graph.api('/appCatalogs/teamsApps').header('content-type', 'application/zip').post(body)
  return id
}
