import { contoso, type Operation, operation, personNow, select, type Tenant } from '../tenant/index.ts'
import { userDefaults, userDoc } from './users.ts'
import { badRequest, type GraphSettings, listReply, notFound } from './wire.ts'

/** Creates the operations of the organisation, its domains, its group settings and the signed-in person. */
export function organizationOperations(tenant: Tenant, { url }: GraphSettings): readonly Operation[] {
  return [
    operation('graph.organization.list', 'GET', /^\/v1\.0\/organization$/, (call) => {
      const doc = { id: contoso.tenantId, displayName: contoso.displayName, verifiedDomains }
      return listReply(call, url, 'organization', [select(doc, call.query)])
    }),
    operation('graph.domains.list', 'GET', /^\/v1\.0\/domains$/, (call) => {
      const docs = domains.map((doc) => select(doc, call.query))
      return listReply(call, url, 'domains', docs)
    }),
    operation('graph.me', 'GET', /^\/v1\.0\/me$/, (call) => {
      const { userId } = call.caller
      if (userId === undefined) return badRequest(call, '/me request is only valid with delegated authentication flow.')
      const person = personNow(tenant, userId) ?? notFound(call, userId)
      const doc = select(userDoc(tenant, person, call.caller), call.query, userDefaults)
      return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#users/$entity`, ...doc } }
    }),
    // Without a naming policy the list is empty, as in a new tenant.
    operation('graph.groupSettings.list', 'GET', /^\/v1\.0\/groupSettings$/, () => {
      const { groupPrefix } = tenant.modes
      const value = groupPrefix === '' ? [] : [unifiedSettings(groupPrefix)]
      return { status: 200, body: { '@odata.context': `${url}/v1.0/$metadata#groupSettings`, value } }
    }),
  ]
}

const verifiedDomains = contoso.domains.map((name, index) => ({
  capabilities: 'Email, OfficeCommunicationsOnline',
  isDefault: index === 0,
  isInitial: index === 0,
  name,
  type: 'Managed',
}))

const domains = contoso.domains.map((id, index) => ({
  id,
  authenticationType: 'Managed',
  availabilityStatus: null,
  isAdminManaged: true,
  isDefault: index === 0,
  isInitial: index === 0,
  isRoot: true,
  isVerified: true,
  supportedServices: ['Email', 'OfficeCommunicationsOnline'],
}))

const unifiedSettings = (prefix: string) => ({
  id: '00000000-0000-4000-8000-000000000366',
  displayName: 'Group.Unified',
  templateId: '62375ab9-6b52-47ed-826b-58e47e0e304b',
  values: [
    { name: 'CustomBlockedWordsList', value: '' },
    { name: 'PrefixSuffixNamingRequirement', value: `${prefix}[GroupName]` },
  ],
})
