import { type Tenant, TenantError } from '../../core/index.ts'
import { type CallService, segment } from '../wire/index.ts'

export interface AppInstallParts {
  readonly call: CallService
  /** Graph's root with its version: `https://graph.microsoft.com/v1.0`. */
  readonly root: string
  /** The app's id in the organisation's catalogue; without it nothing is asked. */
  readonly teamsAppId: string | undefined
  /** Told once of each reason for which nothing could be installed. */
  readonly warn: (message: string, fields: object) => void
}

/**
 * Installs the bot's app for a person (Graph, "Install app for user"): 201, or 409 when they have it. Teams then tells the bot of
 * the new chat by an activity of its own, which is all that is waited for. To be refused is no error: the person is
 * taken for unreachable in time, as without this setting.
 */
export function createAppInstall({ call, root, teamsAppId, warn }: AppInstallParts): Tenant['installApp'] {
  const told = new Set<string>()
  return async (personId) => {
    if (teamsAppId === undefined) return
    try {
      await call({
        method: 'POST',
        url: `${root}/users/${segment(personId)}/teamwork/installedApps`,
        body: { 'teamsApp@odata.bind': `${root}/appCatalogs/teamsApps/${teamsAppId}` },
        purpose: 'installing the app for an approver',
        accept: [409],
      })
    } catch (error) {
      if (!(error instanceof TenantError) || error.retryable) throw error
      // One line for "no permission", whoever it was about: there is nothing to see in the second.
      if (told.has(error.message)) return
      told.add(error.message)
      warn('The app could not be installed for an approver', { err: error, personId })
    }
  }
}
