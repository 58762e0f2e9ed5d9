import { readConfig } from '../../src/app/config.ts'
import { createApp } from '../../src/app/index.ts'

/**
 * The service in its own process, with the variables of its environment. The argument is the address of the Bot
 * connector's keys. Prints its own address and the tenant's, and stops in order on SIGTERM.
 */
const [, , connectorKeysUrl] = process.argv
const app = await createApp(readConfig(process.env), connectorKeysUrl ? { connectorKeysUrl } : {})
process.on('SIGTERM', () => {
  app
    .close()
    .then(() => process.exit(0))
    .catch(console.error)
})
process.stdout.write(`${app.url} ${app.endpoints.simulator?.url}\n`)
