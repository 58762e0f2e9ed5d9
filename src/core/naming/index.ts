/**
 * Names: what a policy makes of what a person typed, whether a name is free, taken, reserved or was in use, and similar resources.
 * The pattern and the policy themselves are parts of a template.
 */
export * from './free-name.ts'
export * from './inquiry.ts'
export * from './names.ts'
export * from './naming.ts'
export * from './similar.ts'
