import { outcomeCard, type Request, type SentCard } from '../requests/index.ts'
import { type CardKey, cardSubject, isReadyCard } from '../shared/index.ts'

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
