import { z } from 'zod'
import { type Draft, inLocale, type Template } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, moment, type Viewer } from '../shared/texts.ts'

/** Saved drafts, the last changed first, each with its template. */
export interface DraftOffer {
  /** After a command that opens forms, a command that lists drafts, or a click that keeps a draft. */
  readonly says: 'offer' | 'list' | 'kept'
  readonly drafts: readonly {
    readonly draft: Draft
    readonly template: Pick<Template, 'name' | 'description' | 'localised' | 'kind'>
  }[]
  /** The empty form to start instead: its template, or the command that offers templates. */
  readonly startNew?: { readonly templateId: string } | { readonly command: string }
  /** The name in the new form, which the person has typed. */
  readonly newName?: string | undefined
}

/** More would hide the choice between continuing and starting again. */
const maxDrafts = 3

export const continueDraftCard = defineCard({
  name: 'continue-draft',
  data: z.strictObject({
    says: z.enum(['one', 'several', 'list', 'kept']),
    mark: z.enum(['', '✓']),
    drafts: z
      .array(
        z.strictObject({
          requestId: z.uuid(),
          /** The kind of resource and the template. */
          about: z.string(),
          displayName: z.string(),
          /** The title of a tap on the row. */
          open: z.string(),
          at: z.string(),
        }),
      )
      .min(1),
    /** How many more there are, or `''`. */
    older: z.string(),
    /** The draft of the buttons; of several drafts each row is a button. */
    requestId: z.string(),
    /** The command or template of a new form; `''` without one. */
    templateId: z.string(),
    of: z.string(),
    /** The name in the new form; `''` without one. */
    newName: z.string(),
  }),
})

/** Offers a person their saved drafts. */
export function continueDraftView(
  { says, drafts, startNew, newName = '' }: DraftOffer,
  viewer: Viewer,
): ViewOf<typeof continueDraftCard> {
  const texts = strings.drafts
  const shown = drafts.slice(0, maxDrafts).map(({ draft, template }) => {
    const templateName = inLocale(template, viewer.locale).name
    const kind = strings.kind[template.kind]
    const displayName = cut((draft.values['displayName'] ?? '').trim(), longest.title)
    return {
      requestId: draft.requestId,
      about: kind.toLowerCase() === templateName.toLowerCase() ? templateName : `${kind} · ${templateName}`,
      displayName: displayName || texts.noName,
      open: format(texts.open, { name: displayName || templateName }),
      at: moment(draft.updatedAt, viewer, 'day'),
    }
  })
  const [only, ...more] = shown
  const isOne = only !== undefined && more.length === 0
  return {
    says: says !== 'offer' ? says : isOne ? 'one' : 'several',
    mark: says === 'kept' ? '✓' : '',
    drafts: shown,
    older: restText(texts.older, drafts.length - shown.length),
    requestId: isOne ? only.requestId : '',
    templateId: startNew && 'templateId' in startNew ? startNew.templateId : '',
    of: startNew && 'command' in startNew ? startNew.command : '',
    newName,
  }
}
