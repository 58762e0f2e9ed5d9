import type { DelegationPage } from '../../core/index.ts'
import { adminDelegationsCard, adminDelegationsView } from '../decisions/admin-delegations.ts'
import { adminReassignCard, adminReassignView, type ReassignForm } from '../decisions/admin-reassign.ts'
import { adminWhichCard, adminWhichView, type WhichFor } from '../decisions/admin-which.ts'
import { adminHelpCard, adminHelpView } from '../shared/admin-help.ts'
import type { CardJson } from '../shared/literal.ts'
import type { Viewer } from '../shared/words.ts'

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
