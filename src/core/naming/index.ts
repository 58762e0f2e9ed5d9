/**
 * Names: final names by the policy, their availability (free, taken, reserved, formerly used), and similar resources. The pattern
 * and the policy themselves are parts of a template.
 */
export * from './free-name.ts'
export * from './inquiry.ts'
export * from './names.ts'
export * from './naming.ts'
export * from './similar.ts'
