import { createHash } from 'node:crypto'
import type { ForApproval } from '../decisions/index.ts'
import { outcomeCard, type Request, type SentCard } from '../requests/index.ts'
import { type CardKey, cardSubject, isForApprover, isReadyCard } from '../shared/index.ts'

/**
 * The form of a card in a chat. `full` shows the request. The other forms are one line without buttons, because a newer card
 * of the same person shows the request: it has `finished` or `stopped`, or the card has `moved` below.
 */
export type CardForm = 'full' | 'finished' | 'stopped' | 'moved'

/** Returns the form of a card among all sent cards of its request. Only the newest card of a person about it is full. */
export function formOf(request: Request, card: SentCard, all: readonly SentCard[]): CardForm {
  if (cardSubject(card.key).kind === 'earlier') return 'moved'
  const group = groupOf(card.key)
  if (group === undefined) return 'full'
  const newer = all.filter(
    (one) =>
      one.personId === card.personId &&
      one.key !== card.key &&
      groupOf(one.key) === group &&
      (one.state === 'sent' || (one.state === 'bundled' && isReadyCard(one.key))) &&
      sentAt(one) > sentAt(card),
  )
  if (newer.length === 0) return 'full'
  if (!newer.some(({ key }) => key === outcomeCard(request))) return 'moved'
  return request.status === 'failed' ? 'stopped' : 'finished'
}

const sentAt = ({ updatedAt }: SentCard): number => updatedAt?.getTime() ?? 0

/** Cards of one group look alike. An approval card and its reminders are about the same stage. */
function groupOf(key: CardKey): string | undefined {
  const subject = cardSubject(key)
  switch (subject.kind) {
    case 'status':
    case 'late':
    case 'warning':
    case 'address':
    case 'outcome':
      return 'status'
    case 'approval':
    case 'reminder':
      return `approval ${subject.stage}`
    case 'stuck':
    case 'webhook':
    case 'earlier':
      return undefined
  }
}

/** A short text of what a full card shows. The facts of an approval card can change while its request does not. */
export function shownOf({ request, facts }: ForApproval, { key }: Pick<SentCard, 'key'>): string {
  if (!isForApprover(key)) return `${request.version}`
  const { address, earlier, duplicates } = facts
  const ids = [earlier, ...duplicates].map((one) => one?.requestId)
  const hash = createHash('sha256')
    .update(JSON.stringify([address, ids]))
    .digest('base64url')
  return `${request.version} ${hash.slice(0, 12)}`
}
