import { createCommand } from '../command-line/create.ts'
import { mailboxFlags } from '../command-line/fields.ts'
import { mailboxKinds } from '../command-line/find.ts'
import type { MailboxRequest } from '../index.ts'

export const createMailbox = createCommand({
  words: 'mailbox create',
  kinds: mailboxKinds,
  fields: mailboxFlags,
  // The service judges what it is: every fault comes back with its field.
  send: async (scope, body, how) => (await scope.client()).createMailbox(body as MailboxRequest, how),
})
