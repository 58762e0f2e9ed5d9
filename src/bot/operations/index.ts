/** The queue, stuck requests, dead letters, health and statistics, for admins. */
import {
  adminJobsCommand,
  adminQueueCommand,
  adminStatusCommand,
  adminStuckCommand,
  dismissDeadLetter,
  examineDeadLetter,
  pageQueue,
  pageStuck,
  replayDeadLetter,
} from './queue.ts'
import { adminHealthCommand, adminStatsCommand, readCertificate } from './reports.ts'

export { adminHealthCommand, isAdminWithoutTemplates, showGettingStarted } from './reports.ts'

export const operationActions = [
  pageQueue,
  pageStuck,
  examineDeadLetter,
  dismissDeadLetter,
  replayDeadLetter,
  readCertificate,
]
export const operationCommands = [
  adminQueueCommand,
  adminStuckCommand,
  adminStatusCommand,
  adminHealthCommand,
  adminJobsCommand,
  adminStatsCommand,
]
