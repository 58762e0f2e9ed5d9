/** Replaces everything that could name an organisation or a person. What is not known to be harmless is replaced. */
export interface Scrubber {
  /** A text, with replaced words. */
  text(value: string): string
  /** The name of a property. */
  property(name: string): string
  /** JSON: properties stay, values are replaced. */
  value(json: unknown): unknown
  /** A URL with `{id}` instead of ids, for comparisons. */
  template(url: string): string
}

/** Words of Microsoft's protocols that are in answers and addresses. Everybody's answers have them. */
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
/** Ids in a row of hexadecimal digits, and other long opaque words, are replaced as words. */
const separators = /([\s/:,;'"()[\]{}|@?=&<>!#*+%\\]+)/
/** What a replaced word looks like, so that a replay leaves it alone. */
const replaced = /^(?:word\d+|[a-z-]+\d*\.example|00000000-0000-4000-8000-\d{12}(?:-access)?|0|1|100|999|1000|\{id\}|)$/
/** Properties that only this organisation has. */
const ownProperty = /^(?:extension_[0-9a-f]{32}_|ext[0-9a-z]{8}_)/i

/**
 * Creates a scrubber. `known`: values of the organisation and what replaces each; `kept`: words that we have chosen ourselves.
 * Equal values become equal replacements, in any case of letters.
 */
export function createScrubber({
  known,
  kept,
}: {
  readonly known: ReadonlyMap<string, string>
  readonly kept: RegExp
}): Scrubber {
  const words = new Map<string, string>()
  const ids = new Map<string, string>()
  const longest = [...known].toSorted(([one], [other]) => other.length - one.length)

  const idFor = (guid: string): string => {
    const key = guid.toLowerCase()
    if (replaced.test(key)) return key
    const found = ids.get(key) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(key, found)
    return found
  }
  const wordFor = (word: string): string => {
    if (protocol.has(word) || codes.test(word) || replaced.test(word) || kept.test(word)) return word
    const key = word.toLowerCase()
    const found = words.get(key) ?? `word${words.size + 1}`
    words.set(key, found)
    return found
  }
  function text(value: string): string {
    if (instants.test(value)) return value
    let result = decoded(value)
    for (const [own, instead] of longest) result = replaceAll(result, own, instead)
    return result
      .replace(guids, idFor)
      .split(separators)
      .map((part, index) => (index % 2 === 1 ? part : wordFor(part)))
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

/** Replaces a value wherever it is, in any case of letters. */
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
