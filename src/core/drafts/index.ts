/**
 * Forms in progress: opening, filling in, review, and a new form from an earlier request.
 * A submitted form is a request.
 */

export * from './draft.ts'
export * from './draft-view.ts'
export * from './drafting.ts'
export * from './form-values.ts'
export * from './kept-drafts.ts'
export * from './name-check.ts'
export * from './name-preview.ts'
export * from './ports.ts'
export * from './repeating.ts'
