import { because, type Reason } from './reason.ts'

/** The longest value that a pattern is held against, in characters: what metadata may have. */
const longestValue = 1024
/** The most ways in which a pattern may try one value, and the most steps that all of them may take together. */
const mostWays = 2_000_000
const mostSteps = 64_000_000

/** One thing that stands in a pattern; what follows it may be a quantifier. */
const token = /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<[^>]*>|[^:)]*:))?|./suy
const quantifier = /([*+?]|\{(\d+)(,?)(\d*)\})\??/uy

/**
 * What keeps an admin's pattern from being used; undefined when nothing does.
 * It is matched with the flag `u` against the whole of a value, on the event loop, so only what cannot take long is let
 * in. Without quantified groups, lookaround and backreferences a match tries at most as many ways as the widths of its
 * quantifiers and alternatives multiply to, each of which takes at most as many steps as the shortest match is long.
 */
export function patternFault(source: string): Reason | undefined {
  if (!isRegExp(source)) return because('patternInvalid')
  let ways = 1
  let shortest = 1
  /** For each open group, how many alternatives it has; the pattern itself is the first. */
  const alternatives = [1]
  for (let at = 0; at < source.length; ) {
    const thing = read(token, source, at)?.[0] ?? ''
    at += thing.length
    if (/^\\[1-9k]/.test(thing)) return because('patternBackreference')
    if (/^\(\?<?[=!]/.test(thing)) return because('patternLookaround')
    if (thing.startsWith('(')) alternatives.push(1)
    else if (thing === '|') alternatives.push((alternatives.pop() ?? 0) + 1)
    const ended = thing === ')' ? (alternatives.pop() ?? 1) : 1
    const repeated = read(quantifier, source, at)
    if (repeated && thing === ')') return because('patternRepeatedGroup')
    const { minimum, width } = repeated ? extent(repeated) : { minimum: 1, width: 1 }
    at += repeated?.[0].length ?? 0
    ways *= width * ended
    shortest += minimum
  }
  ways *= alternatives[0] ?? 1
  if (ways <= mostWays && ways * shortest <= mostSteps) return undefined
  return because('patternTooManyWays', { signs: '* + ? {,} and |', bounds: '{1,20}' })
}

/** The pattern as it is used: for the whole value. */
export const wholeValue = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, 'u')

function isRegExp(source: string): boolean {
  try {
    // Alone too: ")(" is none, although it would be one inside the brackets. Some are refused only when first used.
    new RegExp(source, 'u')
    return wholeValue(source).test('') !== undefined
  } catch {
    return false
  }
}

/** How often at least, and how many different numbers of times, something may stand there. */
function extent([, sign = '', from = '', comma = '', to = '']: RegExpExecArray): { minimum: number; width: number } {
  if (sign === '?') return { minimum: 0, width: 2 }
  if (sign === '*' || sign === '+') return { minimum: sign === '+' ? 1 : 0, width: longestValue }
  const minimum = Number(from)
  if (comma === '') return { minimum, width: 1 }
  return { minimum, width: to === '' ? longestValue : Number(to) - minimum + 1 }
}

function read(what: RegExp, source: string, at: number): RegExpExecArray | null {
  what.lastIndex = at
  return what.exec(source)
}
