import type { DelegationPage } from '../core/index.ts'
import { adminDelegationsCard, adminDelegationsView } from './admin-delegations.ts'
import { adminHelpCard, adminHelpView } from './admin-help.ts'
import { adminReassignCard, adminReassignView, type ReassignForm } from './admin-reassign.ts'
import { adminWhichCard, adminWhichView, type WhichFor } from './admin-which.ts'
import type { CardJson } from './render.ts'
import type { Viewer } from './words.ts'

/** Cards that lead admins to what they can do, and by which they mend what waits for a decision. */
export const mendingCardsDefined = [adminHelpCard, adminReassignCard, adminWhichCard, adminDelegationsCard] as const

export const mendingCards = {
  /** All commands of admins: their words, as the table of commands has them. */
  adminHelp: (commands: readonly string[]): CardJson => adminHelpCard.render(adminHelpView(commands)),
  /** Asks an admin who is to decide a request instead. */
  adminReassign: (form: ReassignForm, viewer: Viewer): CardJson =>
    adminReassignCard.render(adminReassignView(form, viewer)),
  /** Who is away, and who decides for them. */
  adminDelegations: (page: DelegationPage, viewer: Viewer): CardJson =>
    adminDelegationsCard.render(adminDelegationsView(page, viewer)),
  /** How to type what an admin does with a request that waits, and those that wait. */
  adminWhich: (does: WhichFor, waiting: Parameters<typeof adminWhichView>[1], viewer: Viewer): CardJson =>
    adminWhichCard.render(adminWhichView(does, waiting, viewer)),
}
