import { type Tenant, TenantError } from '../../core/index.ts'
import { type CallService, segment } from '../wire/index.ts'

export interface AppInstallParts {
  readonly call: CallService
  /** Graph's root with its version: `https://graph.microsoft.com/v1.0`. */
  readonly root: string
  /** The app's id in the organisation's catalogue; without it no app is installed. */
  readonly teamsAppId: string | undefined
  /** Called once for each reason why an installation failed. */
  readonly warn: (message: string, fields: object) => void
}

/**
 * Creates the function that installs the bot's app for a person (Graph, "Install app for user": 201, or 409 when it is
 * installed). Teams then notifies the bot of the new chat by an activity. A refusal is only a warning: core later treats
 * the person as unreachable, as without this setting.
 */
export function createAppInstall({ call, root, teamsAppId, warn }: AppInstallParts): Tenant['installApp'] {
  const reported = new Set<string>()
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
      // One warning for each reason: further people add no information.
      if (reported.has(error.message)) return
      reported.add(error.message)
      warn('The app could not be installed for an approver', { err: error, personId })
    }
  }
}
