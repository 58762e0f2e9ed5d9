/** Templates and their policies: the choice of one, and the cards for admins. */
export * from './admin-templates.ts'
export * from './choose-template.ts'
export * from './starters.ts'
export * from './template-policies.ts'
