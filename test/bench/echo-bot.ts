import type { AddressInfo } from 'node:net'
import { CloudAdapter, ConfigurationBotFrameworkAuthentication, type TurnContext } from 'botbuilder'
import restify from 'restify'

/** The minimum bot: botbuilder's own sample, which echoes each message. Prints its port. */
const adapter = new CloudAdapter(new ConfigurationBotFrameworkAuthentication({}))
const echo = async (context: TurnContext): Promise<void> => {
  if (context.activity.type === 'message') await context.sendActivity(`You said: ${context.activity.text}`)
}

const server = restify.createServer()
server.use(restify.plugins.bodyParser())
server.post('/api/messages', async (request: restify.Request, response: restify.Response) => {
  await adapter.process(request, response, echo)
})
server.listen(0, '127.0.0.1', () => {
  console.log((server.server.address() as AddressInfo).port)
})
