import { defineCommand } from '../command-line/define-command.ts'
import { exitCodes } from '../command-line/exit-codes.ts'
import { mailboxKinds, siteKinds, templateIdOf } from '../command-line/find.ts'
import { clean } from '../command-line/terminal.ts'
import { fill, words } from '../command-line/words.ts'

/** Has the service try the webhook of a template once, and says what came back: a receiver's own test can wait for it. */
export const testWebhook = defineCommand({
  words: 'webhook test',
  options: {},
  operands: ['template'],
  async run(scope, _, [said = '']) {
    const { terminal, signal } = scope
    const client = await scope.client()
    const templateId = await templateIdOf(client, said, [...siteKinds, ...mailboxKinds], signal)
    const result = await client.testWebhook(templateId, { signal })
    const { taken, notTaken } = words.testWebhook
    const values = { status: clean(result.status), url: clean(result.url), milliseconds: result.milliseconds }
    terminal.result(result, [fill(result.delivered ? taken : notTaken, values)])
    return result.delivered ? exitCodes.done : exitCodes.cameToNothing
  },
})
