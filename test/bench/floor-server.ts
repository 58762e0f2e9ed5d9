import type { AddressInfo } from 'node:net'
import restify from 'restify'
import { openDatabase } from '../../src/store/index.ts'

/**
 * The least that can promise anything: restify, our own store, and one transaction with one row for each POST. What it
 * answered is on the disk. Prints its port.
 */
const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl } = process.env
const database = await openDatabase({ dataDir, ...(databaseUrl && { databaseUrl, schema: 'floor' }) })
await database.query('create table if not exists floor_rows (id uuid primary key, body jsonb not null)')

const server = restify.createServer()
server.use(restify.plugins.bodyParser())
server.post('/rows', async (request: restify.Request, response: restify.Response) => {
  const id = crypto.randomUUID()
  await database.transaction(() =>
    database.query('insert into floor_rows (id, body) values ($1, $2)', [id, JSON.stringify(request.body)]),
  )
  response.send(202, { id })
})
server.listen(0, '127.0.0.1', () => {
  console.log((server.server.address() as AddressInfo).port)
})
process.once('SIGTERM', () => {
  server.close()
  void database.close()
})
