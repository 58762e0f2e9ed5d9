import { z } from 'zod'
import type { Request, RequestState } from '../../core/index.ts'

/** The mark and colours of a state, in the band of a card and in rows (card style, "Marks and colours"). */
export const look = z.strictObject({
  mark: z.enum(['', '✓', '●', '○', '✕', '!', '–']),
  color: z.enum(['Good', 'Accent', 'Attention', 'Default']),
  band: z.enum(['good', 'accent', 'attention', 'warning', 'emphasis']),
})
export type Look = z.output<typeof look>

/** The mark of a row and its colour. */
export const rowLook = look.omit({ band: true })
export type RowLook = z.output<typeof rowLook>

export const looks: Readonly<Record<RequestState, Look>> = {
  pendingApproval: { mark: '●', color: 'Accent', band: 'accent' },
  queued: { mark: '●', color: 'Accent', band: 'accent' },
  provisioning: { mark: '●', color: 'Accent', band: 'accent' },
  succeeded: { mark: '✓', color: 'Good', band: 'good' },
  failed: { mark: '✕', color: 'Attention', band: 'attention' },
  rejected: { mark: '✕', color: 'Attention', band: 'attention' },
  expired: { mark: '–', color: 'Default', band: 'emphasis' },
  cancelled: { mark: '–', color: 'Default', band: 'emphasis' },
}

export const marks = {
  good: { mark: '✓', color: 'Good' },
  busy: { mark: '●', color: 'Accent' },
  attention: { mark: '!', color: 'Attention' },
  wrong: { mark: '✕', color: 'Attention' },
  ended: { mark: '–', color: 'Default' },
} as const satisfies Record<string, RowLook>

export const plain: Look = { mark: '', color: 'Default', band: 'emphasis' }
export const toFix: Look = { mark: '!', color: 'Attention', band: 'attention' }
export const toKnow: Look = { mark: '!', color: 'Attention', band: 'warning' }

/**
 * The state that people see. A site is ready for them when its security group is found and its address announced
 * (API document, "Provisioned group record"); until then it is in progress, also if all steps are done.
 */
export function shownState({ status, followUp }: Pick<Request, 'status' | 'followUp'>): RequestState {
  return status === 'succeeded' && followUp.state !== 'announced' ? 'provisioning' : status
}
