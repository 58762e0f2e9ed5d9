import { createCommand } from '../command-line/create.ts'
import { siteFlags } from '../command-line/fields.ts'
import { siteKinds } from '../command-line/find.ts'
import type { SiteRequest } from '../index.ts'

export const createSite = createCommand({
  words: 'site create',
  kinds: siteKinds,
  fields: siteFlags,
  // The service judges what it is: every fault comes back with its field.
  send: async (scope, body, how) => (await scope.client()).createSite(body as SiteRequest, how),
})
