/** Ids that are equal in every run of local mode: its tenant, people, groups, labels and templates. */
const lasting = /^(0c0ffee0|11111111|22222222|33333333|4f6b1f0a|c3d1e5f7|5a7c9e1b|e1f2a3b4)-/

/** Patterns of values that differ from run to run, with their placeholders. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b[0-9a-f]{64}\b/g, '<hash>'],
  [/\b[0-9a-f]{32}\b/g, '<trace>'],
  [/https?:\/\/[^/"]+/g, '<host>'],
  [/[\w.-]+(:\d+)?,<id>,<id>/g, '<site>'],
  [/REQ-\d+/g, 'REQ-<number>'],
  [/\b\d+ ms\b/g, '<quickness>'],
  [/(?<=Waiting or running: )\d+/g, '<number>'],
  [/\b(\d+ (second|minute)s?|less than a second)\b/g, '<duration>'],
  [/\b(apollo|hermes|minerva)(-\d+)?(-[0-9a-f]{8})?\b/g, '$1'],
]

/** Names of measurements. */
const measured = new Set([
  ...['milliseconds', 'seconds', 'version', 'uptimeSeconds', 'waiting', 'oldestSeconds', 'watchedSecondsAgo'],
  ...['calls', 'failed', 'throttled', 'timedOut', 'errorRate'],
])

/** Replaces the values of an answer that differ from run to run, so that two answers can be compared. */
export function alike(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => alike(one))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, alike(member, name)]))
  if (key === 'nextCursor') return '<cursor>'
  if (measured.has(key)) return '<number>'
  if (typeof value !== 'string') return value
  const withoutIds = value.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, (id) =>
    lasting.test(id) ? id : '<id>',
  )
  return passing.reduce((text, [what, name]) => text.replace(what, name), withoutIds)
}
