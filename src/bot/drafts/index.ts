/** `new …` and the dialog that walks through a form. */
export * from './dialog-steps.ts'
export * from './new.ts'
