import type { AddressInfo } from 'node:net'
import restify from 'restify'
import { connectMicrosoft365, localCertificate } from '../../src/microsoft365/index.ts'
import { openDatabase } from '../../src/store/index.ts'
import { contosoTenant } from '../support/teams-user.ts'

/**
 * The minimum server with the same promise: restify, our own store, and one transaction with one row for each POST; an
 * answered row is on the disk. `POST /checked` first checks in the simulated tenant whether an address is free, as for
 * each accepted site. Prints its port.
 */
const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl, TENANT_URL: url = '' } = process.env
const database = await openDatabase({ dataDir, ...(databaseUrl && { databaseUrl }) })
await database.query('create table if not exists floor_rows (id uuid primary key, body jsonb not null)')
const urls = { loginUrl: url, directoryUrl: url, sharePointUrl: url, sharePointAdminUrl: url, exchangeUrl: url }
const { directory } = connectMicrosoft365({
  ...{ ...urls, tenantId: contosoTenant, clientId: '44444444-dddd-4ddd-8ddd-000000000001', fetch },
  ...{ certificate: localCertificate(), directoryExtension: 'svc_group' },
})

const server = restify.createServer()
server.use(restify.plugins.bodyParser())
const store = async (body: unknown): Promise<string> => {
  const id = crypto.randomUUID()
  const row = [id, JSON.stringify(body)]
  await database.transaction(() => database.query('insert into floor_rows (id, body) values ($1, $2)', row))
  return id
}
server.post('/rows', async (request: restify.Request, response: restify.Response) => {
  response.send(202, { id: await store(request.body) })
})
server.post('/checked', async (request: restify.Request, response: restify.Response) => {
  await directory.isSiteAddressFree(crypto.randomUUID())
  response.send(202, { id: await store(request.body) })
})
server.listen(0, '127.0.0.1', () => {
  console.log((server.server.address() as AddressInfo).port)
})
