/** The longest that an answer is held, in seconds: well below what proxies and clients give up after. */
export const longestWait = 30

/**
 * How many seconds a caller would rather wait than hear that nothing has changed (`Prefer: wait=30`, RFC 7240 §4.3), up to
 * {@link longestWait}. 0: there is no such wish. What is malformed is no wish (§2), and the first of two counts.
 */
export function waitWished(prefer: string | undefined): number {
  // What stands in quotes belongs to other preferences, commas and all.
  const wishes = (prefer ?? '').replace(/"(?:[^"\\]|\\.)*"?/g, '').split(',')
  const named = wishes.map((wish) => wish.split(';')[0]?.split('=') ?? [])
  const [, value = ''] = named.find(([name = '']) => name.trim().toLowerCase() === 'wait') ?? []
  return /^\s*\d{1,15}\s*$/.test(value) ? Math.min(Number(value), longestWait) : 0
}
