import { defineCommand, UsageError } from '../command-line/define-command.ts'
import { findRequest } from '../command-line/find.ts'
import { watch } from '../command-line/watch.ts'
import { words } from '../command-line/words.ts'

export const watchRequest = defineCommand({
  words: 'request watch',
  options: { timeout: { type: 'number', value: '<seconds>' } },
  operands: ['request'],
  async run(scope, { timeout }, [said = '']) {
    if (timeout !== undefined && timeout < 0) throw new UsageError(words.usage.timeout, 'request watch')
    return watch(scope, await findRequest(await scope.client(), said, scope.signal), timeout)
  },
})
