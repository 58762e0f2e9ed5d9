import { readConfig } from '../../src/app/config.ts'
import { createApp } from '../../src/app/index.ts'

/**
 * The service in a process of its own, with the variables of its environment, the Bot connector's keys from the address
 * given as its word: prints where it is and where its simulated tenant is, and ends in order on SIGTERM.
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
