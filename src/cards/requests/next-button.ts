import { z } from 'zod'
import { isForMailbox, isTakenName, mailboxKind, nudgeFrom, type Request } from '../../core/index.ts'
import { outlookLink, siteAddress } from '../shared/links.ts'
import { shownState } from '../shared/look.ts'
import type { Viewer } from '../shared/words.ts'

/** The button of a row: it types a command, brings the form back, or opens the place. */
export const nextButton = z.strictObject({
  does: z.enum(['types', 'edits', 'opens']),
  words: z.enum(['open', 'nudge', 'edit', 'openSite', 'openMailbox']),
  /** What it types, without the reference. */
  command: z.enum(['', 'status', 'nudge']),
  url: z.string(),
  /** Each kind of mailbox is opened in its own words. */
  kind: z.union([mailboxKind, z.literal('')]),
})
type Next = z.output<typeof nextButton>

const types = (command: 'status' | 'nudge', words: Next['words']): Next => {
  return { does: 'types', words, command, url: '', kind: '' }
}
const edit: Next = { does: 'edits', words: 'edit', command: '', url: '', kind: '' }
const show = types('status', 'open')

/** What the requester most likely does next with a request. Whether they may is decided by the core once more. */
export function nextOf(request: Request, viewer: Viewer): Next {
  switch (shownState(request)) {
    case 'pendingApproval': {
      const isAllowed = (nudgeFrom(request) ?? '') <= viewer.now.toISOString()
      return isAllowed ? types('nudge', 'nudge') : show
    }
    case 'succeeded':
      return opens(request, viewer)
    case 'rejected':
    case 'expired':
    case 'cancelled':
      return request.reducedAt === undefined ? edit : show
    case 'failed': {
      // What is half made would be left behind by another one: its status says who goes on with it.
      const isHalfMade = request.steps.some(({ status }) => status === 'done')
      return isHalfMade && !isTakenName(request.problem) ? show : edit
    }
    case 'queued':
    case 'provisioning':
      return show
  }
}

function opens(request: Request, viewer: Viewer): Next {
  const url = isForMailbox(request) ? outlookLink(request, viewer) : siteAddress(request, viewer)
  if (url === '') return show
  const own = isForMailbox(request)
    ? { words: 'openMailbox' as const, kind: request.kind }
    : { words: 'openSite' as const, kind: '' as const }
  return { does: 'opens', command: '', url, ...own }
}
