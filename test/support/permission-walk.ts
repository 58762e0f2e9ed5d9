import { type SiteStep, TenantError } from '../../src/core/index.ts'
import type { Microsoft365 } from '../../src/microsoft365/index.ts'
import { runMailbox, wholeMailbox } from './mailbox-steps.ts'
import { approversGroup, confidential, dana, kim, omar } from './microsoft365.ts'
import { runSteps, siteInput } from './simulated-tenant.ts'

const siteSteps: readonly SiteStep[] = [
  ...(['create-site', 'wait-for-site', 'add-owners', 'apply-label', 'ready-check', 'link-group'] as const),
]
const signal = AbortSignal.timeout(60_000)

/** All features of the product in a tenant, by their names for people. Each function makes all calls of its feature. */
export function featuresOf({ tenant, directory }: Microsoft365): Readonly<Record<string, () => Promise<unknown>>> {
  const site = (kind: 'teamSite' | 'communicationSite') => async () => {
    const input = siteInput({ kind, owners: [dana], labelId: confidential })
    await directory.isSiteAddressFree(input.alias)
    await runSteps(tenant, siteSteps, input)
    await directory.findProvisionedGroup(input.requestId)
  }
  return {
    'sign-in and approvals': async () => {
      await directory.person(kim.id)
      await directory.people([kim.id, dana.id])
      await directory.manager(kim.id)
      await directory.profile(kim.id)
      await directory.addressesOf(kim.id)
      await directory.groupsOf(kim.id)
      await directory.findPeople('dana')
      await directory.isExternal(kim.id)
      await directory.mailDomains()
    },
    'approver groups': async () => {
      await directory.membersOf(approversGroup)
      await directory.ownersOf(approversGroup)
      await directory.groupName(approversGroup)
      await directory.findGroups('Site')
    },
    'team sites': site('teamSite'),
    'communication sites': site('communicationSite'),
    mailboxes: async () => {
      const input = wholeMailbox()
      await directory.isMailboxNameFree(input.address)
      await directory.deletedMail(input.address)
      await directory.unknownToExchange([dana, omar])
      await runMailbox(tenant, input)
    },
    'similar names': async () => {
      const query = { kind: 'teamSite', beginnings: ['marketing'], signal } as const
      const found = await directory.similar(query)
      await directory.visibleTo(kim, found, query)
      if (!found.some(({ address }) => address.includes('/sites/')))
        throw new TypeError('Sites are missing among similar names.')
    },
    'former addresses': async () => {
      const keys: string[] = []
      for await (const page of directory.addressesInUse()) keys.push(...page.map(({ key }) => key))
      if (!keys.some((key) => key.startsWith('site:'))) throw new TypeError('Addresses of sites are missing.')
    },
    'app installation': async () => {
      // The second call finds the installed app, and looks up its chat.
      await tenant.findChat(dana.id, { install: true })
      await tenant.findChat(dana.id, { install: false })
    },
  }
}

/** Runs every feature. Returns the error of each one that fails, with its message if it is for admins. */
export async function brokenFeatures(microsoft365: Microsoft365): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>()
  for (const [name, run] of Object.entries(featuresOf(microsoft365))) {
    await run().catch((error: unknown) => {
      if (!(error instanceof TenantError) && !(error instanceof TypeError)) throw error
      broken.set(name, error instanceof TenantError ? error.message : '')
    })
  }
  return broken
}
