import type { CardJson } from './literal.ts'
import { format, strings } from './messages.ts'

/** Sentences that are shown beside a card that stays as it is. */
export const toasts = {
  working: strings.toast.working,
  unavailable: strings.toast.unavailable,
  busy: strings.toast.busy,
  accountUnreadable: strings.toast.accountUnreadable,
  permissionMissing: strings.toast.permissionMissing,
  failed: (traceId: string): string => format(strings.toast.failed, { traceId }),
}

/** One sentence for the activity's `summary`, which is the notification on a phone. It never holds text of people. */
export function summaryOf(card: CardJson): string {
  return typeof card['fallbackText'] === 'string' ? card['fallbackText'] : ''
}
