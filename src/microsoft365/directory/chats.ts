import type { Chat } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { because, type Tenant, TenantError } from '../../core/index.ts'
import {
  type CallService,
  fieldsOf,
  graphService,
  type InstallationBody,
  parseAnswer,
  query,
  quoted,
  segment,
} from '../wire/index.ts'
import { createCache } from './cache.ts'

interface ChatFinderParts {
  readonly call: CallService
  /** Graph's root with its version: `https://graph.microsoft.com/v1.0`. */
  readonly root: string
  /** The app's id in the organisation's catalogue. Without it the service looks up no chats and installs no apps. */
  readonly teamsAppId: string | undefined
  /** Called once for each reason of a refusal by Graph. */
  readonly warn: (message: string, fields: object) => void
  readonly now: (() => number) | undefined
}

/** How long the result "no chat" stays in the cache. Milliseconds. */
const keptMilliseconds = 10 * 60_000

const installations = z.object({
  value: z.array(z.object({ id: z.string().min(1), teamsApp: z.object({ id: z.string() }) })),
})
const chat = z.object({ id: z.string().regex(/^[\w:.@-]{1,255}$/) })

/**
 * Creates the function that finds a person's chat with the bot through the installation of the bot's app (Graph, "List apps
 * installed for user" and "Get chat between user and teamsApp"), and installs the app if requested (Graph, "Install app for
 * user": 201, or 409 when the person has it). All calls accept TeamsAppInstallation.ReadWriteSelfForUser.All. A refusal is
 * only a warning: core then treats the person as one without a chat, as without this setting.
 */
export function createChatFinder({ call, root, teamsAppId, warn, now }: ChatFinderParts): Tenant['findChat'] {
  if (teamsAppId === undefined) return async () => undefined
  const reported = new Set<string>()
  const cached = createCache<string | undefined>(now, keptMilliseconds)
  const apps = (personId: string) => `${root}/users/${segment(personId)}/teamwork/installedApps`

  async function isNew(personId: string): Promise<boolean> {
    const body: InstallationBody = { 'teamsApp@odata.bind': `${root}/appCatalogs/teamsApps/${teamsAppId}` }
    const purpose = because('installingApp')
    const answer = await call({ method: 'POST', url: apps(personId), body, purpose, accept: [409] })
    return answer.status !== 409
  }
  async function find(personId: string): Promise<string | undefined> {
    const purpose = because('findingChat')
    const filter = query({ $expand: 'teamsApp', $filter: `teamsApp/id eq ${quoted(teamsAppId ?? '')}` })
    const listed = await call({ url: `${apps(personId)}${filter}`, purpose, accept: [404] })
    if (listed.status === 404) return undefined
    const { value } = parseAnswer(installations, listed, graphService)
    const own = value.find(({ teamsApp }) => teamsApp.id.toLowerCase() === teamsAppId?.toLowerCase())
    if (!own) return undefined
    const url = `${apps(personId)}/${segment(own.id)}/chat${query({ $select: fieldsOf<Chat>('id') })}`
    const answer = await call({ url, purpose, accept: [404] })
    return answer.status === 404 ? undefined : parseAnswer(chat, answer, graphService).id
  }
  return async (personId, { install }) => {
    try {
      // A refusal is not cached: a permission that an admin grants a moment later takes effect at once.
      return await cached(`${install} ${personId}`, async () =>
        // Teams notifies the bot about a new installation by an activity. The chat may not exist before that.
        install && (await isNew(personId)) ? undefined : find(personId),
      )
    } catch (error) {
      if (!(error instanceof TenantError) || error.retryable) throw error
      // One warning for each reason: more people add no information.
      if (reported.has(error.message)) return undefined
      reported.add(error.message)
      warn('The chat of a person with the bot could not be found', { err: error, personId })
      return undefined
    }
  }
}
