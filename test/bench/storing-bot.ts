import type { AddressInfo } from 'node:net'
import { CloudAdapter, ConfigurationBotFrameworkAuthentication, type TurnContext } from 'botbuilder'
import restify from 'restify'
import { openDatabase } from '../../src/store/index.ts'

/**
 * The minimum bot that answers no activity twice: it claims the activity in our store, reads one row of the person, sends
 * the given card, and marks the activity as done. Arguments: the folder of the store, the address of the PostgreSQL server
 * or `''`, and the attachments of the reply as JSON. Prints its port.
 */
const [dataDir = '', databaseUrl = '', attachments = '[]'] = process.argv.slice(2)
const database = await openDatabase({ dataDir, ...(databaseUrl && { databaseUrl }) })
await database.query(
  'create table if not exists floor_activities (id text primary key, person text not null, done_at timestamptz)',
)
await database.query('create table if not exists floor_people (id text primary key, name text not null)')

async function answer(context: TurnContext): Promise<void> {
  const { type, id, from } = context.activity
  if (type !== 'message') return
  const row = [id, from.id]
  const { rows } = await database.query(
    'insert into floor_activities (id, person) values ($1, $2) on conflict do nothing returning id',
    row,
  )
  if (rows.length === 0) return
  const known = await database.query('select name from floor_people where id = $1', [from.id])
  if (known.rows.length === 0)
    await database.query('insert into floor_people (id, name) values ($1, $2)', [from.id, from.name])
  await context.sendActivity({ type: 'message', attachments: JSON.parse(attachments) })
}

const adapter = new CloudAdapter(new ConfigurationBotFrameworkAuthentication({}))
const server = restify.createServer()
server.use(restify.plugins.bodyParser())
server.post('/api/messages', async (request: restify.Request, response: restify.Response) => {
  await adapter.process(request, response, answer)
  // After the answer, as in the service.
  await database.query('update floor_activities set done_at = now() where id = $1', [request.body.id])
})
server.listen(0, '127.0.0.1', () => {
  console.log((server.server.address() as AddressInfo).port)
})
