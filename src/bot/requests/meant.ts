/** The request that a typed text means: by its number, or by a part of its name. */
import type { Request } from '../../core/index.ts'
import { wordsInCommon } from '../channel/sentences/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { showNotice, undefinedIfNotFound } from '../define.ts'

/** How many of a person's newest requests are searched. */
export const newestSearched = 100

/** Whether a text contains a number or the beginning of one, such as “REQ-”. */
export const isNumberLike = (text: string): boolean => /\d|\breq\b|#/i.test(text)

/** Runs a function with the request of a typed number. If the person cannot see one, the card repeats the number. */
export async function ofReference(
  turn: Turn,
  reference: string,
  then: (request: Request) => Promise<Reply>,
): Promise<Reply> {
  const request = await turn.core.readRequestByReference(turn.actor, { reference }).catch(undefinedIfNotFound)
  const digits = /\d+$/.exec(reference)?.[0] ?? ''
  if (request) return then(request)
  return { ...(await showNotice(turn, { code: 'notFound', reference: `REQ-${digits}` })), isRefusal: true }
}

/** Returns the request whose name is most similar to a text; undefined if no name or several names are. */
export function onlyMeant(requests: readonly Request[], text: string): Request | undefined {
  const ranked = requests.map((request) => ({ request, count: wordsInCommon(text, request.details.displayName) }))
  const most = Math.max(0, ...ranked.map(({ count }) => count))
  return most === 0 ? undefined : onlyOne(ranked.filter(({ count }) => count === most))?.request
}

/** Returns the only entry of a list; undefined for any other list. */
export const onlyOne = <Entry>(list: readonly Entry[]): Entry | undefined => (list.length === 1 ? list[0] : undefined)
