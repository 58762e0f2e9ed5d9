export type { NotificationPorts as Ports } from './notifications/ports.ts'
