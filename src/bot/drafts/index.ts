/** `new …`, `my drafts`, and the steps of the dialog that walks through a form. */
export { draftActions } from './actions.ts'
export { cursorAfter, isDialogVerb } from './dialog-steps.ts'
export { draftCommands, requestTypesFor } from './new.ts'
