/** `new …`, `my drafts`, and the steps of the request dialog. */
export { draftActions } from './actions.ts'
export { cursorAfter, isDialogVerb } from './dialog-steps.ts'
export { draftCommands, openMeant, openNamed, requestTypesFor } from './new.ts'
