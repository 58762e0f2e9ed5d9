export * from './index.ts'
export * from './notices.ts'
export * from './notification.ts'
export * from './ports.ts'
