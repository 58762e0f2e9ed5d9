/** Replaces all text that could name an organisation or a person, except text that is known to be harmless. */
export interface Scrubber {
  /** Returns a text with replacements. */
  text(value: string): string
  /** Returns the replacement for the name of a property. */
  property(name: string): string
  /** Returns JSON with replaced values. Names of properties stay. */
  value(json: unknown): unknown
  /** Returns a URL with `{id}` instead of ids, for comparisons. */
  template(url: string): string
}

/** Texts of Microsoft's protocols, which are in the answers and addresses of every tenant. */
const protocol = new Set(
  [
    'http https v1.0 beta groups users sites root owners members directory deletedItems organization $ref $select $filter $top',
    '$expand $search $metadata $entity search eq or and in startswith any _api web Web site Site SPO.Tenant SPSiteManager status',
    'create delete SP.Site.Exists associatedownergroup Title Description IsProvisioningComplete Owner OwnerLoginName',
    'SensitivityLabel2 LoginName Id id displayName mailNickname mail userPrincipalName accountEnabled userType verifiedDomains',
    'webUrl uniqueName extensionAttribute1 extensionAttribute3 requestId teamwork installedApps appCatalogs teamsApps teamsApp',
    'appDefinitions teamsAppDefinition oauth2 v2.0 token common microsoft.graph.user microsoft.graph.group adminapi InvokeCommand',
    'Collection Exchange.GenericHashTable String Unified Private Public Member Guest Email OfficeCommunicationsOnline Managed',
    'SharedMailbox RoomMailbox EquipmentMailbox UserMailbox SMTP smtp FullAccess SendAs All None True False Enabled Disabled',
    'membership i 0 .f 0#.f c 0o.c federateddirectoryclaimprovider Bearer organization published odata.maxpagesize',
    'create-if-missing return representation eventual client-request-id error message code Client Server Error executing cmdlet',
    'teamSite communicationSite 4.0 ExternalDirectoryObjectId was not returned service asserted level PoP SITEPAGEPUBLISHING GROUP STS EHS Active',
    'users groups Graph Kiota not found Resource does exist Bad Request itemNotFound accessDenied generalException',
  ].flatMap((line) => line.split(' ')),
)

/** Codes of errors and exceptions, and names of cmdlets. */
const codes =
  /^(?:Ex[0-9A-F]{6}|AADSTS\d+|(?:Request|Authorization|Directory)_[A-Za-z]+|(?:[A-Z][A-Za-z]+\.)*[A-Z][A-Za-z]*(?:Exception|NotFound|Failure|Error|Request|Denied|Conflict)|(?:Get|Set|New|Add|Remove)-[A-Z][A-Za-z]+)$/
const instants = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/
const guids = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi
/** Separate the parts of a text. Each part that is not known is replaced as a whole, also an opaque id. */
const separators = /([\s/:,;'"()[\]{}|@?=&<>!#*+%\\]+)/
/** Matches replacements, so that a replay does not replace them again. */
const replaced = /^(?:word\d+|[a-z-]+\d*\.example|00000000-0000-4000-8000-\d{12}(?:-access)?|0|1|100|999|1000|\{id\}|)$/
/** Matches properties that only this organisation has. */
const ownProperty = /^(?:extension_[0-9a-f]{32}_|ext[0-9a-z]{8}_)/i

/**
 * Creates a scrubber. `known`: values of the organisation with their replacements; `kept`: names that we have chosen
 * ourselves. Equal values get equal replacements; case is ignored.
 */
export function createScrubber({
  known,
  kept,
}: {
  readonly known: ReadonlyMap<string, string>
  readonly kept: RegExp
}): Scrubber {
  const parts = new Map<string, string>()
  const ids = new Map<string, string>()
  const longest = [...known].toSorted(([one], [other]) => other.length - one.length)

  const idFor = (guid: string): string => {
    const key = guid.toLowerCase()
    if (replaced.test(key)) return key
    const found = ids.get(key) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(key, found)
    return found
  }
  const partFor = (part: string): string => {
    if (protocol.has(part) || codes.test(part) || replaced.test(part) || kept.test(part)) return part
    const key = part.toLowerCase()
    const found = parts.get(key) ?? `word${parts.size + 1}`
    parts.set(key, found)
    return found
  }
  function text(value: string): string {
    if (instants.test(value)) return value
    let result = decoded(value)
    for (const [own, instead] of longest) result = replaceAll(result, own, instead)
    return result
      .replace(guids, idFor)
      .split(separators)
      .map((part, index) => (index % 2 === 1 ? part : partFor(part)))
      .join('')
  }
  const property = (name: string): string => known.get(name) ?? name
  function value(json: unknown): unknown {
    if (typeof json === 'string') return text(json)
    if (Array.isArray(json)) return json.map(value)
    if (typeof json !== 'object' || json === null) return json
    return Object.fromEntries(
      Object.entries(json).flatMap(([name, one]) => {
        const shown = property(name)
        return shown === name && ownProperty.test(name) && !kept.test(name) ? [] : [[shown, value(one)]]
      }),
    )
  }
  return {
    text,
    property,
    value,
    template: (url) => text(url).replace(guids, '{id}'),
  }
}

/** Replaces all occurrences of a value. Case is ignored. */
function replaceAll(text: string, own: string, instead: string): string {
  if (own === '') return text
  const pattern = new RegExp(own.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi')
  return text.replace(pattern, () => instead)
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
