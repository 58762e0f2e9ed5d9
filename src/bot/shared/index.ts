/** `help`. */
export * from './help.ts'
