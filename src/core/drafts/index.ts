/**
 * Forms in progress: opening, saving, review, and a new form from an earlier request.
 * A submitted form is a request.
 */

export * from './draft.ts'
export * from './drafting.ts'
export * from './form-values.ts'
export * from './name-preview.ts'
export * from './repeating.ts'
