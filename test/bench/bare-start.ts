import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { CloudAdapter, ConfigurationBotFrameworkAuthentication } from 'botbuilder'
import pg from 'pg'
import restify from 'restify'

/**
 * The minimum that a bot with a database starts: restify, an unused botbuilder adapter, and PostgreSQL that has
 * answered once, embedded or a server. Prints its address.
 */
const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl, PORT: port } = process.env
const answers = databaseUrl
  ? new pg.Pool({ connectionString: databaseUrl }).query('select 1')
  : new PGlite(join(dataDir, 'bare')).query('select 1')
await answers
const adapter = new CloudAdapter(new ConfigurationBotFrameworkAuthentication({}))

const server = restify.createServer()
server.use(restify.plugins.bodyParser())
server.post('/api/messages', async (request: restify.Request, response: restify.Response) => {
  await adapter.process(request, response, async () => undefined)
})
server.get('/readyz', (_request: restify.Request, response: restify.Response, next: restify.Next) => {
  response.send(200, {})
  next()
})
server.get('/metrics', (_request: restify.Request, response: restify.Response, next: restify.Next) => {
  response.sendRaw(200, `process_resident_memory_bytes ${process.memoryUsage.rss()}\n`)
  next()
})
server.listen(Number(port), '127.0.0.1', () => {
  console.log(`The floor answers at ${port}`)
})
process.on('SIGTERM', () => process.exit(0))
